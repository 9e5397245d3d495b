#include "connectors/kafka/conf.h"

#include <string_view>

namespace trueup::connectors::kafka {

namespace {

/// What an operator may set: how to reach the cluster, not how this program uses it.
bool may_pass(std::string_view name) {
    for (const std::string_view begin : {"security.", "sasl.", "ssl.", "enable.ssl.",
                                         "broker.address.", "client.rack", "socket.connection."}) {
        if (name.starts_with(begin)) return true;
    }
    return false;
}

}  // namespace

Status Conf::set(const std::string& name, const std::string& value) {
    std::array<char, 512> why{};
    if (rd_kafka_conf_set(conf_, name.c_str(), value.c_str(), why.data(), why.size()) ==
        RD_KAFKA_CONF_OK) {
        return Done{};
    }
    return Error{Next::kStop, Code::kConfiguration, "bus.kafka.client." + name + ": " + why.data()};
}

Status Conf::pass(const Settings& settings) {
    for (const auto& [name, value] : settings.client) {
        if (!may_pass(name)) {
            return Error{Next::kStop, Code::kConfiguration,
                         "bus.kafka.client." + name +
                             " is pinned; only security.*, sasl.*, ssl.* and how to reach the "
                             "cluster can be set"};
        }
        if (Status done = set(name, value); !done) return done;
    }
    return Done{};
}

Result<Client> Conf::make(rd_kafka_type_t type) {
    std::array<char, 512> why{};
    rd_kafka_t* made = rd_kafka_new(type, conf_, why.data(), why.size());
    if (made == nullptr) {
        return Error{Next::kStop, Code::kConfiguration, std::string("kafka: ") + why.data()};
    }
    conf_ = nullptr;  // it belongs to the client now
    return Client(made);
}

}  // namespace trueup::connectors::kafka
