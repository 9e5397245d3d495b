#include "connectors/kubernetes/watch.h"

#include <utility>

namespace trueup::connectors {

namespace {

constexpr std::size_t kMaxRefusal = 64U << 10U;

WatchStream::Ending ending_by(int code, std::string what, Millis retry_after, bool stuck) {
    using Kind = WatchStream::Ending::Kind;
    return {code == 410 ? Kind::kExpired : Kind::kTrouble, std::move(what), retry_after, stuck};
}

/// Of an answer to the request itself: the version is refused. A server that was restored from a
/// backup may say that it is ahead.
bool refuses_version(int status, std::string_view why) {
    return status == 400 || why.find("Too large resource version") != std::string_view::npos;
}

}  // namespace

void WatchStream::begin(std::uint64_t version, std::uint32_t seconds, Millis slack,
                        SteadyTime now) {
    TRUEUP_CHECK(!running());
    ports::WatchFrom request;
    request.resource = settings_.resource;
    request.label_selector = settings_.label_selector;
    request.resource_version = std::to_string(version);
    request.timeout_seconds = seconds;
    request.bookmarks = true;
    call_ = ids_.next();
    status_ = 0;
    retry_after_ = Millis(0);
    // The server ends the watch by itself after `seconds`; one that is still silent then is a
    // connection that died without a word.
    timeout_ = Millis(1000 * static_cast<std::int64_t>(seconds)) + slack;
    began_ = now;
    deadline_ = now + timeout_;
    lines_ = 0;
    refusal_.clear();
    reader_.clear();
    cluster_.watch(call_, request);
}

void WatchStream::cancel() {
    if (running()) cluster_.cancel(call_);
    call_ = 0;
}

std::optional<WatchStream::Ending> WatchStream::feed(const ports::ClusterEvent& event,
                                                     SteadyTime now, const Sink& sink) {
    using Kind = ports::ClusterEvent::Kind;
    // Each piece shows that the connection lives, bookmarks included.
    deadline_ = now + timeout_;
    switch (event.kind) {
        case Kind::kHead:
            status_ = event.status;
            retry_after_ = Millis(event.retry_after_ms);
            return std::nullopt;
        case Kind::kData:
            if (status_ == 200) return read(event.data, sink);
            if (refusal_.size() < kMaxRefusal) refusal_ += event.data;
            return std::nullopt;
        case Kind::kEnd:
            return end_of_body();
        case Kind::kFailed:
            call_ = 0;  // no need to cancel it
            return trouble(event.error.what);
    }
    return std::nullopt;
}

std::optional<WatchStream::Ending> WatchStream::read(std::string_view chunk, const Sink& sink) {
    reader_.feed(chunk);
    while (const std::optional<std::string_view> line = reader_.next()) {
        if (line->empty()) continue;
        Result<WatchEvent> event = decoder_.event(*line);
        // From the same version the same bytes may come again: after a few of these only a list
        // leads on.
        if (!event && event.error().next != Next::kSkip) return trouble(event.error().what, true);
        if (event && event->type == WatchEvent::Type::kError) return end_of(event->status);
        ++lines_;
        sink(std::move(event));
        // The sink may have found a reason to end this watch itself.
        if (!running()) return std::nullopt;
    }
    // Objects are a megabyte and a half at most; more is no event, and must not fill the memory.
    if (reader_.too_long()) return trouble("a line of the watch is longer than 4 MiB", true);
    return std::nullopt;
}

WatchStream::Ending WatchStream::end_of(const KubeStatus& error) {
    cancel();
    if (error.code == 0) {
        return ending_by(0, "the watch ended with an ERROR that is not a Status", Millis(0), true);
    }
    // A server that accepts the watch and then says so is no server that is away.
    return ending_by(error.code,
                     "the watch said " + std::to_string(error.code) + " " + error.message,
                     error.retry_after, error.code != 429 && error.code != 503);
}

WatchStream::Ending WatchStream::end_of_body() {
    call_ = 0;
    if (status_ == 200) {
        // HTTP says that the body is whole; half a line shows that it is not.
        if (reader_.partial()) return trouble("the watch was truncated within a line", true);
        return Ending{Ending::Kind::kEof, "", Millis(0), false};
    }
    const Answer answer{status_, retry_after_, std::move(refusal_), std::nullopt};
    refusal_.clear();
    std::string why = "watch: " + explain(answer, decoder_);
    const bool stuck = refuses_version(status_, why);
    return ending_by(status_, std::move(why), asked_wait(answer, decoder_), stuck);
}

WatchStream::Ending WatchStream::trouble(std::string what, bool stuck) {
    cancel();
    return ending_by(0, std::move(what), Millis(0), stuck);
}

std::optional<WatchStream::Ending> WatchStream::expire(SteadyTime now) {
    if (!running() || now < deadline_) return std::nullopt;
    return trouble("the watch was silent for too long");
}

}  // namespace trueup::connectors
