#include "executors/update_object.h"

#include "engine/base/check.h"
#include "executors/object_target.h"

#include <algorithm>
#include <utility>

namespace trueup::executors {
namespace {

using Kind = world::FieldAt::Kind;

/// As JSON writes a number or a boolean.
bool is_bare(std::string_view text) {
    if (text == "true" || text == "false") return true;
    if (text.starts_with('-')) text.remove_prefix(1);
    const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                     [](char c) { return c >= '0' && c <= '9'; });
    return digits && (text.size() == 1 || text.front() != '0');
}

class UpdateObject final : public ObjectTarget {
  public:
    explicit UpdateObject(const TargetAccess& access) : ObjectTarget(access) { understand(); }

    StepResult read(SteadyTime now) override;
    StepResult check(Answer answer) override;
    StepResult write(Millis send_within, SteadyTime now) override;
    StepResult judge_write(Answer answer) override;
    StepResult judge_read_back(Answer answer, const std::string& because) override;

  private:
    void understand();
    const world::FieldAt& at(const Pod& pod, std::size_t number) const {
        return pod.at.at(places_[number].name);
    }
    bool has_all(const Pod& pod) const;
    /// Where something else stands than a plain value; nullptr: nowhere.
    const Assignment* overwritten(const Pod& pod) const;
    const std::vector<Assignment>& sets() const { return action().sets; }

    std::vector<policy::FieldPath> places_;  ///< in step with `sets`
    std::vector<policy::FieldPath> paths_;   ///< those of the source, then these
    std::string unfit_;                      ///< why the command cannot be carried out
    std::vector<bool> there_;                ///< by the last GET, in step with `sets`
    bool gone_to_the_patch_ = false;         ///< what a GET had shown
    std::string resource_version_;           ///< of the last GET that was judged
    bool refused_by_server_ = false;         ///< the unknown result was an error of the server
};

/// Where the command writes, and whether a patch may write there at all.
void UpdateObject::understand() {
    paths_ = source().paths;
    if (sets().empty()) unfit_ = "the command sets no field";
    for (const Assignment& set : sets()) {
        // No field has a space in its name: what is written hides nothing that is read.
        Result<policy::FieldPath> place = policy::FieldPath::parse("set " + set.column, set.column);
        if (!place || !(*place).writable()) {
            unfit_ = set.column + " is no place that a patch may set";
            return;
        }
        const std::string value = set.value.value_or("");
        if (value.size() > world::FieldAt::kMostText || value.find('\0') != std::string::npos) {
            unfit_ = set.column + " takes at most " + std::to_string(world::FieldAt::kMostText) +
                     " bytes, and no NUL: nobody could read it back";
            return;
        }
        if (set.bare && !is_bare(value)) {
            unfit_ = set.column + " takes a number or a boolean, and '" + set.value.value_or("") +
                     "' is neither";
            return;
        }
        for (const policy::FieldPath& other : places_) {
            if (!other.overlaps(*place)) continue;
            unfit_ = set.column + " is set twice";
            return;
        }
        places_.push_back(*std::move(place));
    }
    paths_.insert(paths_.end(), places_.begin(), places_.end());
}

/// Of a time of issue only that there is one: an earlier command of the same meaning wrote another.
bool UpdateObject::has_all(const Pod& pod) const {
    bool all_now = true;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const Assignment& set = sets()[i];
        const world::FieldAt& now = at(pod, i);
        all_now = all_now && set.now;
        if (now.kind != (set.value ? Kind::kText : Kind::kNotThere)) return false;
        if (set.value && !set.now && now.text != *set.value) return false;
    }
    return !all_now;
}

const Assignment* UpdateObject::overwritten(const Pod& pod) const {
    for (std::size_t i = 0; i < places_.size(); ++i) {
        if (at(pod, i).kind == Kind::kUnreadable) return &sets()[i];
    }
    return nullptr;
}

StepResult UpdateObject::read(SteadyTime now) {
    if (!unfit_.empty()) return StepResult::ended(OutcomeKind::kFailed, unfit_);
    return ObjectTarget::read(now);
}

StepResult UpdateObject::check(Answer answer) {
    if (not_found(answer)) return StepResult::ended(OutcomeKind::kRefused, "it is gone");
    Pod pod;
    if (StepResult seen = look(answer, paths_, pod); seen.kind != StepResult::Kind::kNext) {
        return seen;
    }
    // Before any veto and predicate: what is so already needs nobody's leave, and the predicates
    // are about the values from before the write.
    if (has_all(pod)) {
        return StepResult::ended(OutcomeKind::kAlreadyDone, "the object already says all of it");
    }
    if (const Assignment* other = overwritten(pod); other != nullptr) {
        return StepResult::ended(OutcomeKind::kRefused,
                                 "at " + other->column +
                                     " stands something else than a plain value, which would be "
                                     "lost");
    }
    there_.clear();
    for (std::size_t i = 0; i < places_.size(); ++i) {
        there_.push_back(at(pod, i).kind != Kind::kNotThere);
    }
    resource_version_ = pod.resource_version;
    return may_write(pod);
}

StepResult UpdateObject::write(Millis send_within, SteadyTime now) {
    ports::GetObject to = place();
    TRUEUP_CHECK(!target().object_id.empty() && !resource_version_.empty());
    refused_by_server_ = false;
    ports::PatchObject request;
    request.resource = std::move(to.resource);
    request.name = std::move(to.name);
    if (action().kind == Action::Kind::kUpdateStatus) request.subresource = "status";
    // The uid is the one that was judged, not the one just read; the version is that of the GET.
    request.uid = target().object_id;
    request.resource_version = resource_version_;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        // Taking out what is not there would make the objects around it.
        if (!sets()[i].value && !there_[i]) continue;
        ports::PatchObject::Set& set = request.sets.emplace_back();
        for (const policy::FieldPath::Step& step : places_[i].steps) set.path.push_back(step.name);
        set.value = sets()[i].value;
        set.bare = sets()[i].bare;
    }
    request.send_within = send_within;
    return StepResult::asked(access().calls.patch(access().owner, writer(), request, now));
}

StepResult UpdateObject::judge_write(Answer answer) {
    if (answer.failed) return StepResult::read_back(what("PATCH") + ": " + answer.error.what);
    if (answer.status >= 200 && answer.status < 300) {
        const Result<Pod> pod = decode_pod(answer.body, {}, paths_);
        if (!pod || (*pod).uid != target().object_id) {
            return StepResult::read_back(
                what("PATCH") +
                ": the answer is not the object from the API server: " + message_of(answer.body));
        }
        if (has_all(*pod)) return StepResult::ended(OutcomeKind::kDone, "updated");
        const bool main = action().kind == Action::Kind::kUpdateObject;
        return StepResult::ended(
            OutcomeKind::kFailed,
            what("PATCH") +
                ": the server took it, and the object does not say what was set: its "
                "schema may not have the field, or something sets it back" +
                (main ? "; a status is written with subresource: status" : ""));
    }
    Standing failure = failure_of(answer, what("PATCH"));
    // The version, or the object itself, is another one by now; whoever was read has the word.
    // But a resource without the subresource says, too, that there is no such object.
    if (not_found(answer) && std::exchange(gone_to_the_patch_, true)) {
        return StepResult::ended(OutcomeKind::kFailed,
                                 failure.reason + "; it is there" +
                                     (action().kind == Action::Kind::kUpdateStatus
                                          ? ", so that its resource may have no subresource status"
                                          : ", by who is read"));
    }
    if (answer.status == 409 || not_found(answer)) return StepResult::repeat(failure.reason);
    // A gateway's time-out, or a 404 that is not the server's word, does not say what was done.
    if (answer.status >= 500 || answer.status == 404 || answer.status == 408) {
        refused_by_server_ = true;
        return StepResult::read_back(std::move(failure.reason));
    }
    return StepResult::stopped(std::move(failure));
}

StepResult UpdateObject::judge_read_back(Answer answer, const std::string& because) {
    const Result<Pod> pod =
        answer.failed || answer.status != 200
            ? Result<Pod>(Error{Next::kRetry, Code::kNotFound, "no object was read"})
            : decode_pod(answer.body, {}, paths_);
    // It is gone, and what became of the write is nobody's any more: the whole round says so.
    if (!pod && not_found(answer)) return StepResult::repeat(because);
    if (!pod) return StepResult::read_back(because);
    if ((*pod).uid == target().object_id && has_all(*pod)) {
        return StepResult::ended(OutcomeKind::kDone,
                                 "read back: the object says all of it, after: " + because);
    }
    // A server that refused would refuse again; a write that got lost may be repeated.
    if (refused_by_server_) return StepResult::ended(OutcomeKind::kFailed, because, true);
    return StepResult::repeat(because);
}

}  // namespace

std::unique_ptr<WriteTarget> update_object(const TargetAccess& access) {
    return std::make_unique<UpdateObject>(access);
}

}  // namespace trueup::executors
