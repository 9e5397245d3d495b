// How many commands a rule may issue in one window of journal time (design §4.10). What comes
// beyond waits its turn, first found first served, and clears by itself when the next window opens:
// there is no latch that freezes, and no stampede after.
#pragma once

#include "engine/core/meta.h"
#include "engine/model/settings.h"

#include <cstdint>

namespace trueup::core {

/// The window that `now` lies in.
std::int64_t window_of(const Budget& budget, JournalTime now);

/// How many commands the window allows this shard. The fixed part is divided among the shards
/// without a message between them: over one window their parts never add up to more.
std::uint64_t allowance(const Budget& budget, std::int64_t window, const Meta& meta);

/// What the rule may still issue now.
std::uint64_t left_of(const Budget& budget, const Spending& spending, const Meta& meta);

/// Counts one command.
void spend(const Budget& budget, JournalTime now, Spending& spending);

}  // namespace trueup::core
