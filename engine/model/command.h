// A command: one idempotent instruction to an executor, and the outcome that ends it.
#pragma once

#include "engine/base/time.h"
#include "engine/model/ids.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup {

/// One predicate of a command's read set: what the rule relied on. The executor evaluates the whole
/// set over fresh reads before it writes, and judges nothing itself.
struct Predicate {
    enum class Kind : std::uint8_t {
        kUnspecified = 0,
        kExists = 1,  ///< the object of `source` is still there under this very object_id
        kNone = 2,    ///< `source` has no object whose `field` equals `value`
        kField = 3,   ///< `field` of the object equals `value` (nullopt: is null)
        kNoVeto = 4,  ///< nobody put a hold on the object
        /// `source` has no object whose `field` equals `value` but the one of this object_id, and a
        /// pod of that id is being deleted: what came under the name meanwhile is another one's.
        kNoneBut = 5,
        /// `source` has no object whose `field` equals `value` but that of this object_id and
        /// `besides`, whatever becomes of them. Of objects of a cluster that have a label in
        /// common.
        kOnly = 6,
        /// Whoever looks knows `source` by the mapping `value` (SourceSettings::mapping, 16 hex
        /// digits): by another one it would ask by another key.
        kReadBy = 7,
    };
    Kind kind = Kind::kUnspecified;
    std::string source;
    std::string object_id;
    std::string field;
    std::optional<std::string> value;
    /// Of kNoneBut and kOnly: further objects that may have it, too, as they were known to.
    std::vector<std::string> besides = {};
    bool operator==(const Predicate&) const = default;
};

/// The object that a command touches, exactly: an identity, never only a name.
struct Target {
    std::string source;
    std::string object_id;  ///< pod uid; `<schema.table>/<pk>`; of what is to be made its key
    std::string name;
    std::string name_space;
    bool operator==(const Target&) const = default;
};

/// One column that a command sets, or one place in an object of Kubernetes.
struct Assignment {
    /// Of an object: the path (field_path.h), whatever a policy calls it; of one that is created a
    /// field at the top, as `spec`.
    std::string column;
    std::optional<std::string> value;
    /// `value` is the time at which the command is issued, and kNow until it is. A row that has any
    /// value there needs no other.
    bool now = false;
    /// Of an object: `value` is a number or a boolean, and written without quotes; of one that is
    /// created it is JSON.
    bool bare = false;
    bool operator==(const Assignment&) const = default;
};

/// Of a draft: the moment at which its command is issued.
inline constexpr std::string_view kNow = "{now}";

struct Action {
    enum class Kind : std::uint8_t {
        kUnspecified = 0,
        kDeletePod = 1,      ///< grace_seconds
        kUpdateRow = 2,      ///< sets
        kVerifyGone = 3,     ///< asks the world for the target itself: done means that it is gone
        kCreatePod = 4,      ///< the target's name; what it is made from is in the read set
        kCreateObject = 5,   ///< sets, of an object that there is none of, as JSON
        kDeleteObject = 6,   ///< a custom resource, by its uid
        kRetractRecord = 7,  ///< a record that Trueup made, never what it stands for
        kUpdateObject = 9,   ///< sets, of a pod or another object
        kUpdateStatus = 10,  ///< the same by the object's subresource `status`
        kInsertRow = 11,     ///< sets, of a row that there is none of; the target's name is its key
    };
    Kind kind = Kind::kUnspecified;
    /// Of kDeletePod: what the pod is given to end; nullopt: its own terminationGracePeriodSeconds.
    std::optional<std::uint32_t> grace_seconds;
    std::vector<Assignment> sets;
    /// Of kDeleteObject: what becomes of what it owns, as Kubernetes says it; empty: `background`.
    std::string propagation = {};
    bool operator==(const Action&) const = default;
};

/// What a rule wants done; the fold adds identity, clock and evidence.
struct CommandDraft {
    Target target;
    Action action;
    std::vector<Predicate> read_set;
    bool operator==(const CommandDraft&) const = default;
};

struct Command {
    CommandId id;  ///< depends on nothing but the journal (core/command_id.h)
    std::string policy;
    std::string rule;
    FindingId finding_id;
    std::string subject;
    CommandDraft draft;
    BrokerTime issued{};
    BrokerTime not_after{};        ///< executors refuse it later than this
    std::vector<Offset> evidence;  ///< journal offsets, ascending
    std::uint32_t emission = 1;    ///< 1 for the first time, then one more each time
    bool operator==(const Command&) const = default;
};

enum class OutcomeKind : std::uint8_t {
    kUnspecified = 0,
    kDone = 1,
    kAlreadyDone = 2,
    kRefused = 3,  ///< a precondition did not hold; nothing was written
    kFailed = 4,   ///< `retryable` says whether another try may help
    kExpired = 5,
};

struct Outcome {
    CommandId command_id;
    std::string subject;
    OutcomeKind kind = OutcomeKind::kUnspecified;
    /// Of kFailed: another try may help. Of kRefused: it was an operator's word that refused, not a
    /// look at the world. Every outcome ends its id; after a retryable failure the same is ordered
    /// again under another.
    bool retryable = false;
    std::string detail;  ///< one sentence; names the predicate that did not hold
    std::string executor;
    std::int64_t check_to_write_micros = 0;
    bool operator==(const Outcome&) const = default;

    bool final() const { return kind != OutcomeKind::kFailed || !retryable; }
};

/// `done`, `already_done`, …
constexpr std::string_view name_of(OutcomeKind kind) {
    switch (kind) {
        case OutcomeKind::kDone:
            return "done";
        case OutcomeKind::kAlreadyDone:
            return "already_done";
        case OutcomeKind::kRefused:
            return "refused";
        case OutcomeKind::kFailed:
            return "failed";
        case OutcomeKind::kExpired:
            return "expired";
        case OutcomeKind::kUnspecified:
            break;
    }
    return "unspecified";
}
struct ActionLine {
    Action::Kind kind;
    std::string_view name;
};
inline constexpr std::array<ActionLine, 10> kActions{{
    {Action::Kind::kDeletePod, "delete_pod"},
    {Action::Kind::kUpdateRow, "update_row"},
    {Action::Kind::kVerifyGone, "verify_gone"},
    {Action::Kind::kCreatePod, "create_pod"},
    {Action::Kind::kCreateObject, "create_object"},
    {Action::Kind::kDeleteObject, "delete_object"},
    {Action::Kind::kRetractRecord, "retract_record"},
    {Action::Kind::kUpdateObject, "update_object"},
    {Action::Kind::kUpdateStatus, "update_status"},
    {Action::Kind::kInsertRow, "insert_row"},
}};

/// `delete_pod`, `update_row`, …
constexpr std::string_view name_of(Action::Kind kind) {
    for (const ActionLine& line : kActions) {
        if (line.kind == kind) return line.name;
    }
    return "unspecified";
}

/// The other way round; kUnspecified: nothing is called that.
constexpr Action::Kind action_of(std::string_view name) {
    for (const ActionLine& line : kActions) {
        if (line.name == name) return line.kind;
    }
    return Action::Kind::kUnspecified;
}

/// Does it set fields of what is there?
constexpr bool updates(Action::Kind kind) {
    return kind == Action::Kind::kUpdateRow || kind == Action::Kind::kUpdateObject ||
           kind == Action::Kind::kUpdateStatus;
}

/// Does it make what must not be there yet?
constexpr bool makes(Action::Kind kind) {
    return kind == Action::Kind::kInsertRow || kind == Action::Kind::kCreateObject;
}

}  // namespace trueup
