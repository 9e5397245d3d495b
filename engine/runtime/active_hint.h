// Whose turn it is: of several engines on one shard, the one whose record the fold accepted last
// goes on sequencing and publishing. The others fold along, and one of them steps in when something
// has waited for too long.
//
// This saves duplicates and decides nothing: engines that all take themselves for the one do no
// harm (design §4.2). It needs no records and no common clock, since the journal's order says whose
// record came last.
//
// Not thread-safe: the shard's thread owns it.
#pragma once

#include "engine/base/id.h"
#include "engine/base/time.h"

#include <deque>

namespace trueup::runtime {

class ActiveHint {
  public:
    explicit ActiveHint(Millis timeout) : timeout_(timeout) {}

    /// An append of ours was acknowledged at this journal offset. Offsets ascend.
    void appended(Offset offset);
    /// A record was folded in which something was new. Offsets ascend.
    void accepted(Offset offset, SteadyTime now);

    /// Finds out whose record came last, if that is known by now. `under_way`: appends of ours have
    /// no answer yet.
    void look(bool under_way);

    bool ours() const { return ours_; }
    /// While it is not: something `waits` for whoever's turn it is, or nothing does. True: for so
    /// long that it is our turn now.
    bool step_in(bool waits, SteadyTime now);

  private:
    Millis timeout_;
    bool ours_ = true;           ///< until another engine's record comes
    bool open_ = false;          ///< whose `newest_` is was not found out yet
    Offset newest_ = kNoOffset;  ///< accepted
    std::deque<Offset> own_;     ///< from `newest_` on
    SteadyTime quiet_{};         ///< when nothing waited, or another engine's record came
};

}  // namespace trueup::runtime
