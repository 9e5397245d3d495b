#include "connectors/postgres/proof.h"

#include "engine/base/guard.h"

namespace trueup::connectors::postgres {

namespace {

constexpr Millis kUrgeEvery{1000};
constexpr Millis kStaleAfter{15000};

}  // namespace

void ProgressProof::start(SteadyTime now) {
    state_ = State::kWantMarker;
    started_ = now;
    next_action_ = now;
}

ProgressProof::Step ProgressProof::next(SteadyTime now) {
    if (state_ == State::kWantMarker) {
        state_ = State::kMarker;
        return Step::kMarker;
    }
    if (state_ == State::kWantAsk && now >= next_action_) {
        state_ = State::kAsked;
        return Step::kAsk;
    }
    if (state_ == State::kWaiting && now >= next_action_) {
        // A quiet server tells its position by itself only at half of its wal_sender_timeout.
        next_action_ = now + kUrgeEvery;
        return Step::kUrge;
    }
    return Step::kNothing;
}

void ProgressProof::marker_appended(BrokerTime t) {
    if (state_ != State::kMarker) return;
    marker_ = t;
    state_ = State::kWantAsk;
}

std::optional<Fact> ProgressProof::answered(Lsn target, SourceTime source_clock, Lsn position) {
    if (state_ != State::kAsked) return std::nullopt;
    target_ = target;
    source_clock_ = source_clock;
    state_ = State::kWaiting;
    return moved(position);
}

void ProgressProof::not_answered(SteadyTime now) {
    if (state_ != State::kAsked) return;
    // The marker stays good: a position that is asked for later covers it as well.
    state_ = State::kWantAsk;
    next_action_ = now + kUrgeEvery;
}

std::optional<Fact> ProgressProof::moved(Lsn position) {
    if (state_ != State::kWaiting) return std::nullopt;
    if (position < target_ && TRUEUP_GUARD("postgres_catches_up")) return std::nullopt;
    state_ = State::kIdle;
    Fact progress;
    progress.kind = Fact::Kind::kProgress;
    // As of the marker and not of the answer: the server was asked after the marker, so that all
    // commits before it are behind the target; of those since nothing is known.
    progress.complete_as_of = marker_;
    progress.source_clock = source_clock_;
    return progress;
}

bool ProgressProof::stale(SteadyTime now) const {
    return state_ != State::kIdle && now - started_ >= kStaleAfter;
}

std::optional<SteadyTime> ProgressProof::due() const {
    if (state_ == State::kWantAsk || state_ == State::kWaiting) return next_action_;
    if (state_ == State::kWantMarker) return started_;
    return std::nullopt;
}

}  // namespace trueup::connectors::postgres
