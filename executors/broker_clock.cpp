#include "executors/broker_clock.h"

#include <algorithm>
#include <string>

namespace trueup::executors {
namespace {

constexpr Millis kRetryAfter{200};

}  // namespace

BrokerClock::BrokerClock(ports::Log& log, ports::Partition partition, Millis every, Millis fresh)
    : log_(log), partition_(partition), every_(every), fresh_(fresh) {}

bool BrokerClock::step(SteadyTime now, bool wanted) {
    bool answered = false;
    const auto take = [&] {
        if (!pending_ || !pending_->ready()) return;
        const Result<ports::Appended> appended = pending_->take();
        pending_.reset();
        answered = true;
        if (!appended) {
            retry_at_ = now + kRetryAfter;
            return;
        }
        retry_at_.reset();
        // It may have been sent late, as by a process that stood still meanwhile: added to so late
        // an append time, its age would be counted twice, and for good, since no later beat takes
        // it back.
        if (now - sent_ >= fresh_) return;
        // A clock of the broker that ran backwards must not make a command younger.
        const auto before = at(now);
        last_ = Beat{sent_, appended.value().append_time};
        if (before) last_->append_time = std::max(last_->append_time, *before - (now - sent_));
    };
    take();
    const bool due = !last_ || now - last_->sent >= every_;
    const bool backing_off = retry_at_ && now < *retry_at_;
    if (!wanted || pending_ || !due || backing_off) return answered;
    sent_ = now;
    pending_ = log_.append(partition_, {{std::string(kHeartbeatKey), "", {}}});
    take();
    return answered;
}

SteadyTime BrokerClock::due(SteadyTime now, bool wanted) const {
    SteadyTime due = fresh(now) ? last_->sent + fresh_ : SteadyTime::max();
    if (!wanted || pending_) return due;
    const SteadyTime beat = last_ ? last_->sent + every_ : now;
    return std::min(due, retry_at_ ? std::max(beat, *retry_at_) : beat);
}

std::optional<BrokerTime> BrokerClock::at(SteadyTime now) const {
    if (!last_) return std::nullopt;
    return last_->append_time + (now - last_->sent);
}

}  // namespace trueup::executors
