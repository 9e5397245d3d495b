#include "sandbox/cluster_port.h"

#include "engine/base/check.h"
#include "engine/world/kube.h"

#include <algorithm>

namespace trueup::sandbox {

using ports::CallId;
using ports::ClusterEvent;

ClusterPort::ClusterPort(std::shared_ptr<Realm> realm, bool second)
    : realm_(std::move(realm)), second_(second) {
    const Act act(*realm_);
    restarts_seen_ = realm_->cluster_restarts;
}

std::uint64_t ClusterPort::newest() const {
    const std::uint64_t last = realm_->api.newest();
    const bool behind = second_ && realm_->second_knows;
    return behind ? std::clamp(*realm_->second_knows, realm_->api.oldest(), last) : last;
}

PodPtr ClusterPort::find(const ApiServer::Key& key) const {
    if (newest() == realm_->api.newest()) return realm_->api.find(key);
    for (const PodPtr& pod : realm_->api.as_of(newest())) {
        if (ApiServer::Key{pod->name_space, pod->name} == key) return pod;
    }
    return nullptr;
}

void ClusterPort::emit(ClusterEvent event, Millis after) {
    outbox_.emplace(now_ + after, std::move(event));
}

void ClusterPort::head(CallId call, int status, std::int64_t retry_after_ms, Millis after) {
    ClusterEvent event;
    event.call = call;
    event.kind = ClusterEvent::Kind::kHead;
    event.status = status;
    event.retry_after_ms = retry_after_ms;
    emit(std::move(event), after);
}

void ClusterPort::body(CallId call, std::string_view bytes, Millis after) {
    const std::size_t piece = std::max<std::size_t>(1, realm_->settings.chunk_bytes);
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        ClusterEvent event;
        event.call = call;
        event.kind = ClusterEvent::Kind::kData;
        event.data = bytes.substr(at, piece);
        emit(std::move(event), after);
    }
}

void ClusterPort::end(CallId call, Millis after) {
    ClusterEvent event;
    event.call = call;
    event.kind = ClusterEvent::Kind::kEnd;
    emit(std::move(event), after);
}

void ClusterPort::fail(CallId call, std::string what) {
    ClusterEvent event;
    event.call = call;
    event.kind = ClusterEvent::Kind::kFailed;
    event.error = {Next::kRetry, Code::kUnavailable, std::move(what)};
    emit(std::move(event), {});
}

void ClusterPort::answer(CallId call, int status, std::string_view bytes) {
    head(call, status);
    body(call, bytes);
    end(call);
}

void ClusterPort::answer(CallId call, const StatusObject& status, Millis after) {
    head(call, status.code, status.retry_after_seconds * 1000, after);
    body(call, status_json(status), after);
    end(call, after);
}

void ClusterPort::answer_with(CallId call, Op op, const Failure& failure) {
    switch (failure.kind) {
        case Failure::Kind::kErrorEvent:
            if (op == Op::kWatch) {
                answer(call, 200, watch_line("ERROR", status_json(status_of(failure.status))));
                return;
            }
            break;
        case Failure::Kind::kCutBody:
            head(call, 200);
            body(call, R"({"type":"MODIFIED","object":{"kind":"Pod","metadata":{"name":"wra)");
            fail(call, "transfer closed with outstanding read data remaining");
            return;
        case Failure::Kind::kNotJson:
            answer(call, 200, "<html><body>Please log in to the network.</body></html>\n");
            return;
        case Failure::Kind::kEmptyList:
            answer(call, 200, pod_list_json({}, newest(), {}, 0));
            return;
        default:
            break;
    }
    StatusObject status = status_of(failure.status);
    status.retry_after_seconds = (failure.retry_after_ms + 999) / 1000;
    head(call, failure.status, failure.retry_after_ms);
    body(call, status_json(status));
    end(call);
}

bool ClusterPort::fails(CallId call, Op op, bool& lose_reply, std::optional<Failure::Kind>* flaw) {
    const std::optional<Failure> failure = realm_->take_failure(op);
    if (!failure) return false;
    const bool answers =
        failure->kind == Failure::Kind::kShortPage || failure->kind == Failure::Kind::kBare;
    if (flaw != nullptr && answers) {
        *flaw = failure->kind;
        return false;
    }
    lose_reply = failure->kind == Failure::Kind::kLostReply;
    if (lose_reply) return false;
    if (failure->kind == Failure::Kind::kHang) return true;
    if (failure->kind == Failure::Kind::kRefused) {
        fail(call, "connection refused");
    } else {
        answer_with(call, op, *failure);
    }
    return true;
}

bool ClusterPort::served(CallId call, const ports::Resource& resource) {
    if (resource.api_path == "/api/v1" && resource.plural == "pods") return true;
    answer(call, status_of(404));
    return false;
}

void ClusterPort::get(CallId call, const ports::GetObject& request) {
    const Act act(*realm_);
    now_ = act.now();
    open_[call] = false;
    bool lose_reply = false;
    std::optional<Failure::Kind> flaw;
    if (fails(call, Op::kGet, lose_reply, &flaw) || !served(call, request.resource)) return;
    const PodPtr pod = find({request.resource.name_space, request.name});
    if (lose_reply) {
        fail(call, "operation timed out");
    } else if (pod) {
        answer(call, 200, pod_json(*pod, true, flaw != Failure::Kind::kBare));
    } else {
        answer(call, not_found(request.name));
    }
}

template <typename Request>
Effect ClusterPort::attempt(const Request& asked, const Act& act, StatusObject& refusal,
                            PodPtr& pod) {
    Effect effect;
    effect.wall_ms = act.wall_ms();
    effect.name = asked.name;
    effect.uid = asked.uid;
    effect.resource_version = asked.resource_version;
    pod = realm_->api.find({asked.resource.name_space, asked.name});
    const std::string version = pod ? std::to_string(pod->resource_version) : "";
    if (!pod) {
        effect.why = "404";
        refusal = not_found(asked.name);
    } else if (!asked.uid.empty() && pod->uid != asked.uid) {
        effect.why = "409 uid";
        refusal = conflict(asked.name, "UID", asked.uid, pod->uid);
    } else if (!asked.resource_version.empty() && version != asked.resource_version) {
        effect.why = "409 resourceVersion";
        refusal = conflict(asked.name, "ResourceVersion", asked.resource_version, version);
    } else {
        effect.accepted = true;
    }
    return effect;
}

/// What a merge patch makes of a pod. Labels and annotations only: of the rest of one a server lets
/// nobody change much, and a pod has no fields of its own here. nullopt: it is refused.
std::optional<Pod> ClusterPort::patched(Pod pod, const ports::PatchObject& request) {
    for (const ports::PatchObject::Set& set : request.sets) {
        const bool marked = set.path.size() == 3 && set.path[0] == "metadata";
        const bool label = marked && set.path[1] == "labels";
        if (!label && !(marked && set.path[1] == "annotations")) return std::nullopt;
        Labels& marks = label ? pod.labels : pod.annotations;
        if (set.value) {
            marks[set.path[2]] = *set.value;
        } else {
            marks.erase(set.path[2]);
        }
    }
    return pod;
}

void ClusterPort::erase(CallId call, const ports::DeleteObject& request) {
    const Act act(*realm_);
    now_ = act.now();
    open_[call] = false;
    bool lose_reply = false;
    if (fails(call, Op::kDelete, lose_reply) || !served(call, request.resource)) return;
    StatusObject refusal;
    PodPtr pod;
    Effect effect = attempt(request, act, refusal, pod);
    effect.kind = Effect::Kind::kDelete;
    effect.grace_seconds = request.grace_period_seconds;
    if (effect.accepted) {
        const std::int64_t grace = request.grace_period_seconds.value_or(pod->own_grace_seconds);
        pod = realm_->api.begin_deletion({pod->name_space, pod->name}, grace, act.now(),
                                         act.wall_ms());
    }
    answer_write(call, effect, pod, refusal, lose_reply);
}

void ClusterPort::patch(CallId call, const ports::PatchObject& request) {
    const Act act(*realm_);
    now_ = act.now();
    open_[call] = false;
    bool lose_reply = false;
    if (fails(call, Op::kDelete, lose_reply) || !served(call, request.resource)) return;
    StatusObject refusal;
    PodPtr pod;
    Effect effect = attempt(request, act, refusal, pod);
    effect.kind = Effect::Kind::kPatch;
    for (const ports::PatchObject::Set& set : request.sets) {
        effect.sets.push_back({set.path.back(), set.value});
    }
    const bool main = request.subresource.empty();
    std::optional<Pod> next = effect.accepted && main ? patched(*pod, request) : std::nullopt;
    if (effect.accepted && !next) {
        effect.accepted = false;
        effect.why = "422";
        refusal = status_of(422);
    } else if (effect.accepted) {
        // What changes nothing makes no version.
        const bool same = next->labels == pod->labels && next->annotations == pod->annotations;
        if (!same) pod = realm_->api.modify(*std::move(next));
    }
    answer_write(call, effect, pod, refusal, lose_reply);
}

/// A pod has a name, labels and annotations here; of the rest of its template nothing is kept.
/// nullopt: the server would not take it.
std::optional<Pod> ClusterPort::made_of(const ports::CreateObject& request) {
    world::Json json;
    const world::Node body = json.read(request.body);
    const world::KubeView seen(body);
    const bool fits = seen.kind() == "Pod" && seen.name() == request.name &&
                      seen.name_space() == request.resource.name_space;
    if (!fits || !world::at(body, "spec")) return std::nullopt;
    Pod pod;
    pod.name_space = request.resource.name_space;
    pod.name = request.name;
    pod.phase = "Pending";
    seen.each_label(
        [&](std::string_view key, std::string_view value) { pod.labels.emplace(key, value); });
    seen.each_annotation(
        [&](std::string_view key, std::string_view value) { pod.annotations.emplace(key, value); });
    return pod;
}

void ClusterPort::create(CallId call, const ports::CreateObject& request) {
    const Act act(*realm_);
    now_ = act.now();
    open_[call] = false;
    bool lose_reply = false;
    if (fails(call, Op::kDelete, lose_reply) || !served(call, request.resource)) return;
    Effect effect;
    effect.kind = Effect::Kind::kCreate;
    effect.wall_ms = act.wall_ms();
    effect.name = request.name;
    StatusObject refusal;
    std::optional<Pod> next = made_of(request);
    PodPtr pod;
    if (!next) {
        effect.why = "422";
        refusal = status_of(422);
    } else if (realm_->api.find({next->name_space, next->name})) {
        effect.why = "409 name";
        refusal = already_exists(request.name);
    } else {
        next->created_ms = act.wall_ms();
        pod = realm_->api.create(*std::move(next));
        effect.accepted = true;
        effect.uid = pod->uid;
    }
    answer_write(call, effect, pod, refusal, lose_reply);
}

void ClusterPort::answer_write(CallId call, const Effect& effect, const PodPtr& pod,
                               const StatusObject& refusal, bool lose_reply) {
    realm_->add_effect(effect);
    if (lose_reply) {
        fail(call, "operation timed out");
    } else if (effect.accepted) {
        answer(call, effect.kind == Effect::Kind::kCreate ? 201 : 200, pod_json(*pod, true));
    } else {
        answer(call, refusal);
    }
}

void ClusterPort::cancel(CallId call) {
    const Act act(*realm_);
    open_.erase(call);
    std::erase_if(watches_, [&](const Watch& watch) { return watch.call == call; });
    std::erase_if(outbox_, [&](const auto& entry) { return entry.second.call == call; });
}

std::optional<SteadyTime> ClusterPort::next_due() const {
    std::optional<SteadyTime> due = realm_->api.next_due();
    const auto sooner = [&](SteadyTime t) { due = due ? std::min(*due, t) : t; };
    if (!outbox_.empty()) sooner(outbox_.begin()->first);
    for (const Watch& watch : watches_) {
        if (realm_->watches_stalled) break;
        sooner(watch.deadline);
        if (watch.bookmarks) sooner(watch.next_bookmark);
        if (watch.last_bookmark) sooner(*watch.last_bookmark);
    }
    return due;
}

void ClusterPort::collect(const Act& act, std::vector<ClusterEvent>& out) {
    now_ = act.now();
    if (restarts_seen_ != realm_->cluster_restarts) {
        restarts_seen_ = realm_->cluster_restarts;
        watches_.clear();
        outbox_.clear();
        for (const auto& [call, watch] : open_) fail(call, "connection reset by peer");
    }
    std::erase_if(watches_, [&](Watch& watch) {
        realm_->mutex.assert_held();
        return !feed(watch, act);
    });
    while (!outbox_.empty() && outbox_.begin()->first <= now_) {
        ClusterEvent event = std::move(outbox_.begin()->second);
        outbox_.erase(outbox_.begin());
        const bool last =
            event.kind == ClusterEvent::Kind::kEnd || event.kind == ClusterEvent::Kind::kFailed;
        if (last) open_.erase(event.call);
        out.push_back(std::move(event));
    }
}

void ClusterPort::poll(Millis max_wait, std::vector<ClusterEvent>& out) {
    Act act(*realm_);
    const std::size_t before = out.size();
    collect(act, out);
    if (out.size() != before || max_wait.count() <= 0) return;
    act.wait(max_wait, next_due(), woken_);
    collect(act, out);
}

}  // namespace trueup::sandbox
