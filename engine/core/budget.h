// How many commands a rule may issue in one window of time (design §4.10). What comes beyond waits
// its turn, first found first served, and clears by itself when the next window opens: there is no
// latch that freezes, and no stampede after.
//
// Invariants (ADR 9):
//   B1  All shards together issue at most L = max(most, percent of all subjects that are there)
//       in one window, without a message between them.
//   B2  Of n shards each may issue a command in at least one of n successive windows.
#pragma once

#include "engine/core/meta.h"
#include "engine/model/settings.h"

#include <cstdint>

namespace trueup::core {

/// The window that the record being folded lies in: of journal time where there is one shard, of
/// the broker's clock, the only one that shards share, where there are several.
std::int64_t window_of(const Budget& budget, const Meta& meta);

/// How many commands the window allows this shard: its part of `most`, and what its own share of
/// the subjects that it has an object of exceeds the whole of `most` by. For one shard that is L.
std::uint64_t allowance(const Budget& budget, std::int64_t window, const Meta& meta);

/// What the rule may still issue now.
std::uint64_t left_of(const Budget& budget, const Spending& spending, const Meta& meta);

/// Counts one command.
void spend(const Budget& budget, const Meta& meta, Spending& spending);

}  // namespace trueup::core
