// What a shard has counted since its journal's beginning, over everything and for each rule.
//
// Plain values; const access is thread-safe.
#pragma once

#include <array>
#include <cstdint>

namespace trueup::core {

/// Journal-derived counters: a replay counts the same.
struct Counters {
    std::uint64_t items = 0;
    std::uint64_t duplicates = 0;      ///< offset seen before
    std::uint64_t gaps = 0;            ///< not folded, to be appended again
    std::uint64_t parked = 0;          ///< undecodable or foreign
    std::uint64_t foreign_tokens = 0;  ///< of a former owner
    std::uint64_t repeated_seq = 0;    ///< a connector's append that came twice
    std::uint64_t holes = 0;
    std::uint64_t unchanged = 0;
    std::uint64_t stale_versions = 0;
    std::uint64_t swept = 0;  ///< facets that an epoch proved absent
    std::uint64_t quarantines = 0;
    std::uint64_t clamped_steps = 0;
    std::uint64_t unknown_outcomes = 0;
    std::uint64_t late_outcomes = 0;
    std::uint64_t unauthenticated = 0;  ///< requests that nobody signed whom we know
    bool operator==(const Counters&) const = default;
};

/// What a rule has spent of its budget.
struct Spending {
    std::int64_t window = -1;  ///< of the budget (core/budget.h)
    std::uint64_t commands = 0;
    bool operator==(const Spending&) const = default;
};

/// What one rule found and did.
struct RuleCounters {
    std::uint64_t detected = 0;
    std::uint64_t commands = 0;
    std::array<std::uint64_t, 6> outcomes{};  ///< by OutcomeKind
    std::uint64_t retracted = 0;
    std::uint64_t mended = 0;  ///< findings whose last command was done
    Spending spending;
    bool operator==(const RuleCounters&) const = default;
};

}  // namespace trueup::core
