// What operators ask a Host: to which shards it goes, and what they answered; and what a Host says
// to executors by itself.
#include "apps/events.h"
#include "apps/host.h"
#include "apps/keys.h"
#include "apps/retry.h"
#include "engine/codec/request_codec.h"
#include "engine/core/rule_text.h"
#include "engine/model/intake.h"
#include "engine/ports/clock.h"

#include <algorithm>
#include <utility>

namespace trueup::apps {

namespace {

constexpr std::size_t kMostAsked = 1'000;  // requests whose answers may be looked for

}  // namespace

/// The shards that a request goes to; completes its subject where only a finding was named.
Result<std::vector<PartitionNumber>> Host::shards_of(Request& request) const {
    RequestScope& scope = request.scope;
    if (shards_.empty()) {
        return Error{Next::kSkip, Code::kNotFound, "this process runs no shard; ask an engine"};
    }
    const bool about_findings =
        request.kind == RequestKind::kApprove || request.kind == RequestKind::kDismiss;
    if (scope.subject.empty() && scope.finding_id) {
        const auto finding = findings_.find(*scope.finding_id);
        // Without a subject it would be a word on all that wait.
        if (!finding) {
            return Error{Next::kSkip, Code::kNotFound,
                         "no open finding has this id; it may be over already"};
        }
        scope.subject = finding->subject;
    }
    const bool by_shard = request.kind == RequestKind::kApprove && !request.seen.empty();
    const bool of_all = request.seen.size() == static_cast<std::size_t>(settings_.partitions);
    const bool misses = by_shard ? !of_all : settings_.partitions > 1;
    if (scope.subject.empty() && about_findings && misses) {
        return Error{Next::kSkip, Code::kInvalid,
                     "what you saw is said by one journal offset for each shard, of which there "
                     "are " +
                         std::to_string(settings_.partitions) +
                         ", as `trueup findings list` ends with them; or name the findings one by "
                         "one"};
    }
    std::vector<PartitionNumber> all;
    all.reserve(static_cast<std::size_t>(settings_.partitions));
    for (std::int32_t i = 0; i < settings_.partitions; ++i) all.emplace_back(i);
    // What was looked at was looked at here.
    if (request.kind == RequestKind::kEnable) {
        std::vector<PartitionNumber> ours;
        for (const auto& shard : shards_) ours.push_back(shard->index());
        return ours;
    }
    if (scope.subject.empty() && by_shard) return looked_at(request);
    // A brake or a pass is for all, also for those that other engines run.
    if (scope.subject.empty()) return all;
    const PartitionNumber home = partition_of(scope.subject, settings_.partitions);
    if (runs(home) || request.kind == RequestKind::kHold) return std::vector{home};
    return Error{Next::kSkip, Code::kNotFound,
                 scope.subject + " belongs to shard " + std::to_string(home.value()) +
                     ", which this engine does not run; ask the one that does"};
}

/// Those of whose journals the request says what was seen; refused as a whole where that cannot be.
Result<std::vector<PartitionNumber>> Host::looked_at(const Request& request) const {
    std::vector<PartitionNumber> all;
    for (std::size_t i = 0; i < request.seen.size(); ++i) {
        if (request.seen[i] >= kFirstOffset) all.emplace_back(static_cast<std::int32_t>(i));
    }
    if (all.empty()) {
        return Error{
            Next::kSkip, Code::kInvalid,
            "an approval must name the journal offset that you saw, of one shard at least"};
    }
    // What is shown may be a little ahead of what a shard says of itself.
    const std::vector<Offset> shown = findings_.list({.limit = 0}).seen;
    for (const PartitionNumber shard : all) {
        const auto index = static_cast<std::size_t>(shard.value());
        const auto ours = std::find_if(shards_.begin(), shards_.end(),
                                       [&](const auto& one) { return one->index() == shard; });
        if (ours == shards_.end()) {
            return Error{Next::kSkip, Code::kNotFound,
                         "this engine does not run shard " + std::to_string(index) +
                             "; ask the one that does, and write - for it here"};
        }
        const Offset end = std::max((*ours)->status().meta.applied,
                                    index < shown.size() ? shown[index] : kNoOffset);
        if (request.seen[index] <= end) continue;
        return Error{Next::kSkip, Code::kInvalid,
                     "journal offset " + std::to_string(request.seen[index].value()) +
                         " of shard " + std::to_string(index) + " lies beyond the journal's end (" +
                         std::to_string(end.value()) + "): it does not exist yet"};
    }
    return all;
}

bool Host::runs(PartitionNumber shard) const {
    return std::any_of(shards_.begin(), shards_.end(),
                       [&](const auto& one) { return one->index() == shard; });
}

std::string Host::signed_bytes(const Request& request) const {
    std::string bytes = codec::encode_request(request);
    request_keys_.sign(codec::kRequestSignature, bytes);
    return bytes;
}

/// What the time is where requests arrive. The log of a single process never goes back, so a clock
/// that leapt ahead and was set right is behind it for as long as it leapt.
std::int64_t Host::log_millis() const {
    std::int64_t now = ports::system_clock().wall_millis();
    if (!settings_.alone) return now;
    for (const auto& shard : shards_) {
        now = std::max(now, to_millis(shard->status().meta.broker_now));
    }
    return now;
}

std::optional<std::string> Host::too_much(const Request& request) const {
    for (const auto& shard : shards_) {
        const core::Meta meta = shard->status().meta;
        if (too_many(meta.answered, request, meta.broker_now)) {
            return too_many_sentence(request.issued_by);
        }
        const bool holds =
            request.kind == RequestKind::kHold &&
            partition_of(request.scope.subject, settings_.partitions) == shard->index();
        if (holds && meta.holds >= kMostHolds) return too_many_holds_sentence();
    }
    return std::nullopt;
}

/// What executors are told of rules under which nothing is to be done that was ordered before.
std::vector<ports::Entry> Host::said_of(const std::set<std::string>& stopped,
                                        PartitionNumber shard) const {
    std::vector<ports::Entry> entries;
    for (const std::string& rule : stopped) {
        Request said;
        said.id = RequestId(hash128(random_hex(16)));
        said.kind = RequestKind::kActivation;
        said.scope.policy = settings_.policy.policy;
        said.scope.rule = rule;
        said.issued_ms = log_millis();
        said.issued_by = "shard " + std::to_string(shard.value());
        entries.push_back({"!activation", signed_bytes(said), {}});
    }
    return entries;
}

/// What was ordered while a rule still acted, or meant something else, must not be done once it
/// observes, is off, left the policy or means this. Said at each start, by the rows; the journal
/// may be ahead of them, so that it is said again where other settings come in force
/// (say_in_force).
Status Host::say_what_does_not_act() {
    if (!settings_.lead) return Done{};
    for (const auto& shard : shards_) {
        const std::vector<ports::Entry> entries = said_of(
            core::stopped_rules(shard->status().meta.settings, settings_.policy), shard->index());
        if (entries.empty()) continue;
        const auto appended = attempt_until_answered(
            [&] {
                return ports::append_now(*log_, {Topic::kRequests, shard->index()}, entries);
            },
            waiting());
        if (!appended) return appended.error();
    }
    return Done{};
}

/// Another engine may have ordered by the former ones for as long as it led.
bool Host::say_in_force(PartitionNumber shard, const Settings& before, const Settings& now) {
    const std::vector<ports::Entry> entries = said_of(core::stopped_rules(before, now), shard);
    if (entries.empty()) return true;
    return ports::append_now(*log_, {Topic::kRequests, shard}, entries).ok();
}

Result<RequestId> Host::ask(Request request) {
    const Result<std::vector<PartitionNumber>> shards = shards_of(request);
    if (!shards) return shards.error();
    if (request.id == RequestId{}) request.id = RequestId(hash128(random_hex(16)));
    request.issued_ms = log_millis();
    const std::string bytes = signed_bytes(request);
    {
        const MutexLock lock(mutex_);
        asked_[request.id] = static_cast<std::size_t>(
            std::count_if(shards->begin(), shards->end(), [this](auto one) { return runs(one); }));
        if (asked_.size() > kMostAsked) asked_.erase(asked_.begin());
    }
    log_request(request, policy());  // before: where the log fails half-way, some shards follow it
    for (const PartitionNumber shard : *shards) {
        std::vector<ports::Entry> entries;
        entries.push_back({request.scope.subject, bytes, {}});
        const auto appended = ports::append_now(*log_, {Topic::kRequests, shard}, entries);
        if (!appended) return appended.error();
    }
    return request.id;
}

/// Of all shards that were asked: the first refusal, else the last word.
api::Answers Host::answer(const RequestId& id) const {
    api::Answers all;
    std::size_t count = 0;
    for (const auto& shard : shards_) {
        for (const core::Answered& answered : shard->status().meta.answered) {
            if (answered.id != id) continue;
            ++count;
            if (all.word && !all.word->granted) continue;
            all.word =
                api::AnswerView{answered.kind, answered.granted, answered.by, answered.sentence};
        }
    }
    // A request for one subject has one answer, one for every shard as many.
    const MutexLock lock(mutex_);
    const auto asked = asked_.find(id);
    all.pending = asked != asked_.end() && count < asked->second;
    return all;
}

}  // namespace trueup::apps
