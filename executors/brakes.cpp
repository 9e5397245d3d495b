#include "executors/brakes.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/codec/request_codec.h"

#include <algorithm>
#include <chrono>
#include <tuple>

namespace trueup::executors {

namespace {

constexpr std::size_t kReadBytes = 1U << 20U;
/// No command lives this long (DispatcherSettings::longest_expiry): what ended before binds none.
constexpr Millis kOutlived = std::chrono::hours(24);

}  // namespace

Brakes::Brakes(ports::Log& log, const std::vector<PartitionNumber>& partitions,
               const codec::KeyRing& keys)
    : log_(log), keys_(keys) {
    for (const PartitionNumber partition : partitions) lanes_.push_back({partition});
}

bool Brakes::step() {
    trouble_.clear();
    bool moved = false;
    for (Lane& lane : lanes_) moved = read(lane) || moved;
    current_ = trouble_.empty();
    return moved;
}

bool Brakes::reach_end(PartitionNumber partition) {
    for (Lane& lane : lanes_) {
        if (lane.index != partition) continue;
        const auto extent = log_.describe({Topic::kRequests, partition});
        if (!extent) {
            trouble_ = "requests: " + extent.error().what;
            return false;
        }
        trouble_.clear();
        read(lane);
        if (!trouble_.empty()) current_ = false;
        return lane.next && *lane.next >= extent->next_offset;
    }
    return false;
}

bool Brakes::read(Lane& lane) {
    const ports::Partition partition{Topic::kRequests, lane.index};
    if (!lane.next) {
        const auto extent = log_.describe(partition);
        if (!extent) {
            trouble_ = "requests: " + extent.error().what;
            return false;
        }
        lane.next = extent->first_offset;
    }
    for (bool moved = false;; moved = true) {
        if (!log_.may_have(partition, *lane.next)) return moved;
        const auto fetched = log_.read(partition, *lane.next, kReadBytes);
        if (!fetched) {
            trouble_ = "requests: " + fetched.error().what;
            // What retention took is older than any command: from the start once more.
            lane = {lane.index};
            return moved;
        }
        lane.next = fetched->next_offset;
        if (fetched->records.empty()) return moved;
        for (const ports::Record& record : fetched->records) take(lane, record);
        forget_outlived(lane, fetched->records.back().append_time);
    }
}

void Brakes::take(Lane& lane, const ports::Record& record) const {
    if (!keys_.authentic(codec::kRequestSignature, record.value)) return;
    const Result<Request> read = codec::decode_request(record.value);
    if (!read || read->kind == RequestKind::kSourceHint) return;
    const Request& request = *read;
    if (request.kind == RequestKind::kActivation) {
        lane.turns[{request.scope.policy, request.scope.rule}] = record.append_time;
        return;
    }
    if (came_before(lane.seen, request, record.append_time)) return;
    const bool crowded = too_many(lane.seen, request, record.append_time);
    make_room(lane.seen, record.append_time);
    lane.seen.push_back({request.id, request.kind, record.append_time, request.issued_by});
    if (crowded || !(only_restricts(request.kind) || timely(request, record.append_time))) return;
    const RequestScope& scope = request.scope;
    switch (request.kind) {
        case RequestKind::kPause:
        case RequestKind::kResume:
            return set(lane.pauses[{scope.policy, scope.rule}], request.kind == RequestKind::kPause,
                       lane, request, record.append_time);
        case RequestKind::kHold:
            return hold(lane, request, record.append_time);
        case RequestKind::kRelease:
            if (scope.source.empty()) hold(lane, request, record.append_time);
            return;
        case RequestKind::kEnable:
        case RequestKind::kDisable:
            return turn(lane, request, record.append_time);
        default:
            return;
    }
}

void Brakes::turn(Lane& lane, const Request& request, BrokerTime at) {
    const std::string& policy = request.scope.policy;
    for (const NamedRule& named : request.rules) lane.turns[{policy, named.rule}] = at;
    const bool of_all = request.kind == RequestKind::kDisable && request.rules.empty();
    if (of_all) lane.turns[{policy, {}}] = at;
}

void Brakes::hold(Lane& lane, const Request& request, BrokerTime at) {
    const std::string& subject = request.scope.subject;
    if (!names_subject(subject)) return;
    const std::string policy = subject.substr(0, subject.find('/'));
    if (!request.scope.policy.empty() && request.scope.policy != policy) return;
    const bool on = request.kind == RequestKind::kHold;
    const auto known = lane.holds.find(subject);
    const bool held = known != lane.holds.end() && known->second.on;
    if (!on && !held) return;
    std::size_t& count = lane.held[policy];
    if (on && !held && count >= kMostHolds) return;
    if (on != held) count = on ? count + 1 : count - 1;
    set(lane.holds[subject], on, lane, request, at);
}

void Brakes::set(Brake& brake, bool on, Lane& lane, const Request& request, BrokerTime at) {
    brake.on = on;
    brake.word = ++lane.words;
    if (!on) return;
    brake.since = at;
    brake.by = request.issued_by;
}

/// What is over, and older than any command.
void Brakes::forget_outlived(Lane& lane, BrokerTime now) {
    const BrokerTime outlived = now - kOutlived;
    std::erase_if(lane.holds,
                  [&](const auto& one) { return !one.second.on && one.second.since < outlived; });
    std::erase_if(lane.turns, [&](const auto& one) { return one.second < outlived; });
}

std::optional<std::string> Brakes::against(const Command& command,
                                           PartitionNumber partition) const {
    if (!TRUEUP_GUARD("executor_follows_brakes")) return std::nullopt;
    const auto lane = std::find_if(lanes_.begin(), lanes_.end(),
                                   [&](const Lane& one) { return one.index == partition; });
    TRUEUP_CHECK(lane != lanes_.end());
    const auto objects = [&](const Brake& brake, const char* what) -> std::optional<std::string> {
        if (!brake.on && command.issued > brake.since) return std::nullopt;
        return std::string(brake.on ? "an operator's " : "ordered before an operator's ") + what +
               (brake.by.empty() ? std::string() : " (" + brake.by + ")");
    };
    for (const std::string& rule : {std::string(), command.rule}) {
        // What was said of this policy and what was said of any are one row of words.
        Brake last;
        for (const std::string& policy : {std::string(), command.policy}) {
            const Rules rules{policy, rule};
            const auto turned = lane->turns.find(rules);
            if (turned != lane->turns.end() && command.issued <= turned->second) {
                return "ordered before the rule was enabled, disabled, changed or set to observe";
            }
            const auto found = lane->pauses.find(rules);
            if (found == lane->pauses.end()) continue;
            const Brake& said = found->second;
            if (said.since > last.since)
                std::tie(last.since, last.by) = std::tie(said.since, said.by);
            if (said.word > last.word) std::tie(last.word, last.on) = std::tie(said.word, said.on);
        }
        if (last.word == 0) continue;
        if (auto why = objects(last, rule.empty() ? "pause" : "pause of the rule")) return why;
    }
    const auto held = lane->holds.find(command.subject);
    return held == lane->holds.end() ? std::nullopt : objects(held->second, "hold");
}

}  // namespace trueup::executors
