// The proof that everything up to a marker was published (design §4.4). After the marker's append
// time is known, and not before, the source is asked for its newest version R. Where the main
// stream has not reached R, a probe watch from our position shows what lies between: a line at R or
// beyond proves it, once the main stream delivered every event up to R that the probe showed.
//
// Invariants:
//   P1  The source is asked after the marker was appended.
//   P2  kProven implies that the main stream delivered every event up to R.
//
// Not thread-safe.
#pragma once

#include "connectors/kubernetes/unary_call.h"
#include "connectors/kubernetes/watch.h"
#include "engine/ports/call_ids.h"

#include <optional>
#include <string>

namespace trueup::connectors {

class ProgressProof {
  public:
    enum class Verdict : std::uint8_t {
        kPending,
        kProven,      ///< `as_of` is proven, and the stream is complete up to `version`
        kSilent,      ///< the source did not answer
        kUnprovable,  ///< only a new epoch can prove anything
        kRewound,     ///< R is older than what the stream delivered before it was asked for
    };
    /// Where the main stream is.
    struct Stream {
        std::uint64_t position = 0;  ///< the version up to which it delivered
        bool up = false;
        bool settled = false;  ///< nothing that it delivered still waits for a verification
    };

    ProgressProof(ports::Cluster& cluster, ports::CallIds& ids, Decoder& decoder,
                  const KubernetesSettings& settings);

    bool idle() const { return state_ == State::kIdle; }
    /// A marker was asked for.
    void begin();
    void marker_appended(BrokerTime t, std::uint64_t position, SteadyTime now);
    void cancel();

    bool owns(ports::CallId call) const { return ask_.owns(call) || probe_.owns(call); }
    void feed(const ports::ClusterEvent& event, SteadyTime now);
    /// Goes on as far as it can; idle again after any verdict but kPending.
    Verdict advance(const Stream& stream, SteadyTime now);
    /// When `advance` has something to do without an event; nullopt: never by itself.
    std::optional<SteadyTime> deadline() const { return wake_; }

    BrokerTime as_of() const { return as_of_; }
    std::uint64_t version() const { return newest_; }
    const std::string& trouble() const { return trouble_; }
    /// Of kSilent: how long the server asks us to stay away; 0: it did not say.
    Millis retry_after() const { return retry_after_; }

  private:
    enum class State : std::uint8_t { kIdle, kMarker, kAsking, kPaused, kProbing, kCatchingUp };

    void ask(std::uint64_t position, SteadyTime now);
    void take_answer(const Answer& answer, SteadyTime now);
    void take_line(const Result<WatchEvent>& line);
    void take_ending(const WatchStream::Ending& ending);
    void probe_failed(std::string why);
    Verdict go_on(const Stream& stream, SteadyTime now);
    void probe(std::uint64_t from, SteadyTime now);
    Verdict end(Verdict verdict);

    ports::Cluster& cluster_;
    ports::CallIds& ids_;
    Decoder& decoder_;
    const KubernetesSettings& settings_;
    UnaryCall ask_;
    WatchStream probe_;
    State state_ = State::kIdle;
    Verdict verdict_ = Verdict::kPending;  ///< found by an event, returned by `advance`
    BrokerTime as_of_{};
    std::uint64_t asked_from_ = 0;  ///< the stream's position when R was asked for
    std::uint64_t newest_ = 0;      ///< R
    std::uint64_t shown_ = 0;       ///< the newest event up to R that the probe showed
    std::uint32_t rounds_ = 0;
    SteadyTime next_probe_{};
    std::optional<SteadyTime> catch_up_deadline_;  ///< of kCatchingUp
    std::optional<SteadyTime> wake_;
    std::string trouble_;
    Millis retry_after_{0};
};

}  // namespace trueup::connectors
