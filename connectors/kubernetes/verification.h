// GETs by name for objects of which the stream no longer speaks: they left the selector, or are
// gone. Only a GET can tell. A verification ends with the object's own answer, never with an error.
// Not thread-safe.
#pragma once

#include "connectors/kubernetes/decode.h"
#include "connectors/kubernetes/settings.h"
#include "connectors/kubernetes/unary_call.h"
#include "engine/base/backoff.h"
#include "engine/ports/call_ids.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trueup::connectors {

/// What is asked, and why.
struct Verification {
    std::string uid;
    std::string name;
    std::string name_space;
    std::uint64_t left_at = 0;    ///< version of the DELETED that raised the question; 0: none did
    std::uint64_t closes_at = 0;  ///< version of the list that lacks it; 0: it is not part of one
};

struct Found {
    Verification verification;
    bool exists = false;  ///< under the same uid
    KubeObject object;    ///< if it exists; encoded as out of scope
};

class Verifications {
  public:
    Verifications(ports::Cluster& cluster, ports::CallIds& ids, Decoder& decoder,
                  const KubernetesSettings& settings);

    /// Asks about an object. A question about the same uid that is under way is merged with this
    /// one and asked again: its answer may be older than the reason to ask.
    void want(const Verification& verification);
    /// The stream spoke of the object again, at `version`: older questions are moot.
    void drop(const std::string& uid, std::uint64_t version);
    /// The list that lacked these objects proves nothing any more: what was asked for its sake
    /// alone is dropped.
    void abandon_list();
    void clear();

    /// Starts due calls and fails late ones.
    void advance(SteadyTime now);
    bool owns(ports::CallId call) const { return by_call_.contains(call); }
    std::optional<Found> feed(const ports::ClusterEvent& event, SteadyTime now);

    bool empty() const { return open_.empty(); }
    /// Is a list still waiting for one of its answers?
    bool closing() const;
    /// When `advance` has something to do; nullopt: never by itself.
    std::optional<SteadyTime> deadline() const;
    /// Why the last one that failed did; empty after a good one.
    const std::string& trouble() const { return trouble_; }
    std::uint64_t failures() const { return failures_; }

  private:
    struct Question {
        Verification verification;
        UnaryCall get;
        Backoff backoff;
        SteadyTime due{};
    };
    void start(Question& question, SteadyTime now);
    void stop(Question& question);
    std::optional<Found> judge(Question& question, const Answer& answer, SteadyTime now);

    ports::Cluster& cluster_;
    ports::CallIds& ids_;
    Decoder& decoder_;
    const KubernetesSettings& settings_;
    std::map<std::string, Question, std::less<>> open_;  ///< by uid
    std::map<ports::CallId, std::string> by_call_;
    std::string trouble_;
    std::uint64_t failures_ = 0;
};

}  // namespace trueup::connectors
