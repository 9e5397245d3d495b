#include "engine/core/budget.h"

#include "engine/base/guard.h"

#include <algorithm>
#include <limits>

namespace trueup::core {

std::int64_t window_of(const Budget& budget, JournalTime now) {
    return now.time_since_epoch() / std::max(budget.window, Millis{1});
}

std::uint64_t allowance(const Budget& budget, std::int64_t window, const Meta& meta) {
    const auto shards = static_cast<std::uint64_t>(std::max(meta.partitions, 1));
    const std::uint64_t place =
        (static_cast<std::uint64_t>(meta.shard) + static_cast<std::uint64_t>(window)) % shards;
    const std::uint64_t fixed =
        budget.most / shards + (place < budget.most % shards ? std::uint64_t{1} : 0);
    return std::max(fixed, meta.subjects * budget.percent / 100);
}

std::uint64_t left_of(const Budget& budget, const Spending& spending, const Meta& meta) {
    if (!TRUEUP_GUARD("paced_budget")) return std::numeric_limits<std::uint64_t>::max();
    const std::int64_t window = window_of(budget, meta.now);
    const std::uint64_t allowed = allowance(budget, window, meta);
    const std::uint64_t spent = spending.window == window ? spending.commands : 0;
    return allowed - std::min(allowed, spent);
}

void spend(const Budget& budget, JournalTime now, Spending& spending) {
    const std::int64_t window = window_of(budget, now);
    if (spending.window != window) spending = {window, 0};
    ++spending.commands;
}

}  // namespace trueup::core
