#include "connectors/kubernetes/verification.h"

#include "engine/base/guard.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trueup::connectors {

Verifications::Verifications(ports::Cluster& cluster, ports::CallIds& ids, Decoder& decoder,
                             const KubernetesSettings& settings)
    : cluster_(cluster), ids_(ids), decoder_(decoder), settings_(settings) {}

void Verifications::want(const Verification& verification) {
    const auto known = open_.find(verification.uid);
    if (known == open_.end()) {
        const Backoff backoff(settings_.backoff_min, settings_.backoff_max,
                              settings_.jitter_seed + 2);
        open_.emplace(verification.uid,
                      Question{verification, UnaryCall(cluster_), backoff, SteadyTime{}});
        return;
    }
    Question& question = known->second;
    question.verification.left_at = std::max(question.verification.left_at, verification.left_at);
    question.verification.closes_at =
        std::max(question.verification.closes_at, verification.closes_at);
    stop(question);
}

void Verifications::drop(const std::string& uid, std::uint64_t version) {
    const auto known = open_.find(uid);
    if (known == open_.end()) return;
    const Verification& verification = known->second.verification;
    // What the stream says from before the reason to ask answers nothing.
    if (std::max(verification.left_at, verification.closes_at) > version) return;
    stop(known->second);
    open_.erase(known);
}

void Verifications::abandon_list() {
    for (auto entry = open_.begin(); entry != open_.end();) {
        Verification& verification = entry->second.verification;
        // One that a DELETED raised as well stays open: that list was not its reason.
        const bool alone = verification.closes_at != 0 && verification.left_at == 0;
        verification.closes_at = 0;
        if (alone) stop(entry->second);
        entry = alone ? open_.erase(entry) : std::next(entry);
    }
}

void Verifications::clear() {
    for (auto& [uid, question] : open_) stop(question);
    open_.clear();
    trouble_.clear();
}

void Verifications::stop(Question& question) {
    for (auto call = by_call_.begin(); question.get.running() && call != by_call_.end(); ++call) {
        if (!question.get.owns(call->first)) continue;
        by_call_.erase(call);
        break;
    }
    question.get.cancel();
}

void Verifications::start(Question& question, SteadyTime now) {
    ports::GetObject request;
    request.resource = settings_.resource;
    if (!question.verification.name_space.empty()) {
        request.resource.name_space = question.verification.name_space;
    }
    request.name = question.verification.name;
    const ports::CallId call = ids_.next();
    question.get.begin(call, now + settings_.call_timeout);
    by_call_.emplace(call, question.verification.uid);
    cluster_.get(call, request);
}

void Verifications::advance(SteadyTime now) {
    // Late ones first: they take the places that the due ones are waiting for.
    for (auto& [uid, question] : open_) {
        if (!question.get.running() || now < question.get.deadline()) continue;
        stop(question);
        ++failures_;
        trouble_ = "GET " + question.verification.name + ": no complete answer in time";
        question.due = now + question.backoff.next();
    }
    for (auto& [uid, question] : open_) {
        if (by_call_.size() >= settings_.parallel_verifications) return;
        if (!question.get.running() && question.due <= now) start(question, now);
    }
}

std::optional<Found> Verifications::feed(const ports::ClusterEvent& event, SteadyTime now) {
    const auto call = by_call_.find(event.call);
    if (call == by_call_.end()) return std::nullopt;
    const auto known = open_.find(call->second);
    TRUEUP_CHECK(known != open_.end());
    const std::optional<Answer> answer = known->second.get.feed(event);
    if (!answer) return std::nullopt;
    by_call_.erase(call);
    std::optional<Found> found = judge(known->second, *answer, now);
    if (found) open_.erase(known);
    return found;
}

std::optional<Found> Verifications::judge(Question& question, const Answer& answer,
                                          SteadyTime now) {
    Found found{question.verification, false, KubeObject{}};
    std::string flaw;
    if (answer.good()) {
        Result<KubeObject> object = decoder_.out_of_scope(answer.body);
        // Another uid is an answer, too: the one that is asked about is gone. Another name is none;
        // it can only come from something in front of the server.
        if (object && object->name == question.verification.name) {
            found.exists = object->uid == question.verification.uid;
            found.object = std::move(*object);
        } else {
            flaw = object ? "the answer is another object" : object.error().what;
        }
    } else {
        const std::optional<KubeStatus> status =
            answer.failure ? std::nullopt : decoder_.status(answer.body);
        // A proxy has a 404 as well, and so has a server that does not know its resources yet. Only
        // one that names the object and its collection speaks of this object.
        const bool not_found =
            answer.status == 404 && status &&
            status->not_found(question.verification.name, settings_.resource.plural);
        if (!not_found && TRUEUP_GUARD("kubernetes_own_word")) flaw = explain(answer, decoder_);
    }
    trouble_ = flaw.empty() ? "" : "GET " + question.verification.name + ": " + flaw;
    if (flaw.empty()) return found;
    ++failures_;
    question.due = now + question.backoff.next(asked_wait(answer, decoder_));
    return std::nullopt;
}

bool Verifications::closing() const {
    return std::any_of(open_.begin(), open_.end(),
                       [](const auto& entry) { return entry.second.verification.closes_at != 0; });
}

std::optional<SteadyTime> Verifications::deadline() const {
    std::optional<SteadyTime> first;
    // A question that is due and has no place is woken by the answer that frees one.
    const bool full = by_call_.size() >= settings_.parallel_verifications;
    for (const auto& [uid, question] : open_) {
        if (full && !question.get.running()) continue;
        const SteadyTime at = question.get.running() ? question.get.deadline() : question.due;
        if (!first || at < *first) first = at;
    }
    return first;
}

}  // namespace trueup::connectors
