#include "engine/runtime/source_loop.h"

#include <algorithm>
#include <utility>

namespace trueup::runtime {

SourceLoop::SourceLoop(SourceLoopSettings settings, ports::Log& log, ports::Connector& connector)
    : settings_(std::move(settings)),
      connector_(connector),
      task_(settings_.task, log, connector) {}

void SourceLoop::step(SteadyTime now, bool hurry, Millis max_wait) {
    connector_.pace_progress(hurry ? settings_.pace_waiting : settings_.pace_idle);
    ask_for_lists(now);
    // A failed append is told once and made good by the task itself.
    const Millis wait = std::clamp(due() - now, Millis(0), max_wait);
    if (Status stepped = task_.step(now, wait); !stepped) tell(stepped.error().what, true);
    SourceStatus status;
    status.health = connector_.health();
    status.published = task_.published();
    status.owned = task_.incarnation() >= kFirstOffset && !task_.stands_by();
    tell_news(status.health);
    const MutexLock lock(mutex_);
    status_ = std::move(status);
}

void SourceLoop::want_epoch() {
    wants_epoch_ = true;
    wake();
}

/// When there is something to ask for.
SteadyTime SourceLoop::due() const {
    return wants_epoch_ ? std::min(*next_relist_, next_heal_) : *next_relist_;
}

void SourceLoop::ask_for_lists(SteadyTime now) {
    if (!next_relist_) next_relist_ = now + settings_.relist_every;
    if (now >= *next_relist_) {
        connector_.relist();
        next_relist_ = now + settings_.relist_every;
    }
    // In this order: what is asked for too soon must stay (L1).
    if (now >= next_heal_ && wants_epoch_.exchange(false)) {
        task_.list_again();
        next_heal_ = now + settings_.heal_every;
    }
}

void SourceLoop::drain() {
    if (Status drained = task_.drain(); !drained) tell(drained.error().what, true);
}

SourceStatus SourceLoop::status() const {
    const MutexLock lock(mutex_);
    return status_;
}

void SourceLoop::tell(const std::string& sentence, bool wrong) const {
    if (settings_.on_news) settings_.on_news(sentence, wrong);
}

void SourceLoop::tell_news(const ports::SourceHealth& health) {
    if (stood_by_ != task_.stands_by()) {
        stood_by_ = !stood_by_;
        tell(stood_by_ ? "another connector owns it; this one stands by"
                       : "its owner is silent; this connector takes over",
             false);
    }
    if (health.trouble != trouble_) {
        trouble_ = health.trouble;
        tell(trouble_.empty() ? "answers again" : trouble_, !trouble_.empty());
    }
    if (!remarked_ && !health.remark.empty()) {
        remarked_ = true;
        tell(health.remark, true);
    }
}

}  // namespace trueup::runtime
