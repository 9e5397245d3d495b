// The proof of progress (design §4.4, details 14), one attempt at a time:
//
//   1. a marker is appended to our log; its append time is T;
//   2. only then the server is asked for its WAL insert position P;
//   3. the stream passes P: all that was committed before T was published;
//   4. Progress{T} goes out.
//
// A pure state machine; it says what to do next and is told what happened. Not thread-safe.
#pragma once

#include "connectors/postgres/lsn.h"
#include "engine/base/time.h"
#include "engine/model/fact.h"

#include <cstdint>
#include <optional>

namespace trueup::connectors::postgres {

class ProgressProof {
  public:
    enum class Step : std::uint8_t {
        kNothing,
        kMarker,  ///< publish Fact::kMarker
        kAsk,     ///< ask for the insert position
        kUrge,    ///< send a status update that wants a reply
    };

    /// Drops the attempt: the stream broke, or a new incarnation began.
    void abandon() { state_ = State::kIdle; }

    bool idle() const { return state_ == State::kIdle; }
    void start(SteadyTime now);
    /// The next thing to do, at most one; it counts as done.
    Step next(SteadyTime now);

    /// Ignored unless a marker is awaited.
    void marker_appended(BrokerTime t);
    /// The server's answer to kAsk. `position` is how far the stream was by then.
    std::optional<Fact> answered(Lsn target, SourceTime source_clock, Lsn position);
    /// kAsk failed; it is asked again a second later.
    void not_answered(SteadyTime now);
    /// The stream is complete up to `position`.
    std::optional<Fact> moved(Lsn position);

    /// The attempt has run for so long that the source no longer counts as answering.
    bool stale(SteadyTime now) const;
    /// When `next` may have something to do without being told anything.
    std::optional<SteadyTime> due() const;

  private:
    enum class State : std::uint8_t { kIdle, kWantMarker, kMarker, kWantAsk, kAsked, kWaiting };

    State state_ = State::kIdle;
    SteadyTime started_{};
    SteadyTime next_action_{};
    BrokerTime marker_{};
    Lsn target_ = 0;
    SourceTime source_clock_{};
};

}  // namespace trueup::connectors::postgres
