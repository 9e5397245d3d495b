// Does a journal go on from where stored rows are?
#pragma once

#include "engine/base/result.h"
#include "engine/core/meta.h"
#include "engine/ports/log.h"

#include <cstdint>

namespace trueup::runtime {

/// Rows are only ever taken further by the journal that they were made from, and nothing between
/// them and its first record may be missing (C11). `rows` without an applied offset: there are none
/// yet, and the journal must be there from its start.
///
/// kStop: it does not go on from there.
Status check_continuity(ports::Log& log, std::int32_t shard, const core::Meta& rows);

}  // namespace trueup::runtime
