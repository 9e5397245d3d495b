// Items that say nothing to this build: put aside, for people to look at. Not for other users than
// the fold's parts.
//
// Keeps no state.
#pragma once

#include "engine/core/fold.h"

#include <string>

namespace trueup::core {

/// Reports the item with the reason why nothing was made of it.
void park(Meta& meta, FoldReport& report, const ItemView& item, std::string reason);

}  // namespace trueup::core
