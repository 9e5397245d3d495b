// What holds an act back, and for how long a finding waits then. Not for other users than the fold,
// and who asks it what holds an act (core/why.h).
#pragma once

#include "engine/base/time.h"
#include "engine/model/trace.h"
#include "engine/model/verdict.h"

#include <cstdint>

namespace trueup::core {

/// How long a finding waits when too many commands are under way.
inline constexpr Millis kOutboxPause{1'000};
/// A failure that is final is tried again, too, but seldom: somebody may have granted the right
/// that was missing.
inline constexpr Millis kAfterFinalFailure{300'000};
/// 1 s, doubling with each failure in a row, up to 60 s.
Millis backoff(std::uint32_t failures);

/// What holds an act, and what must happen before that changes; kAct: nothing does.
struct Brake {
    Stage stage = Stage::kAct;
    Reason reason = Reason::kNone;
    Wait wait;
};

}  // namespace trueup::core
