// What subjects wait for: journal time, a source's progress, or the end of uncorrelated rows.
//
// A table in memory only: each subject's row says what it waits for, so a restart fills this table
// again from the rows. Not thread-safe.
#pragma once

#include "engine/model/verdict.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace trueup::core {

class Waits {
  public:
    void add(const std::string& key, const Wait& wait);
    void remove(const std::string& key, const Wait& wait);

    /// Takes out one subject whose time has come (due ≤ now); nullopt: none.
    std::optional<std::string> take_due(JournalTime now);
    /// Takes out one subject that waited for less progress than `proven` of this source.
    std::optional<std::string> take_seen(SourceId source, BrokerTime proven);
    /// Takes out one subject that waits for the end of uncorrelated rows.
    std::optional<std::string> take_correlated();

    /// Is anybody waiting for progress of this source?
    bool waiting_on(SourceId source) const;
    std::optional<JournalTime> next_due() const;
    std::size_t size() const { return due_.size() + seen_.size() + correlated_.size(); }

  private:
    std::set<std::pair<JournalTime, std::string>> due_;
    std::set<std::pair<std::pair<SourceId, BrokerTime>, std::string>> seen_;
    std::set<std::string> correlated_;
};

}  // namespace trueup::core
