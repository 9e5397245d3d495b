#include "engine/runtime/active_hint.h"

namespace trueup::runtime {

void ActiveHint::appended(Offset offset) { own_.push_back(offset); }

void ActiveHint::accepted(Offset offset, SteadyTime now) {
    newest_ = offset;
    open_ = true;
    quiet_ = now;
}

void ActiveHint::look(bool under_way) {
    if (!open_) return;
    while (!own_.empty() && own_.front() < newest_) own_.pop_front();
    // A record may be read before its append is answered; answers come in the order of the offsets.
    if (own_.empty() && under_way) return;
    ours_ = !own_.empty() && own_.front() == newest_;
    open_ = false;
}

bool ActiveHint::step_in(bool waits, SteadyTime now) {
    if (!waits) quiet_ = now;
    ours_ = ours_ || now - quiet_ >= timeout_;
    return ours_;
}

}  // namespace trueup::runtime
