// What subjects wait for: journal time, a source's progress, or the end of uncorrelated rows.
//
// A table in memory only: each subject's row says what it waits for, so a restart fills this table
// again from the rows. They come by time, then by key. Not thread-safe.
#pragma once

#include "engine/model/verdict.h"

#include <cstddef>
#include <cstdint>
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

    /// About what the table takes in memory.
    std::size_t bytes() const { return bytes_; }

  private:
    using Progress = std::pair<SourceId, BrokerTime>;
    /// Most waits are added and removed again, and never taken: they are kept by the hash of their
    /// key, so that a search compares no text on its way. Those whose time has come move over.
    struct Name {
        Name() = default;  ///< not above any other
        explicit Name(const std::string& text);
        std::uint64_t hash = 0;
        std::string key;
        auto operator<=>(const Name&) const = default;
    };
    template <typename Time>
    struct Table {
        std::set<std::pair<Time, Name>> waiting;
        std::set<std::pair<Time, std::string>> ready;
        std::size_t size() const { return waiting.size() + ready.size(); }
        void add(const Time& time, const std::string& key);
        void remove(const Time& time, const std::string& key);
        /// The first in [from, to), which is taken out.
        std::optional<std::string> take(const Time& from, const Time& to);
    };

    std::optional<std::string> taken(std::optional<std::string> key);

    Table<JournalTime> due_;
    Table<Progress> seen_;
    std::set<std::string> correlated_;
    std::size_t bytes_ = 0;
};

}  // namespace trueup::core
