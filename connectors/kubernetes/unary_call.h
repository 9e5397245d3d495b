// One call that is answered by one body (a page of a list, a GET), gathered until it is whole. Not
// thread-safe.
#pragma once

#include "connectors/kubernetes/decode.h"
#include "engine/base/error.h"
#include "engine/base/time.h"
#include "engine/ports/cluster.h"

#include <cstddef>
#include <optional>
#include <string>

namespace trueup::connectors {

/// Of one answer; what is larger is none.
inline constexpr std::size_t kMaxBody = 256U << 20U;

struct Answer {
    int status = 0;
    Millis retry_after{0};
    std::string body;
    /// There is no whole answer; nothing above counts. kTimeout: none came in time; kTooLarge: it
    /// was larger than kMaxBody.
    std::optional<Error> failure;

    bool good() const { return !failure && status == 200; }
    bool failed(Code code) const { return failure && failure->code == code; }
};

class UnaryCall {
  public:
    explicit UnaryCall(ports::Cluster& cluster) : cluster_(cluster) {}

    /// A call was started under this id.
    void begin(ports::CallId call, SteadyTime deadline);
    bool running() const { return call_ != 0; }
    bool owns(ports::CallId call) const { return call_ != 0 && call_ == call; }
    SteadyTime deadline() const { return deadline_; }

    /// The answer, once it is whole or has failed; the call is over then.
    std::optional<Answer> feed(const ports::ClusterEvent& event);
    /// The same, when the deadline passed.
    std::optional<Answer> expire(SteadyTime now);
    void cancel();

  private:
    Answer finish();
    Answer fail(Code code, std::string why);

    ports::Cluster& cluster_;
    ports::CallId call_ = 0;
    SteadyTime deadline_{};
    Answer answer_;
};

/// Why an answer is not a good one, in one phrase for the operator.
std::string explain(const Answer& answer, Decoder& decoder);

/// How long the server asks us to stay away; 0: it did not say.
Millis asked_wait(const Answer& answer, Decoder& decoder);

}  // namespace trueup::connectors
