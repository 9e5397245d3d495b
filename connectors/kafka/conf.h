// The settings of a client that is about to be made. Internal to connectors/kafka.
#pragma once

#include "connectors/kafka/client.h"
#include "connectors/kafka/pinned.h"
#include "connectors/kafka/settings.h"
#include "engine/base/result.h"

#include <array>
#include <cstddef>
#include <string>

namespace trueup::connectors::kafka {

/// Spent by `make`, whose client keeps what `get` was given: callbacks and their opaque outlive it.
/// Not thread-safe. Errors are kStop and name the setting.
class Conf {
  public:
    Conf() : conf_(rd_kafka_conf_new()) {}
    ~Conf() {
        if (conf_ != nullptr) rd_kafka_conf_destroy(conf_);
    }
    Conf(const Conf&) = delete;
    Conf& operator=(const Conf&) = delete;

    Status set(const std::string& name, const std::string& value);

    template <std::size_t n>
    Status pin(const std::array<Pinned, n>& pinned) {
        for (const Pinned& one : pinned) {
            if (Status done = set(one.name, one.value); !done) return done;
        }
        return Done{};
    }

    /// What an operator set; the error names a setting that is not one of theirs.
    Status pass(const Settings& settings);

    rd_kafka_conf_t* get() { return conf_; }

    Result<Client> make(rd_kafka_type_t type);

  private:
    rd_kafka_conf_t* conf_;
};

}  // namespace trueup::connectors::kafka
