#include "connectors/kubernetes/progress.h"

#include "engine/base/guard.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors {

namespace {

Millis seconds(std::uint32_t n) { return Millis(1000 * static_cast<std::int64_t>(n)); }

}  // namespace

ProgressProof::ProgressProof(ports::Cluster& cluster, ports::CallIds& ids, Decoder& decoder,
                             const KubernetesSettings& settings)
    : cluster_(cluster),
      ids_(ids),
      decoder_(decoder),
      settings_(settings),
      ask_(cluster),
      probe_(cluster, ids, decoder, settings) {}

void ProgressProof::begin() {
    TRUEUP_CHECK(idle());
    state_ = State::kMarker;
}

void ProgressProof::cancel() {
    ask_.cancel();
    probe_.cancel();
    state_ = State::kIdle;
    verdict_ = Verdict::kPending;
    wake_.reset();
}

void ProgressProof::marker_appended(BrokerTime t, std::uint64_t position, SteadyTime now) {
    if (state_ != State::kMarker) return;  // asked for by an earlier incarnation
    as_of_ = t;
    state_ = State::kAsking;
    ask(position, now);
}

void ProgressProof::ask(std::uint64_t position, SteadyTime now) {
    // As of now: the stream may pass R before the answer comes, and that is no sign of a server
    // that went back.
    asked_from_ = position;
    newest_ = 0;
    rounds_ = 0;
    trouble_.clear();
    retry_after_ = Millis(0);
    ports::ListPage request;
    request.resource = settings_.resource;
    // Without the selector: its version is the store's whatever it selects, and a server that looks
    // for one object that matches may read the whole namespace each time.
    request.limit = 1;
    const ports::CallId call = ids_.next();
    ask_.begin(call, now + settings_.call_timeout);
    cluster_.list_page(call, request);
}

void ProgressProof::feed(const ports::ClusterEvent& event, SteadyTime now) {
    if (ask_.owns(event.call)) {
        if (const std::optional<Answer> answer = ask_.feed(event)) take_answer(*answer, now);
        return;
    }
    const auto sink = [this](const Result<WatchEvent>& line) { take_line(line); };
    const std::optional<WatchStream::Ending> ending = probe_.feed(event, now, sink);
    if (ending) take_ending(*ending);
}

void ProgressProof::take_answer(const Answer& answer, SteadyTime now) {
    const Result<std::uint64_t> version =
        answer.good() ? decoder_.list_version(answer.body)
                      : Result<std::uint64_t>(
                            Error{Next::kRetry, Code::kUnavailable, explain(answer, decoder_)});
    if (!version) {
        trouble_ = version.error().what;
        if (!answer.failure) retry_after_ = asked_wait(answer, decoder_);
        verdict_ = Verdict::kSilent;
        return;
    }
    newest_ = *version;
    state_ = State::kPaused;
    next_probe_ = now;
    if (newest_ < asked_from_) {
        trouble_ = "the server's resourceVersion went back from " + std::to_string(asked_from_) +
                   " to " + std::to_string(newest_);
        verdict_ = Verdict::kRewound;
    }
}

void ProgressProof::take_line(const Result<WatchEvent>& line) {
    if (!line) {  // whatever it was, it cannot be counted as delivered
        trouble_ = line.error().what;
        verdict_ = Verdict::kSilent;
        return;
    }
    if (line->type != WatchEvent::Type::kBookmark && line->version <= newest_) {
        shown_ = std::max(shown_, line->version);
    }
    // A line at R or beyond it: the probe has shown all that there is up to R.
    if (line->version < newest_) return;
    probe_.cancel();
    state_ = State::kCatchingUp;
    catch_up_deadline_.reset();
}

void ProgressProof::take_ending(const WatchStream::Ending& ending) {
    trouble_ = ending.what;
    retry_after_ = ending.retry_after;
    switch (ending.kind) {
        case WatchStream::Ending::Kind::kEof:
            probe_failed("a second watch ended without a bookmark");
            return;
        case WatchStream::Ending::Kind::kExpired:
            verdict_ = Verdict::kUnprovable;
            return;
        case WatchStream::Ending::Kind::kTrouble:
            verdict_ = Verdict::kSilent;
            return;
    }
}

void ProgressProof::probe_failed(std::string why) {
    trouble_ = std::move(why);
    state_ = State::kPaused;
    if (++rounds_ >= settings_.proof_rounds) verdict_ = Verdict::kUnprovable;
}

ProgressProof::Verdict ProgressProof::end(Verdict verdict) {
    cancel();
    return verdict;
}

ProgressProof::Verdict ProgressProof::advance(const Stream& stream, SteadyTime now) {
    wake_.reset();
    if (state_ == State::kIdle || state_ == State::kMarker) return Verdict::kPending;
    if (const std::optional<Answer> late = ask_.expire(now)) take_answer(*late, now);
    if (probe_.expire(now)) probe_failed("a second watch stayed silent");
    if (verdict_ == Verdict::kPending && state_ != State::kAsking) verdict_ = go_on(stream, now);
    if (verdict_ != Verdict::kPending) return end(verdict_);
    if (state_ == State::kAsking) wake_ = ask_.deadline();
    if (state_ == State::kProbing) wake_ = probe_.deadline();
    if (state_ == State::kPaused && stream.up) wake_ = next_probe_;
    if (state_ == State::kCatchingUp) wake_ = catch_up_deadline_;
    return Verdict::kPending;
}

ProgressProof::Verdict ProgressProof::go_on(const Stream& stream, SteadyTime now) {
    // Where the stream has reached R by itself no probe is needed. Else it need not reach R, which
    // may be of another collection, but all that the probe showed up to there.
    const bool caught_up = state_ == State::kCatchingUp && stream.position >= shown_;
    if (stream.position >= newest_ || caught_up || !TRUEUP_GUARD("kubernetes_catches_up")) {
        probe_.cancel();
        state_ = State::kCatchingUp;
        catch_up_deadline_.reset();
        return stream.settled && stream.up ? Verdict::kProven : Verdict::kPending;
    }
    if (state_ == State::kCatchingUp) {
        // A stream that is down catches up when it is back; one that is up has no excuse.
        if (!stream.up) catch_up_deadline_.reset();
        if (stream.up && !catch_up_deadline_)
            catch_up_deadline_ = now + seconds(settings_.probe_seconds);
        if (catch_up_deadline_ && now >= *catch_up_deadline_) {
            probe_failed("the stream lags behind what a second watch showed");
        }
    }
    if (verdict_ == Verdict::kPending && state_ == State::kPaused && stream.up &&
        now >= next_probe_) {
        probe(stream.position, now);
    }
    return verdict_;
}

void ProgressProof::probe(std::uint64_t from, SteadyTime now) {
    state_ = State::kProbing;
    shown_ = 0;
    const Millis lasts = seconds(settings_.probe_seconds);
    next_probe_ = now + lasts;
    probe_.begin(from, settings_.probe_seconds, lasts, now);
}

}  // namespace trueup::connectors
