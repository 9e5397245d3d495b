#include "sandbox/api_server.h"

#include "engine/base/check.h"
#include "engine/base/hash.h"

#include <algorithm>

namespace trueup::sandbox {

namespace {

constexpr std::uint64_t kBump = 1'000'000;

ApiServer::Key key_of(const Pod& pod) { return {pod.name_space, pod.name}; }

bool finished(const Pod& pod) { return pod.phase == "Succeeded" || pod.phase == "Failed"; }

}  // namespace

PodPtr ApiServer::find(const Key& key) const {
    const auto found = pods_.find(key);
    return found == pods_.end() ? nullptr : found->second;
}

std::vector<PodPtr> ApiServer::as_of(std::uint64_t resource_version) const {
    TRUEUP_CHECK(resource_version >= oldest_ && resource_version <= newest_);
    // Undo, from the newest event back; null is "was not there".
    std::map<Key, PodPtr> then;
    for (auto event = history_.rbegin(); event != history_.rend(); ++event) {
        if (event->resource_version <= resource_version) break;
        then[key_of(event->subject())] = event->before;
    }
    std::vector<PodPtr> all;
    all.reserve(pods_.size());
    auto old = then.begin();
    for (const auto& [key, pod] : pods_) {
        for (; old != then.end() && old->first < key; ++old) {
            if (old->second) all.push_back(old->second);
        }
        if (old == then.end() || old->first != key) all.push_back(pod);
    }
    for (; old != then.end(); ++old) {
        if (old->second) all.push_back(old->second);
    }
    return all;
}

std::string ApiServer::next_uid() {
    std::string hex = to_hex(hash128("uid " + std::to_string(created_), seed_));
    hex[12] = '4';  // version 4, variant 1, as Kubernetes has them
    hex[16] = 'a';
    for (const std::size_t at :
         {std::size_t{20}, std::size_t{16}, std::size_t{12}, std::size_t{8}}) {
        hex.insert(at, 1, '-');
    }
    return hex;
}

PodPtr ApiServer::create(Pod pod) {
    TRUEUP_CHECK(find(key_of(pod)) == nullptr);
    pod.uid = next_uid();
    pod.resource_version = newest_ + 1;
    auto stored = std::make_shared<const Pod>(std::move(pod));
    commit({stored->resource_version, nullptr, stored});
    return stored;
}

PodPtr ApiServer::modify(Pod next) {
    PodPtr before = find(key_of(next));
    TRUEUP_CHECK(before != nullptr && before->uid == next.uid);
    next.resource_version = newest_ + 1;
    auto stored = std::make_shared<const Pod>(std::move(next));
    commit({stored->resource_version, std::move(before), stored});
    const bool kubelet_done = stored->deletion_ms && stored->grace_seconds == 0;
    if (kubelet_done && stored->finalizers.empty()) remove(key_of(*stored));
    return stored;
}

void ApiServer::remove(const Key& key) {
    PodPtr before = find(key);
    TRUEUP_CHECK(before != nullptr);
    commit({newest_ + 1, std::move(before), nullptr});
}

PodPtr ApiServer::begin_deletion(const Key& key, std::int64_t grace_seconds, SteadyTime now,
                                 std::int64_t wall_ms) {
    PodPtr pod = find(key);
    TRUEUP_CHECK(pod != nullptr);
    if (pod->node.empty() || finished(*pod)) grace_seconds = 0;
    if (pod->deletion_ms && (grace_seconds > 0 || pod->grace_seconds == 0)) return pod;
    if (grace_seconds == 0 && pod->finalizers.empty()) {
        remove(key);
        return pod;
    }
    Pod next = *pod;
    next.deletion_ms = wall_ms + grace_seconds * 1000;
    next.grace_seconds = grace_seconds;
    PodPtr stored = modify(std::move(next));
    if (grace_seconds > 0) expect_end(*stored, now);
    return stored;
}

void ApiServer::expect_end(const Pod& pod, SteadyTime now) {
    const Millis takes = std::min(settings_.termination_time, Millis(pod.grace_seconds * 1000));
    terminating_[{now + takes, pod.resource_version}] = std::make_shared<const Pod>(pod);
}

void ApiServer::settle(SteadyTime now) {
    while (!terminating_.empty() && terminating_.begin()->first.first <= now) {
        const PodPtr expected = terminating_.begin()->second;
        terminating_.erase(terminating_.begin());
        const PodPtr pod = find(key_of(*expected));
        if (!pod || pod->uid != expected->uid || pod->grace_seconds == 0) continue;
        Pod next = *pod;
        next.grace_seconds = 0;
        modify(std::move(next));
    }
}

std::optional<SteadyTime> ApiServer::next_due() const {
    if (terminating_.empty()) return std::nullopt;
    return terminating_.begin()->first.first;
}

void ApiServer::compact() {
    const ClusterMark mark{newest_, newest_};
    apply(mark);
    records_.emplace_back(mark);
}

void ApiServer::write_elsewhere() {
    const ClusterMark mark{newest_ + 1, oldest_};
    apply(mark);
    records_.emplace_back(mark);
}

void ApiServer::restore(std::uint64_t writes, bool bumped, SteadyTime now) {
    const std::uint64_t backup = newest_ - std::min(writes, newest_ - oldest_);
    std::map<Key, PodPtr> then;
    for (const PodPtr& pod : as_of(backup)) then.emplace(key_of(*pod), pod);
    for (const auto& [key, pod] : pods_) {
        if (then.count(key) == 0) records_.emplace_back(PodEvent{backup, pod, nullptr});
    }
    for (const auto& [key, pod] : then) {
        const PodPtr before = find(key);
        if (before != pod) records_.emplace_back(PodEvent{backup, before, pod});
    }
    pods_ = std::move(then);
    if (bumped) {
        newest_ = oldest_ = newest_ + kBump;
        history_.clear();
    } else {
        newest_ = backup;
        while (!history_.empty() && history_.back().resource_version > backup) history_.pop_back();
    }
    terminating_.clear();
    resume(now);
}

void ApiServer::commit(PodEvent event) {
    apply(event);
    records_.emplace_back(std::move(event));
}

void ApiServer::apply(const PodEvent& event) {
    PodEvent known = event;
    const Key key = key_of(event.subject());
    known.before = find(key);
    if (!known.before && !known.after) return;
    if (!known.before) ++created_;
    if (known.after) {
        pods_[key] = known.after;
    } else {
        pods_.erase(key);
    }
    newest_ = event.resource_version;
    history_.push_back(std::move(known));
    while (history_.size() > settings_.watch_window) {
        oldest_ = history_.front().resource_version;
        history_.pop_front();
    }
}

void ApiServer::apply(const ClusterMark& mark) {
    newest_ = mark.newest;
    oldest_ = std::max(oldest_, mark.oldest);
    while (!history_.empty() && history_.front().resource_version <= oldest_) {
        history_.pop_front();
    }
}

void ApiServer::resume(SteadyTime now) {
    for (const auto& [key, pod] : pods_) {
        if (pod->deletion_ms && pod->grace_seconds > 0) expect_end(*pod, now);
    }
}

}  // namespace trueup::sandbox
