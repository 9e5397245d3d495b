#include "connectors/kubernetes/lookup.h"

#include "engine/base/guard.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trueup::connectors {

Lookups::Lookups(ports::Cluster& cluster, CallIds& ids, Decoder& decoder,
                 const KubernetesSettings& settings)
    : cluster_(cluster), ids_(ids), decoder_(decoder), settings_(settings) {}

void Lookups::want(const Lookup& lookup) {
    const auto known = open_.find(lookup.uid);
    if (known == open_.end()) {
        const Backoff backoff(settings_.backoff_min, settings_.backoff_max,
                              settings_.jitter_seed + 2);
        open_.emplace(lookup.uid, Question{lookup, Exchange(cluster_), backoff, SteadyTime{}});
        return;
    }
    Question& question = known->second;
    question.lookup.left_at = std::max(question.lookup.left_at, lookup.left_at);
    question.lookup.closes_at = std::max(question.lookup.closes_at, lookup.closes_at);
    stop(question);
}

void Lookups::drop(const std::string& uid, std::uint64_t version) {
    const auto known = open_.find(uid);
    if (known == open_.end()) return;
    const Lookup& lookup = known->second.lookup;
    if (std::max(lookup.left_at, lookup.closes_at) > version) return;
    stop(known->second);
    open_.erase(known);
}

void Lookups::abandon_list() {
    for (auto entry = open_.begin(); entry != open_.end();) {
        Lookup& lookup = entry->second.lookup;
        const bool alone = lookup.closes_at != 0 && lookup.left_at == 0;
        lookup.closes_at = 0;
        if (alone) stop(entry->second);
        entry = alone ? open_.erase(entry) : std::next(entry);
    }
}

void Lookups::clear() {
    for (auto& [uid, question] : open_) stop(question);
    open_.clear();
    trouble_.clear();
}

void Lookups::stop(Question& question) {
    for (auto call = by_call_.begin(); question.get.running() && call != by_call_.end(); ++call) {
        if (!question.get.owns(call->first)) continue;
        by_call_.erase(call);
        break;
    }
    question.get.cancel();
}

void Lookups::start(Question& question, SteadyTime now) {
    ports::GetObject request;
    request.resource = settings_.resource;
    if (!question.lookup.name_space.empty()) {
        request.resource.name_space = question.lookup.name_space;
    }
    request.name = question.lookup.name;
    const ports::CallId call = ids_.next();
    question.get.begin(call, now + settings_.call_timeout);
    by_call_.emplace(call, question.lookup.uid);
    cluster_.get(call, request);
}

void Lookups::advance(SteadyTime now) {
    for (auto& [uid, question] : open_) {
        if (!question.get.running() || now < question.get.deadline()) continue;
        stop(question);
        ++failures_;
        trouble_ = "GET " + question.lookup.name + ": no whole answer in time";
        question.due = now + question.backoff.next();
    }
    for (auto& [uid, question] : open_) {
        if (by_call_.size() >= settings_.parallel_lookups) return;
        if (!question.get.running() && question.due <= now) start(question, now);
    }
}

std::optional<Found> Lookups::feed(const ports::ClusterEvent& event, SteadyTime now) {
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

std::optional<Found> Lookups::judge(Question& question, const Answer& answer, SteadyTime now) {
    Found found{question.lookup, false, KubeObject{}};
    std::string flaw;
    if (answer.good()) {
        Result<KubeObject> object = decoder_.stray(answer.body);
        if (object && object->name == question.lookup.name) {
            found.exists = object->uid == question.lookup.uid;
            found.object = std::move(*object);
        } else {
            flaw = object ? "the answer is another object" : object.error().what;
        }
    } else {
        const std::optional<KubeStatus> status =
            answer.failure ? std::nullopt : decoder_.status(answer.body);
        const bool not_found = answer.status == 404 && status &&
                               status->not_found(question.lookup.name, settings_.resource.plural);
        if (!not_found && TRUEUP_GUARD("kubernetes_own_word")) flaw = explain(answer, decoder_);
    }
    trouble_ = flaw.empty() ? "" : "GET " + question.lookup.name + ": " + flaw;
    if (flaw.empty()) return found;
    ++failures_;
    question.due = now + question.backoff.next(asked_wait(answer, decoder_));
    return std::nullopt;
}

bool Lookups::closing() const {
    return std::any_of(open_.begin(), open_.end(),
                       [](const auto& entry) { return entry.second.lookup.closes_at != 0; });
}

std::optional<SteadyTime> Lookups::deadline() const {
    std::optional<SteadyTime> first;
    const bool full = by_call_.size() >= settings_.parallel_lookups;
    for (const auto& [uid, question] : open_) {
        if (full && !question.get.running()) continue;
        const SteadyTime at = question.get.running() ? question.get.deadline() : question.due;
        if (!first || at < *first) first = at;
    }
    return first;
}

}  // namespace trueup::connectors
