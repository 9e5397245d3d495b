#include "executors/delete_pod.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"

#include <utility>

namespace trueup::executors {
namespace {

/// The server's word that it took the DELETE.
StepResult accepted(const std::string& body) {
    const Result<Pod> pod = decode_pod(body);
    const bool kept = pod.ok() && (*pod).finalizers;
    return StepResult::ended(OutcomeKind::kDone, kept ? "accepted; held by finalizers" : "deleted");
}

class DeletePod final : public WriteTarget {
  public:
    explicit DeletePod(const TargetAccess& access)
        : access_(access), source_(access.sources.pods.find(target().source)->second) {}

    StepResult read(SteadyTime now) override;
    StepResult check(Answer answer) override;
    StepResult write(Millis send_within, SteadyTime now) override;
    StepResult judge_write(Answer answer) override;
    StepResult judge_read_back(Answer answer, const std::string& because) override;

  private:
    const Target& target() const { return access_.command.draft.target; }
    const Action& action() const { return access_.command.draft.action; }
    std::string what(std::string_view verb) const {
        const bool pod = action().kind == Action::Kind::kDeletePod;
        return std::string(verb) + (pod ? " pod " : " object ") + target().name;
    }
    bool not_found(const Answer& answer) const {
        return !answer.failed && answer.status == 404 &&
               says_not_found(answer.body, target().name, source_.resource.plural);
    }

    StepResult vetoes(const Pod& pod) const;

    const TargetAccess access_;
    const PodSource& source_;
    std::string resource_version_;    ///< of the last GET that was judged
    bool refused_by_server_ = false;  ///< the unknown result was an error of the server
};

StepResult DeletePod::read(SteadyTime now) {
    if (Standing asked = asked_of(target().source, source_); !asked.ok()) {
        return StepResult::stopped(std::move(asked));
    }
    const auto request = access_.read_set.locate(source_, target().name);
    if (!request) {
        return StepResult::ended(
            OutcomeKind::kFailed,
            "the target's name or namespace is missing or outside of the source");
    }
    return StepResult::asked(access_.calls.get(access_.owner, *source_.cluster, *request, now));
}

/// Vetoes and scope are asked whatever the read set names: they are the operator's, not the rule's,
/// which may have been decided on before somebody set them.
StepResult DeletePod::vetoes(const Pod& pod) const {
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

StepResult DeletePod::check(Answer answer) {
    if (not_found(answer)) return StepResult::ended(OutcomeKind::kAlreadyDone, "it is gone");
    if (answer.failed || answer.status != 200) {
        return StepResult::stopped(failure_of(answer, what("GET")));
    }
    const Result<Pod> pod = decode_pod(answer.body, source_.veto_label, source_.paths);
    if (!pod) {
        return StepResult::ended(OutcomeKind::kFailed, what("GET") + ": " + pod.error().what, true);
    }
    // A path that leads to another resource is a mistake of ours, and that object may have the uid.
    const bool wants_pod = action().kind == Action::Kind::kDeletePod;
    if (wants_pod && !(*pod).kind.empty() && (*pod).kind != "Pod") {
        return StepResult::ended(OutcomeKind::kFailed,
                                 what("GET") + ": the answer is a " + (*pod).kind, true);
    }
    if ((*pod).uid != target().object_id) {
        return StepResult::ended(OutcomeKind::kRefused, "recreated: uid is now " + (*pod).uid);
    }
    // Whoever asked for it: a second DELETE could only shorten the grace that it was given.
    if ((*pod).deleting) {
        return StepResult::ended(
            OutcomeKind::kAlreadyDone,
            (*pod).finalizers ? "terminating already; held by finalizers" : "terminating already");
    }
    if (StepResult allowed = vetoes(*pod); allowed.kind != StepResult::Kind::kNext) return allowed;
    Standing standing = access_.read_set.holds_on_pod(source_, *pod);
    if (!standing.ok() && TRUEUP_GUARD("target_check"))
        return StepResult::stopped(std::move(standing));
    resource_version_ = (*pod).resource_version;
    return StepResult::next();
}

StepResult DeletePod::write(Millis send_within, SteadyTime now) {
    const auto request = access_.read_set.locate(source_, target().name);
    TRUEUP_CHECK(request.has_value());
    TRUEUP_CHECK(!target().object_id.empty() && !resource_version_.empty());
    refused_by_server_ = false;
    // The uid is the one that was judged, not the one just read: a pod that came again under the
    // name must be a 409. The version is that of the GET, so that a hold that came since is one.
    ports::Cluster& through = source_.writer != nullptr ? *source_.writer : *source_.cluster;
    return StepResult::asked(
        access_.calls.erase(access_.owner, through,
                            {request->resource, request->name, target().object_id,
                             resource_version_, action().grace_seconds, send_within},
                            now));
}

StepResult DeletePod::judge_write(Answer answer) {
    if (answer.failed) return StepResult::read_back(what("DELETE") + ": " + answer.error.what);
    if (answer.status >= 200 && answer.status < 300) {
        if (says_deleted(answer.body)) return accepted(answer.body);
        return StepResult::read_back(
            what("DELETE") + ": the answer is not from the API server: " + message_of(answer.body));
    }
    // Whom it is deleted through might be another server: who was read has the word.
    if (not_found(answer) && source_.writer != nullptr) {
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
    const Action::Kind kind = access.command.draft.action.kind;
    TRUEUP_CHECK(kind == Action::Kind::kDeletePod || kind == Action::Kind::kDeleteObject);
    TRUEUP_CHECK(access.sources.pods.count(access.command.draft.target.source) == 1);
    return std::make_unique<DeletePod>(access);
}

}  // namespace trueup::executors
