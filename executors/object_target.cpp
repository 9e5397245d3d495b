#include "executors/object_target.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/world/kube.h"

#include <utility>

namespace trueup::executors {

bool ObjectTarget::is_pod() const {
    return source_.resource.api_path == "/api/v1" && source_.resource.plural == "pods";
}

namespace {

policy::FieldPath annotation(std::string_view key) {
    const std::string at = "annotation." + std::string(key);
    Result<policy::FieldPath> path = policy::FieldPath::parse(at, at);
    TRUEUP_CHECK(path.ok());
    return *std::move(path);
}

}  // namespace

const policy::FieldPath& ObjectTarget::made_by() {
    static const policy::FieldPath kPath = annotation(world::kMadeBy);
    return kPath;
}

const policy::FieldPath& ObjectTarget::made_as() {
    static const policy::FieldPath kPath = annotation(world::kMadeAs);
    return kPath;
}

std::string ObjectTarget::what(std::string_view verb) const {
    return std::string(verb) + (is_pod() ? " pod " : " object ") + target().name;
}

bool ObjectTarget::not_found(const Answer& answer) const {
    return !answer.failed && answer.status == 404 &&
           says_not_found(answer.body, target().name, source_.resource.plural);
}

ports::GetObject ObjectTarget::place() const {
    auto request = access_.read_set.locate(target().source, source_, target().name);
    TRUEUP_CHECK(request.has_value());
    return *std::move(request);
}

StepResult ObjectTarget::read(SteadyTime now) {
    if (Standing asked = asked_of(target().source, source_); !asked.ok()) {
        return StepResult::stopped(std::move(asked));
    }
    const auto request = access_.read_set.locate(target().source, source_, target().name);
    if (!request) {
        return StepResult::ended(
            OutcomeKind::kFailed,
            "the target's name or namespace is missing or outside of the source");
    }
    return StepResult::asked(access_.calls.get(access_.owner, *source_.cluster, *request, now));
}

StepResult ObjectTarget::look(const Answer& answer, const std::vector<policy::FieldPath>& paths,
                              Pod& pod) const {
    if (answer.failed || answer.status != 200) {
        return StepResult::stopped(failure_of(answer, what("GET")));
    }
    Result<Pod> seen = decode_pod(answer.body, source_.veto_label, paths);
    if (!seen) {
        return StepResult::ended(OutcomeKind::kFailed, what("GET") + ": " + seen.error().what,
                                 true);
    }
    pod = *std::move(seen);
    // A path that leads to another resource is a mistake of ours, and that object may have the uid.
    const Action::Kind kind = action().kind;
    const bool removes_object =
        kind == Action::Kind::kDeleteObject || kind == Action::Kind::kRetractRecord;
    const bool wants_pod = kind == Action::Kind::kDeletePod || (is_pod() && !removes_object);
    if (wants_pod && !pod.kind.empty() && pod.kind != "Pod") {
        return StepResult::ended(OutcomeKind::kFailed,
                                 what("GET") + ": the answer is a " + pod.kind, true);
    }
    if (pod.uid != target().object_id) {
        return StepResult::ended(OutcomeKind::kRefused, "recreated: uid is now " + pod.uid);
    }
    return StepResult::next();
}

/// Vetoes and scope are asked whatever the read set names: they are the operator's, not the rule's,
/// which may have been decided on before somebody set them.
StepResult ObjectTarget::vetoes(const Pod& pod) const {
    if (pod.held && TRUEUP_GUARD("hold_check")) {
        return StepResult::ended(OutcomeKind::kRefused,
                                 "veto: " + source_.veto_label + " is set on it");
    }
    const bool by_labels = !source_.selector.empty();
    if (by_labels && pod.labels.empty() && TRUEUP_GUARD("hold_check")) {
        return StepResult::ended(OutcomeKind::kRefused,
                                 "it no longer has the labels by which it was selected: whether it "
                                 "has a veto is unknown");
    }
    if (by_labels && !source_.selector.matches(pod.labels) && TRUEUP_GUARD("still_selected")) {
        return StepResult::ended(
            OutcomeKind::kRefused,
            "its labels have changed: the source's selector does not match it any more");
    }
    return StepResult::next();
}

StepResult ObjectTarget::may_write(const Pod& pod) const {
    if (StepResult allowed = vetoes(pod); allowed.kind != StepResult::Kind::kNext) return allowed;
    Standing standing = access_.read_set.holds_on_pod(source_, pod);
    if (!standing.ok() && TRUEUP_GUARD("target_check")) {
        return StepResult::stopped(std::move(standing));
    }
    return StepResult::next();
}

}  // namespace trueup::executors
