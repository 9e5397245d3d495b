#include "executors/delete_pod.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/world/kube.h"
#include "executors/object_target.h"

#include <utility>

namespace trueup::executors {
namespace {

/// The server's word that it took the DELETE.
StepResult accepted(const std::string& body) {
    const Result<Pod> pod = decode_pod(body);
    const bool kept = pod.ok() && (*pod).finalizers;
    return StepResult::ended(OutcomeKind::kDone, kept ? "accepted; held by finalizers" : "deleted");
}

class DeletePod final : public ObjectTarget {
  public:
    using ObjectTarget::ObjectTarget;

    StepResult check(Answer answer) override;
    StepResult write(Millis send_within, SteadyTime now) override;
    StepResult judge_write(Answer answer) override;
    StepResult judge_read_back(Answer answer, const std::string& because) override;

  private:
    bool retracts() const { return action().kind == Action::Kind::kRetractRecord; }
    StepResult is_record(const Pod& pod) const;

    std::string resource_version_;    ///< of the last GET that was judged
    bool refused_by_server_ = false;  ///< the unknown result was an error of the server
};

/// kNext: the object is nothing but what a command created, and nobody acts when it goes.
StepResult DeletePod::is_record(const Pod& pod) const {
    if (!TRUEUP_GUARD("record_check")) return StepResult::next();
    const auto says = [&pod](const policy::FieldPath& path) {
        const auto at = pod.at.find(path.name);
        const bool text = at != pod.at.end() && at->second.kind == world::FieldAt::Kind::kText;
        return text ? at->second.text : std::string();
    };
    // What was copied from it is another one, as by a controller that keeps annotations.
    if (says(made_by()).empty() || says(made_as()) != world::made_as(pod.name_space, pod.name)) {
        return StepResult::ended(OutcomeKind::kRefused,
                                 "it was not created by a command (no annotations " +
                                     std::string(world::kMadeBy) + " and " +
                                     std::string(world::kMadeAs) +
                                     " of its own), and only such are retracted");
    }
    if (pod.finalizers) {
        return StepResult::ended(OutcomeKind::kRefused,
                                 "it has finalizers: somebody acts when it goes, so that it is "
                                 "more than a record");
    }
    return StepResult::next();
}

StepResult DeletePod::check(Answer answer) {
    if (not_found(answer)) return StepResult::ended(OutcomeKind::kAlreadyDone, "it is gone");
    Pod pod;
    // The first of a name counts: no field of the policy stands before these.
    std::vector<policy::FieldPath> paths;
    if (retracts()) paths = {made_by(), made_as()};
    paths.insert(paths.end(), source().paths.begin(), source().paths.end());
    if (StepResult seen = look(answer, paths, pod); seen.kind != StepResult::Kind::kNext) {
        return seen;
    }
    // Whoever asked for it: a second DELETE could only shorten the grace that it was given.
    if (pod.deleting) {
        return StepResult::ended(
            OutcomeKind::kAlreadyDone,
            pod.finalizers ? "terminating already; held by finalizers" : "terminating already");
    }
    if (retracts()) {
        if (StepResult fit = is_record(pod); fit.kind != StepResult::Kind::kNext) return fit;
    }
    resource_version_ = pod.resource_version;
    return may_write(pod);
}

StepResult DeletePod::write(Millis send_within, SteadyTime now) {
    ports::GetObject at = place();
    TRUEUP_CHECK(!target().object_id.empty() && !resource_version_.empty());
    refused_by_server_ = false;
    // The uid is the one that was judged, not the one just read: a pod that came again under the
    // name must be a 409. The version is that of the GET, so that a hold that came since is one.
    ports::DeleteObject request{std::move(at.resource), std::move(at.name),     target().object_id,
                                resource_version_,      action().grace_seconds, send_within};
    if (!action().propagation.empty()) request.propagation = action().propagation;
    // What a record owns is none of ours.
    if (retracts()) request.propagation = "orphan";
    return StepResult::asked(access().calls.erase(access().owner, writer(), request, now));
}

StepResult DeletePod::judge_write(Answer answer) {
    if (answer.failed) return StepResult::read_back(what("DELETE") + ": " + answer.error.what);
    if (answer.status >= 200 && answer.status < 300) {
        if (says_deleted(answer.body)) return accepted(answer.body);
        return StepResult::read_back(
            what("DELETE") + ": the answer is not from the API server: " + message_of(answer.body));
    }
    // Whom it is deleted through might be another server: who was read has the word.
    if (not_found(answer) && source().writer != nullptr) {
        return StepResult::read_back(what("DELETE") + ": it is not there");
    }
    if (not_found(answer)) return StepResult::ended(OutcomeKind::kAlreadyDone, "it is gone");
    Standing failure = failure_of(answer, what("DELETE"));
    if (answer.status == 409) return StepResult::repeat(failure.reason);
    // A gateway's time-out, or a 404 that is not the server's word, does not say what was done.
    if (answer.status >= 500 || answer.status == 404 || answer.status == 408) {
        refused_by_server_ = true;
        return StepResult::read_back(std::move(failure.reason));
    }
    return StepResult::stopped(std::move(failure));
}

StepResult DeletePod::judge_read_back(Answer answer, const std::string& because) {
    if (not_found(answer)) {
        return StepResult::ended(OutcomeKind::kDone, "read back: it is gone, after: " + because);
    }
    const Result<Pod> pod =
        answer.failed || answer.status != 200
            ? Result<Pod>(Error{Next::kRetry, Code::kNotFound, "no pod was read"})
            : decode_pod(answer.body);
    if (!pod) return StepResult::read_back(because);
    if ((*pod).uid != target().object_id) {
        return StepResult::ended(OutcomeKind::kDone, "read back: it is gone, its name has uid " +
                                                         (*pod).uid + " now, after: " + because);
    }
    if ((*pod).deleting) {
        return StepResult::ended(OutcomeKind::kDone,
                                 (*pod).finalizers
                                     ? "accepted; held by finalizers, after: " + because
                                     : "read back: terminating, after: " + because);
    }
    // It lives on. A server that refused would refuse again; a write that got lost may be repeated.
    if (refused_by_server_) return StepResult::ended(OutcomeKind::kFailed, because, true);
    return StepResult::repeat(because);
}

}  // namespace

std::unique_ptr<WriteTarget> delete_pod(const TargetAccess& access) {
    return std::make_unique<DeletePod>(access);
}

}  // namespace trueup::executors
