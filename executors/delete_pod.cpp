#include "executors/delete_pod.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"

#include <utility>

namespace trueup::executors {
namespace {

class DeletePod final : public Execution {
  public:
    DeletePod(Owner owner, Command command, const Surroundings& surroundings)
        : Execution(owner, std::move(command), surroundings),
          source_(surroundings.sources.pods.find(target().source)->second) {}

  private:
    const Target& target() const { return command().draft.target; }
    std::string what(std::string_view verb) const {
        const bool pod = command().draft.action.kind == Action::Kind::kDeletePod;
        return std::string(verb) + (pod ? " pod " : " object ") + target().name;
    }
    bool not_found(const Answer& answer) const {
        return !answer.failed && answer.status == 404 &&
               says_not_found(answer.body, target().name, source_.resource.plural);
    }

    void read_target(SteadyTime now) override;
    void judge_target(Answer answer, SteadyTime now) override;
    void write(SteadyTime now) override;
    void judge_write(Answer answer, SteadyTime now) override;
    void judge_read_back(Answer answer, SteadyTime now) override;
    void accepted(const std::string& body);

    const PodSource& source_;
    std::string uid_;                 ///< of the last GET that was judged
    std::string resource_version_;    ///< of the same
    bool refused_by_server_ = false;  ///< the unknown result was an error of the server
};

void DeletePod::read_target(SteadyTime now) {
    if (Standing asked = asked_of(target().source, source_); !asked.ok()) return stop(asked);
    const auto request = read_set().locate(source_, target().name);
    if (!request) {
        finish(OutcomeKind::kFailed,
               "the target's name or namespace is missing or outside of the source");
        return;
    }
    expect(calls().get(owner(), *source_.cluster, *request, now));
}

void DeletePod::judge_target(Answer answer, SteadyTime now) {
    if (not_found(answer)) return finish(OutcomeKind::kAlreadyDone, "it is gone");
    if (answer.failed || answer.status != 200) return stop(failure_of(answer, what("GET")));
    const Result<Pod> pod = decode_pod(answer.body, source_.hold_key);
    if (!pod) return finish(OutcomeKind::kFailed, what("GET") + ": " + pod.error().what, true);
    const bool wants_pod = command().draft.action.kind == Action::Kind::kDeletePod;
    if (wants_pod && !(*pod).kind.empty() && (*pod).kind != "Pod") {
        return finish(OutcomeKind::kFailed, what("GET") + ": the answer is a " + (*pod).kind, true);
    }
    if (TRUEUP_GUARD("uid_precondition_check") && (*pod).uid != target().object_id) {
        return finish(OutcomeKind::kRefused, "recreated: uid is now " + (*pod).uid);
    }
    if ((*pod).deleting) {
        return finish(OutcomeKind::kAlreadyDone, (*pod).finalizers
                                                     ? "terminating already; held by finalizers"
                                                     : "terminating already");
    }
    if ((*pod).held && TRUEUP_GUARD("hold_check")) {
        return finish(OutcomeKind::kRefused, "veto: " + source_.hold_key + " is set on it");
    }
    const bool by_labels = !source_.selector.empty();
    if (by_labels && (*pod).labels.empty() && TRUEUP_GUARD("hold_check")) {
        return finish(OutcomeKind::kRefused,
                      "it has no labels any more, by which it was selected: whether somebody holds "
                      "it cannot be told");
    }
    if (by_labels && !source_.selector.matches((*pod).labels) && TRUEUP_GUARD("still_selected")) {
        return finish(OutcomeKind::kRefused,
                      "its labels have changed: the source's selector does not match it any more");
    }
    Standing standing = read_set().holds_on_pod(source_, *pod);
    if (!standing.ok() && TRUEUP_GUARD("target_check")) return stop(std::move(standing));
    uid_ = (*pod).uid;
    resource_version_ = (*pod).resource_version;
    ready(now);
}

void DeletePod::write(SteadyTime now) {
    const auto request = read_set().locate(source_, target().name);
    TRUEUP_CHECK(request.has_value());
    TRUEUP_CHECK(!target().object_id.empty() && !resource_version_.empty());
    refused_by_server_ = false;
    const std::string& uid = TRUEUP_GUARD("uid_precondition_check") ? target().object_id : uid_;
    const std::string version = TRUEUP_GUARD("version_precondition") ? resource_version_ : "";
    ports::Cluster& through = source_.writer != nullptr ? *source_.writer : *source_.cluster;
    expect(calls().erase(owner(), through,
                         {request->resource, request->name, uid, version,
                          command().draft.action.grace_seconds, send_within()},
                         now));
}

void DeletePod::judge_write(Answer answer, SteadyTime now) {
    if (answer.failed) return read_back(now, what("DELETE") + ": " + answer.error.what);
    if (answer.status >= 200 && answer.status < 300) {
        if (says_deleted(answer.body)) return accepted(answer.body);
        return read_back(now, what("DELETE") + ": the answer is not the API server's: " +
                                  message_of(answer.body));
    }
    // Whom it is deleted through might be another server: who was read has the word.
    if (not_found(answer) && source_.writer != nullptr) {
        return read_back(now, what("DELETE") + ": it is not there");
    }
    if (not_found(answer)) return finish(OutcomeKind::kAlreadyDone, "it is gone");
    Standing failure = failure_of(answer, what("DELETE"));
    if (answer.status == 409) return again(now, failure.reason);
    // A gateway's time-out, or a 404 that is not the server's word, does not say what was done.
    if (answer.status >= 500 || answer.status == 404 || answer.status == 408) {
        refused_by_server_ = true;
        return read_back(now, std::move(failure.reason));
    }
    stop(std::move(failure));
}

void DeletePod::accepted(const std::string& body) {
    const Result<Pod> pod = decode_pod(body);
    const bool kept = pod.ok() && (*pod).finalizers;
    finish(OutcomeKind::kDone, kept ? "accepted; held by finalizers" : "deleted");
}

void DeletePod::judge_read_back(Answer answer, SteadyTime now) {
    const std::string because = unknown_because();
    if (not_found(answer)) {
        return finish(OutcomeKind::kDone, "read back: it is gone, after: " + because);
    }
    const Result<Pod> pod = answer.failed || answer.status != 200
                                ? Result<Pod>(Error{Next::kRetry, "no pod was read"})
                                : decode_pod(answer.body);
    if (!pod) return read_back(now, because);
    if ((*pod).uid != target().object_id) {
        return finish(OutcomeKind::kDone, "read back: it is gone, its name has uid " + (*pod).uid +
                                              " now, after: " + because);
    }
    if ((*pod).deleting) {
        return finish(OutcomeKind::kDone, (*pod).finalizers
                                              ? "accepted; held by finalizers, after: " + because
                                              : "read back: terminating, after: " + because);
    }
    if (refused_by_server_) return finish(OutcomeKind::kFailed, because, true);
    again(now, because);
}

}  // namespace

std::unique_ptr<Execution> execute_delete_pod(Owner owner, Command command,
                                              const Surroundings& surroundings) {
    TRUEUP_CHECK(command.draft.action.kind == Action::Kind::kDeletePod ||
                 command.draft.action.kind == Action::Kind::kDeleteObject);
    TRUEUP_CHECK(surroundings.sources.pods.count(command.draft.target.source) == 1);
    return std::make_unique<DeletePod>(owner, std::move(command), surroundings);
}

}  // namespace trueup::executors
