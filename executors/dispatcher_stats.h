// What a dispatcher (dispatcher.h) has done since it began, and what it is at. A plain value.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace trueup::executors {

/// trueup_check_to_write_seconds: how long before a write that took effect its checks began. Counts
/// per bucket, not cumulated; the last one is everything above.
struct CheckToWrite {
    static constexpr std::array<std::int64_t, 11> kBoundsMillis{1,   2,   5,   10,   20,  50,
                                                                100, 200, 500, 1000, 2000};
    std::array<std::uint64_t, kBoundsMillis.size() + 1> counts{};
    std::uint64_t count = 0;
    std::int64_t sum_micros = 0;
};

struct DispatcherStats {
    std::array<std::uint64_t, 6> outcomes{};  ///< written, by OutcomeKind
    std::uint64_t failed_retryable = 0;       ///< the retryable ones among kFailed
    std::uint64_t known = 0;                  ///< commands whose id had ended already
    std::uint64_t duplicates = 0;             ///< emitted again while under way
    std::uint64_t parked = 0;
    std::uint64_t unauthenticated = 0;  ///< the parked ones among them that nobody signed
    std::uint64_t skipped = 0;          ///< older than any command lives
    std::uint64_t append_failures = 0;
    std::uint64_t pending = 0;
    std::uint64_t running = 0;
    std::uint64_t blocked = 0;     ///< checked and waiting for the permit to write
    std::uint64_t partitions = 0;  ///< whose commands are ours
    bool ended_known = false;      ///< which commands have ended (D1)
    bool clock_fresh = false;
    std::string trouble;  ///< one sentence while the log is not read; empty otherwise
    CheckToWrite check_to_write;
};

}  // namespace trueup::executors
