// What operators ask of the engine, over the topic `requests`, and what came of it.
#pragma once

#include "engine/base/time.h"
#include "engine/model/ids.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup {

enum class RequestKind : std::uint8_t {
    kUnspecified = 0,
    kApprove = 1,    ///< let what the findings of the scope propose go
    kDismiss = 2,    ///< end the findings of the scope without a command
    kHold = 3,       ///< nothing may happen to the subject
    kRelease = 4,    ///< ends a hold; of a source: believe its next epoch, however small
    kPause = 5,      ///< issue no command of the rule, or of any
    kResume = 6,     ///< ends a pause
    kRelist = 7,     ///< the source takes a complete snapshot soon
    kReconcile = 8,  ///< starts a pass over all subjects at once
    kTerminate =
        9,  ///< kRequest for `terminate` (G8), as it is said since before there were others
    kSourceHint = 10,  ///< a shard's to connectors: relist the source, or else heartbeat often
    /// An engine's word to executors: it started with the rule in a mode that does not act, or the
    /// rule means something else now, so what was ordered before is not to be carried out.
    kActivation = 11,
    kEnable = 12,   ///< the rules may act by themselves as long as they mean what was looked at
    kDisable = 13,  ///< the rules, or all, act on approval only from now on
    /// That the policy's rule with `requested: NAME` do what it does about the subject, if the one
    /// who asks may.
    kRequest = 14,
};

/// What a policy names its request by that RequestKind::kTerminate is for.
inline constexpr std::string_view kTerminateName = "terminate";

/// A rule, and what it means (engine/core/rule_text.h).
struct NamedRule {
    std::string rule;
    Hash128 text;  ///< none where it does not matter
    bool operator==(const NamedRule&) const = default;
};

/// What a request is about; an empty member narrows nothing.
struct RequestScope {
    std::string policy;
    std::string rule;
    std::string subject;
    std::string object_id;
    std::string source;
    std::string reason;  ///< its name: the findings that wait for it
    /// It is a word of the policy, where `uncorrelated_rows` is only what has this name there.
    /// False, in requests of earlier builds: it stands for the reasons of all counts.
    bool reason_of_policy = false;
    std::optional<FindingId> finding_id;
    /// What the operator had seen: a finding that changed after this journal offset is not meant.
    std::optional<Offset> finding_offset;
    bool operator==(const RequestScope&) const = default;
};

struct Request {
    RequestId id;
    RequestKind kind = RequestKind::kUnspecified;
    RequestScope scope;
    std::int64_t issued_ms = 0;  ///< by the clock of the one who asked
    std::string issued_by;
    std::string role;     ///< of the one who asked, as the API found it: `viewer`, `ops`, `admin`
    std::string comment;  ///< the operator's own words
    std::string name;     ///< of kRequest: which one of those that the policy has
    bool drop = false;    ///< of kDismiss: also what would leave an ending half done
    std::vector<NamedRule> rules;  ///< of kEnable and kDisable; of kDisable none: all
    /// Of kEnable, and of kApprove where `finding_offset` does not say it, by shard: the journal
    /// offset that was looked at; -1: that shard is not meant.
    std::vector<Offset> seen;
    bool operator==(const Request&) const = default;
};

/// Of kRequest and kTerminate: by which name a rule waits for it.
inline std::string_view asked_name(const Request& request) {
    return request.kind == RequestKind::kTerminate ? kTerminateName : request.name;
}

/// Up to which offset of this shard's journal the one who asks had looked; nullopt: it does not
/// say. What is enabled was looked at in each shard by itself.
inline std::optional<Offset> seen_in(const Request& request, PartitionNumber shard) {
    const bool approves = request.kind == RequestKind::kApprove;
    if (approves && request.scope.finding_offset) return request.scope.finding_offset;
    const auto index = static_cast<std::size_t>(shard.value());
    if (index >= request.seen.size() || request.seen[index] < kFirstOffset) return std::nullopt;
    return request.seen[index];
}

/// A request is taken when it arrives this soon after it was asked, by clocks that may differ as
/// much; who takes requests remembers their ids twice as long, so that none is taken twice.
inline constexpr Millis kTimely{300'000};
inline bool timely(const Request& request, BrokerTime arrived) {
    const Millis age = arrived - from_millis<BrokerTime>(request.issued_ms);
    return age <= kTimely && age >= -kTimely;
}

/// `approve`, `dismiss`, …
constexpr std::string_view name_of(RequestKind kind) {
    switch (kind) {
        case RequestKind::kApprove:
            return "approve";
        case RequestKind::kDismiss:
            return "dismiss";
        case RequestKind::kHold:
            return "hold";
        case RequestKind::kRelease:
            return "release";
        case RequestKind::kPause:
            return "pause";
        case RequestKind::kResume:
            return "resume";
        case RequestKind::kRelist:
            return "relist";
        case RequestKind::kReconcile:
            return "reconcile";
        case RequestKind::kTerminate:
            return kTerminateName;
        case RequestKind::kSourceHint:
            return "source_hint";
        case RequestKind::kActivation:
            return "activation";
        case RequestKind::kEnable:
            return "enable";
        case RequestKind::kDisable:
            return "disable";
        case RequestKind::kRequest:
            return "request";
        case RequestKind::kUnspecified:
            break;
    }
    return "unspecified";
}

}  // namespace trueup
