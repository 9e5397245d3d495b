#include "executors/brakes.h"

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
    for (const std::int32_t partition : partitions) lanes_.push_back({partition, std::nullopt});
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
            lane.next.reset();
            pauses_.clear();
            holds_.clear();
            seen_.clear();
            return moved;
        }
        lane.next = fetched->next_offset;
        if (fetched->records.empty()) return moved;
        for (const ports::Record& record : fetched->records) take(record);
    }
}

void Brakes::take(const ports::Record& record) {
    if (!keys_.authentic(codec::kRequestSignature, record.value)) return;
    const Result<Request> read = codec::decode_request(record.value);
    if (!read || !timely(*read, record.append_time)) return;
    const Request& request = *read;
    for (auto old = seen_.begin(); old != seen_.end();) {
        old = old->second < record.append_time - 2 * kTimely ? seen_.erase(old) : std::next(old);
    }
    if (!seen_.emplace(request.id, record.append_time).second) return;
    const RequestScope& scope = request.scope;
    switch (request.kind) {
        case RequestKind::kPause:
        case RequestKind::kResume:
            return set(pauses_, scope.rule, request.kind == RequestKind::kPause, request,
                       record.append_time);
        case RequestKind::kHold:
        case RequestKind::kRelease:
            if (scope.subject.empty()) return;
            return set(holds_, scope.subject, request.kind == RequestKind::kHold, request,
                       record.append_time);
        default:
            return;
    }
}

void Brakes::set(std::map<std::string, Brake, std::less<>>& brakes, const std::string& scope,
                 bool on, const Request& request, BrokerTime at) {
    Brake& brake = brakes[scope];
    brake.on = on;
    if (!on) return;
    brake.since = at;
    brake.by = request.issued_by;
}

std::optional<std::string> Brakes::against(const Command& command) const {
    if (!TRUEUP_GUARD("executor_follows_brakes")) return std::nullopt;
    const auto objects = [&](const auto& brakes, std::string_view scope,
                             const char* what) -> std::optional<std::string> {
        const auto found = brakes.find(scope);
        if (found == brakes.end()) return std::nullopt;
        const Brake& brake = found->second;
        if (!brake.on && command.issued > brake.since) return std::nullopt;
        return std::string(brake.on ? "an operator's " : "ordered before an operator's ") + what +
               (brake.by.empty() ? std::string() : " (" + brake.by + ")");
    };
    if (auto why = objects(pauses_, "", "pause")) return why;
    if (auto why = objects(pauses_, command.rule, "pause of the rule")) return why;
    return objects(holds_, command.subject, "hold");
}

}  // namespace trueup::executors
