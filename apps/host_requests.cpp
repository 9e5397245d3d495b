// What operators ask a Host: to which shards it goes, and what they answered.
#include "apps/host.h"
#include "apps/keys.h"
#include "engine/codec/request_codec.h"
#include "engine/ports/clock.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace trueup::apps {

namespace {

constexpr std::size_t kMostAsked = 1'000;  // requests whose answers may be looked for

}  // namespace

/// The shards that a request goes to; completes its subject where only a finding was named.
Result<std::vector<std::int32_t>> Host::shards_of(Request& request) const {
    RequestScope& scope = request.scope;
    if (shards_.empty()) return Error{Next::kSkip, "no shard runs in this process; ask an engine"};
    const bool about_findings =
        request.kind == RequestKind::kApprove || request.kind == RequestKind::kDismiss;
    if (scope.subject.empty() && scope.finding_id && settings_.partitions > 1) {
        const auto finding = findings_.find(*scope.finding_id);
        if (finding) scope.subject = finding->subject;
    }
    if (scope.subject.empty() && about_findings && settings_.partitions > 1) {
        return Error{Next::kSkip,
                     "each of several shards has a journal of its own, so that one offset does not "
                     "say what was seen: name the findings, one by one"};
    }
    std::vector<std::int32_t> all(static_cast<std::size_t>(settings_.partitions));
    std::iota(all.begin(), all.end(), 0);
    // A brake or a pass is for all, also for those that other engines run.
    if (scope.subject.empty()) return all;
    const std::int32_t home = partition_of(scope.subject, settings_.partitions);
    if (runs(home) || request.kind == RequestKind::kHold) return std::vector{home};
    return Error{Next::kSkip, scope.subject + " belongs to shard " + std::to_string(home) +
                                  ", which this engine does not run; ask the one that does"};
}

bool Host::runs(std::int32_t shard) const {
    return std::any_of(shards_.begin(), shards_.end(),
                       [&](const auto& one) { return one->index() == shard; });
}

Result<Hash128> Host::ask(Request request) {
    const Result<std::vector<std::int32_t>> shards = shards_of(request);
    if (!shards) return shards.error();
    request.id = hash128(random_hex(16));
    request.issued_ms = ports::system_clock().wall_millis();
    std::string bytes = codec::encode_request(request);
    request_keys_.sign(codec::kRequestSignature, bytes);
    {
        const std::lock_guard lock(mutex_);
        asked_[request.id] = static_cast<std::size_t>(
            std::count_if(shards->begin(), shards->end(), [this](auto one) { return runs(one); }));
        if (asked_.size() > kMostAsked) asked_.erase(asked_.begin());
    }
    for (const std::int32_t shard : *shards) {
        std::vector<ports::Entry> entries;
        entries.push_back({request.scope.subject, bytes, {}});
        const auto appended = ports::append_now(*log_, {Topic::kRequests, shard}, entries);
        if (!appended) return appended.error();
    }
    return request.id;
}

/// Of all shards that were asked: the first refusal, else the last word.
std::optional<api::AnswerView> Host::answer(const Hash128& id) const {
    std::optional<api::AnswerView> all;
    std::size_t count = 0;
    for (const auto& shard : shards_) {
        for (const core::Answered& answered : shard->status().meta.answered) {
            if (answered.id != id) continue;
            ++count;
            if (all && !all->granted) continue;
            all = api::AnswerView{answered.kind, answered.granted, answered.by, answered.sentence};
        }
    }
    // A request for one subject has one answer, one for every shard as many.
    const std::lock_guard lock(mutex_);
    const auto asked = asked_.find(id);
    if (asked != asked_.end() && count < asked->second) return std::nullopt;
    return all;
}

}  // namespace trueup::apps
