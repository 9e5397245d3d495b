#include "connectors/kubernetes/unary_call.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors {

void UnaryCall::begin(ports::CallId call, SteadyTime deadline) {
    TRUEUP_CHECK(!running());
    call_ = call;
    deadline_ = deadline;
    answer_ = Answer{};
}

std::optional<Answer> UnaryCall::feed(const ports::ClusterEvent& event) {
    using Kind = ports::ClusterEvent::Kind;
    switch (event.kind) {
        case Kind::kHead:
            answer_.status = event.status;
            answer_.retry_after = Millis(event.retry_after_ms);
            return std::nullopt;
        case Kind::kData:
            answer_.body += event.data;
            // Counted as it comes: what declares no length may go on for ever.
            if (answer_.body.size() <= kMaxBody) return std::nullopt;
            return fail(Code::kTooLarge, "the answer is larger than 256 MiB");
        case Kind::kEnd:
            return finish();
        case Kind::kFailed:
            answer_.failure = event.error;
            return finish();
    }
    return std::nullopt;
}

std::optional<Answer> UnaryCall::expire(SteadyTime now) {
    if (!running() || now < deadline_) return std::nullopt;
    return fail(Code::kTimeout, "no complete answer in time");
}

void UnaryCall::cancel() {
    if (running()) cluster_.cancel(call_);
    call_ = 0;
}

Answer UnaryCall::finish() {
    call_ = 0;
    return std::exchange(answer_, Answer{});
}

Answer UnaryCall::fail(Code code, std::string why) {
    cancel();
    answer_.failure = Error{Next::kRetry, code, std::move(why)};
    return finish();
}

std::string explain(const Answer& answer, Decoder& decoder) {
    if (answer.failure) return answer.failure->what;
    std::string text = "HTTP " + std::to_string(answer.status);
    const std::optional<KubeStatus> status = decoder.status(answer.body);
    if (status && !status->reason.empty()) text += " " + status->reason;
    if (status && !status->message.empty()) text += ": " + status->message;
    return text;
}

Millis asked_wait(const Answer& answer, Decoder& decoder) {
    const std::optional<KubeStatus> status = decoder.status(answer.body);
    return std::max(answer.retry_after, status ? status->retry_after : Millis(0));
}

}  // namespace trueup::connectors
