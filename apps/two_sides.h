// A table and objects of Kubernetes that nobody has told Trueup of, looked at once: for `trueup
// policy new`. Blocking; changes nothing. Not thread-safe.
#pragma once

#include "apps/config/config.h"
#include "apps/one_look.h"
#include "connectors/postgres/column_look.h"
#include "engine/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trueup::apps {

class TwoSides {
  public:
    /// Asks nobody yet. `objects` is in Kubernetes, `rows` a table.
    TwoSides(config::SourceConfig objects, config::SourceConfig rows)
        : objects_(std::move(objects)), rows_(std::move(rows)) {}

    /// Both have to be looked at, the objects first, before anything else is asked.
    Status look_at_objects(const Watcher& watcher);
    Status look_at_table();

    /// Of the objects, but for pods that have ended.
    const std::vector<std::string>& names() const { return names_; }
    const connectors::postgres::TableLook& table() const { return table_; }
    const config::SourceConfig& objects() const { return objects_; }
    const config::SourceConfig& rows() const { return rows_; }

    /// How many of the objects some row names by that key.
    Result<std::uint64_t> named_by(const connectors::postgres::Correlation& key);
    Result<std::vector<connectors::postgres::WordLook>> words(
        const std::string& column, const connectors::postgres::Correlation& key, std::size_t most);
    /// The statements that the table lacks for that configuration, in which it is `rows`; rules set
    /// these columns of it.
    Result<std::vector<std::string>> preparation(const config::Config& config,
                                                 std::vector<std::string> columns);

  private:
    config::SourceConfig objects_;
    config::SourceConfig rows_;
    std::vector<std::string> names_;
    connectors::postgres::TableLook table_;
    connectors::postgres::LookedAt looked_;
    std::unique_ptr<connectors::postgres::LibpqDatabase> database_;
};

}  // namespace trueup::apps
