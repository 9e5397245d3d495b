#include "executors/brakes.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/codec/request_codec.h"

#include <algorithm>

namespace trueup::executors {

namespace {

constexpr std::size_t kReadBytes = 1U << 20U;

}  // namespace

Brakes::Brakes(ports::Log& log, const std::vector<std::int32_t>& partitions,
               const codec::KeyRing& keys)
    : log_(log), keys_(keys) {
    for (const std::int32_t partition : partitions) lanes_.push_back({partition});
}

bool Brakes::step() {
    trouble_.clear();
    bool moved = false;
    for (Lane& lane : lanes_) moved = read(lane) || moved;
    current_ = trouble_.empty();
    return moved;
}

bool Brakes::reach_end(std::int32_t partition) {
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
    }
}

void Brakes::take(Lane& lane, const ports::Record& record) const {
    if (!keys_.authentic(codec::kRequestSignature, record.value)) return;
    const Result<Request> read = codec::decode_request(record.value);
    if (!read || !timely(*read, record.append_time)) return;
    const Request& request = *read;
    std::erase_if(lane.seen,
                  [&](const auto& old) { return old.second < record.append_time - 2 * kTimely; });
    if (!lane.seen.emplace(request.id, record.append_time).second) return;
    const RequestScope& scope = request.scope;
    switch (request.kind) {
        case RequestKind::kPause:
        case RequestKind::kResume:
            return set(lane.pauses, scope.rule, request.kind == RequestKind::kPause, request,
                       record.append_time);
        case RequestKind::kHold:
        case RequestKind::kRelease:
            if (scope.subject.empty()) return;
            return set(lane.holds, scope.subject, request.kind == RequestKind::kHold, request,
                       record.append_time);
        default:
            return;
    }
}

void Brakes::set(Scopes& brakes, const std::string& scope, bool on, const Request& request,
                 BrokerTime at) {
    Brake& brake = brakes[scope];
    brake.on = on;
    if (!on) return;
    brake.since = at;
    brake.by = request.issued_by;
}

std::optional<std::string> Brakes::against(const Command& command, std::int32_t partition) const {
    if (!TRUEUP_GUARD("executor_follows_brakes")) return std::nullopt;
    const auto lane = std::find_if(lanes_.begin(), lanes_.end(),
                                   [&](const Lane& one) { return one.index == partition; });
    TRUEUP_CHECK(lane != lanes_.end());
    const auto objects = [&](const auto& brakes, std::string_view scope,
                             const char* what) -> std::optional<std::string> {
        const auto found = brakes.find(scope);
        if (found == brakes.end()) return std::nullopt;
        const Brake& brake = found->second;
        if (!brake.on && command.issued > brake.since) return std::nullopt;
        return std::string(brake.on ? "an operator's " : "ordered before an operator's ") + what +
               (brake.by.empty() ? std::string() : " (" + brake.by + ")");
    };
    if (auto why = objects(lane->pauses, "", "pause")) return why;
    if (auto why = objects(lane->pauses, command.rule, "pause of the rule")) return why;
    return objects(lane->holds, command.subject, "hold");
}

}  // namespace trueup::executors
