// One watch call as a stream of events. Used for the main stream and for the probes that prove its
// quiet. Not thread-safe.
#pragma once

#include "connectors/kubernetes/decode.h"
#include "connectors/kubernetes/line_reader.h"
#include "connectors/kubernetes/settings.h"
#include "connectors/kubernetes/unary_call.h"
#include "engine/ports/call_ids.h"

#include <functional>
#include <optional>
#include <string>

namespace trueup::connectors {

class WatchStream {
  public:
    /// How a watch ended.
    struct Ending {
        enum class Kind : std::uint8_t {
            kEof,      ///< as every watch does, sooner or later
            kExpired,  ///< 410: that version is gone, by status or by an ERROR event
            kTrouble,  ///< anything else: `what`
        };
        Kind kind = Kind::kTrouble;
        std::string what;
        Millis retry_after{0};
        /// From that version the same may come again, so that after a few only a list leads on.
        /// Unlike an outage: the version is still there when the server is back.
        bool stuck = false;
    };
    /// Called for each line in order; an undecodable event comes as its Error (kSkip).
    using Sink = std::function<void(Result<WatchEvent>)>;

    WatchStream(ports::Cluster& cluster, ports::CallIds& ids, Decoder& decoder,
                const KubernetesSettings& settings)
        : cluster_(cluster), ids_(ids), decoder_(decoder), settings_(settings) {}

    /// Watches what comes after `version`, for about `seconds`; silence of `slack` more is an end.
    void begin(std::uint64_t version, std::uint32_t seconds, Millis slack, SteadyTime now);
    void cancel();

    bool running() const { return call_ != 0; }
    bool owns(ports::CallId call) const { return call_ != 0 && call_ == call; }
    /// The server accepted it.
    bool up() const { return running() && status_ == 200; }
    /// Of one that ended too.
    bool was_accepted() const { return status_ == 200; }
    /// Lines that this call brought so far.
    std::uint64_t lines() const { return lines_; }
    SteadyTime began() const { return began_; }
    SteadyTime deadline() const { return deadline_; }

    std::optional<Ending> feed(const ports::ClusterEvent& event, SteadyTime now, const Sink& sink);
    /// Ends a watch that brought nothing at all for too long.
    std::optional<Ending> expire(SteadyTime now);

  private:
    std::optional<Ending> read(std::string_view chunk, const Sink& sink);
    Ending end_of(const KubeStatus& error);
    Ending end_of_body();
    Ending trouble(std::string what, bool stuck = false);

    ports::Cluster& cluster_;
    ports::CallIds& ids_;
    Decoder& decoder_;
    const KubernetesSettings& settings_;
    ports::CallId call_ = 0;
    int status_ = 0;
    Millis retry_after_{0};
    Millis timeout_{0};
    SteadyTime began_{};
    SteadyTime deadline_{};
    std::uint64_t lines_ = 0;
    std::string refusal_;  ///< the body of an answer other than 200
    LineReader reader_;
};

}  // namespace trueup::connectors
