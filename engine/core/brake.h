// What holds an act back: a mode, an operator, a window, a doubt, an approval that there is not, a
// budget; and for how long a finding waits then. Not for other users than the fold's parts, and who
// asks what holds an act (core/why.h).
//
// Reads only. Not thread-safe, as the state, which must outlive it.
#pragma once

#include "engine/base/time.h"
#include "engine/core/fold.h"
#include "engine/model/trace.h"
#include "engine/model/verdict.h"

#include <cstdint>
#include <optional>

namespace trueup::core {

/// How long a finding waits when too many commands are under way.
inline constexpr Millis kOutboxPause{1'000};

/// What holds an act, and what must happen before that changes; kAct: nothing does.
struct Brake {
    Stage stage = Stage::kAct;
    Reason reason = Reason::kNone;
    Wait wait;
};

class Brakes {
  public:
    explicit Brakes(const State& state) : state_(state), meta_(state.meta) {}

    Brake brake_on(const Subject& subject, const Finding& finding, const Verdict& verdict) const;
    bool moved(const Finding& finding, const Hash128& proposal) const;

    bool stopped(const Subject& subject, const Finding& finding) const;
    bool goes_on(const Ending& ending) const;
    bool acting(RuleNumber rule) const;
    /// Did an operator pause it, or all rules?
    bool paused(RuleNumber rule) const;
    /// Did somebody look at what it means now, and enable that?
    bool enabled(RuleNumber rule) const;

  private:
    bool refused_before(const Subject& subject, const Finding& finding) const;
    bool recurs(const Subject& subject, const Finding& finding) const;
    Reason unapproved(const Subject& subject, const Finding& finding, const Verdict& verdict) const;
    std::optional<Wait> busy(const Subject& subject, const Finding& finding,
                             const Verdict& verdict) const;
    bool has_turn(RuleNumber rule, const Finding& finding) const;

    bool in_doubt() const;
    bool withdrawn(const Ending& ending) const;

    const State& state_;  ///< the plan, and who waits for a turn; no subject but those given
    const Meta& meta_;
};

}  // namespace trueup::core
