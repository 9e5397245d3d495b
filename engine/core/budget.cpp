#include "engine/core/budget.h"

#include "engine/base/guard.h"

#include <algorithm>

namespace trueup::core {

std::int64_t window_of(const Budget& budget, const Meta& meta) {
    const Millis length = std::max(budget.window, Millis{1});
    // Journals stand still one by one, so windows of journal time would lie side by side.
    if (meta.partitions > 1) return meta.broker_now.time_since_epoch() / length;
    return meta.now.time_since_epoch() / length;
}

std::uint64_t allowance(const Budget& budget, std::int64_t window, const Meta& meta) {
    const auto shards = static_cast<std::uint64_t>(std::max(meta.partitions, 1));
    const std::uint64_t place =
        (static_cast<std::uint64_t>(meta.shard.value()) + static_cast<std::uint64_t>(window)) %
        shards;
    const std::uint64_t fixed =
        budget.max / shards + (place < budget.max % shards ? std::uint64_t{1} : 0);
    // Why not the larger of the two: one shard's could be the fixed part and another's the share,
    // and together they would be more than the larger of the sums.
    const std::uint64_t share = meta.present * budget.percent / 100;
    return fixed + (share > budget.max ? share - budget.max : 0);
}

std::uint64_t left_of(const Budget& budget, const Spending& spending, const Meta& meta) {
    const std::int64_t window = window_of(budget, meta);
    const std::uint64_t allowed = allowance(budget, window, meta);
    const bool same = spending.window == window || !TRUEUP_GUARD("budget_clears_itself");
    const std::uint64_t spent = same ? spending.commands : 0;
    return allowed - std::min(allowed, spent);
}

void spend(const Budget& budget, const Meta& meta, Spending& spending) {
    const std::int64_t window = window_of(budget, meta);
    if (spending.window != window) spending = {window, 0};
    ++spending.commands;
}

}  // namespace trueup::core
