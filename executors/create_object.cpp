#include "executors/create_object.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/base/json_string.h"
#include "engine/world/kube.h"
#include "executors/object_target.h"

#include <algorithm>
#include <utility>

namespace trueup::executors {
namespace {

/// No record of the log has more.
constexpr std::size_t kMostBody = std::size_t{256} * 1024;

/// `v1` of `/api/v1`, `apps/v1` of `/apis/apps/v1`.
std::string_view version_of(std::string_view api_path) {
    return api_path.substr(std::min(api_path.find('/', 1), api_path.size() - 1) + 1);
}

class CreateObject final : public ObjectTarget {
  public:
    explicit CreateObject(const TargetAccess& access) : ObjectTarget(access), mark_{made_by()} {}

    StepResult read(SteadyTime now) override;
    StepResult check(Answer answer) override;
    StepResult write(Millis send_within, SteadyTime now) override;
    StepResult judge_write(Answer answer) override;
    StepResult judge_read_back(Answer answer, const std::string& because) override;

  private:
    bool says_none() const;
    std::string compose();
    std::string unselected() const;
    Result<Pod> seen(const Answer& answer) const { return decode_pod(answer.body, {}, mark_); }
    bool ours(const Pod& pod) const {
        const world::FieldAt& by = pod.at.at(mark_.front().name);
        return by.kind == world::FieldAt::Kind::kText && by.text == to_hex(access().command.id);
    }

    const std::vector<policy::FieldPath> mark_;
    std::string body_;
};

/// Does the command rest on that there is none of the name?
bool CreateObject::says_none() const {
    const std::vector<Predicate>& all = access().command.draft.read_set;
    return std::any_of(all.begin(), all.end(), [this](const Predicate& predicate) {
        return predicate.kind == Predicate::Kind::kNone && predicate.source == target().source &&
               predicate.value == target().name;
    });
}

/// What is sent; the sentence says why there is nothing that could be.
std::string CreateObject::compose() {
    if (!says_none()) return "the command does not say of which name there must be none";
    const auto at = access().read_set.locate(target().source, source(), target().name);
    if (!at) return {};  // which the look says
    std::string metadata;
    std::string rest;
    bool kind = false;
    for (const Assignment& part : action().sets) {
        if (!part.value || part.column == "apiVersion") return part.column + " cannot be set";
        kind = kind || part.column == "kind";
        if (part.column == "metadata") {
            metadata = *part.value;
        } else {
            rest += ',' + json_string(part.column) + ':' + *part.value;
        }
    }
    if (action().sets.empty()) return "the command says nothing of the object";
    const std::optional<std::string> whole = world::metadata_of_new(
        metadata, target().name, at->resource.name_space, to_hex(access().command.id));
    if (!whole) return "the object's metadata is no JSON object";
    body_ = "{\"apiVersion\":" + json_string(version_of(at->resource.api_path));
    if (!kind && is_pod()) body_ += R"(,"kind":"Pod")";
    body_ += ",\"metadata\":" + *whole + rest + '}';
    return unselected();
}

/// What its source does not show would be missing for ever.
std::string CreateObject::unselected() const {
    world::Json json;
    const world::Node object = json.read(body_);
    if (!object) return "the object is no JSON";
    if (body_.size() > kMostBody) return "the object has more than 256 KiB";
    if (world::KubeView(object).selected_by(source().selector)) return {};
    return "its labels are not those by which source " + target().source +
           " selects its objects, so that nobody would see it; add them to the template";
}

StepResult CreateObject::read(SteadyTime now) {
    if (const std::string unfit = body_.empty() ? compose() : ""; !unfit.empty()) {
        return StepResult::ended(OutcomeKind::kFailed, unfit);
    }
    return ObjectTarget::read(now);
}

StepResult CreateObject::check(Answer answer) {
    if (not_found(answer)) return StepResult::next();
    if (answer.failed || answer.status != 200) {
        return StepResult::stopped(failure_of(answer, what("GET")));
    }
    const Result<Pod> pod = seen(answer);
    if (!pod) {
        return StepResult::ended(OutcomeKind::kFailed, what("GET") + ": " + pod.error().what, true);
    }
    if (ours(*pod)) {
        return StepResult::ended(OutcomeKind::kAlreadyDone, "this command has created it already");
    }
    return StepResult::ended(OutcomeKind::kRefused,
                             "there is one of that name now: uid " + (*pod).uid);
}

StepResult CreateObject::write(Millis send_within, SteadyTime now) {
    ports::GetObject to = place();
    const ports::CreateObject request{std::move(to.resource), std::move(to.name), body_,
                                      send_within};
    return StepResult::asked(access().calls.create(access().owner, writer(), request, now));
}

StepResult CreateObject::judge_write(Answer answer) {
    if (answer.failed) return StepResult::read_back(what("CREATE") + ": " + answer.error.what);
    if (answer.status >= 200 && answer.status < 300) {
        const Result<Pod> pod = seen(answer);
        if (pod && (*pod).name == target().name) {
            return StepResult::ended(OutcomeKind::kDone, "created: uid " + (*pod).uid);
        }
        return StepResult::read_back(
            what("CREATE") +
            ": the answer is not the object from the API server: " + message_of(answer.body));
    }
    Standing failure = failure_of(answer, what("CREATE"));
    // Somebody has the name by now, or it was we.
    if (answer.status == 409) return StepResult::repeat(std::move(failure.reason));
    // A gateway's time-out does not say what was done.
    if (answer.status >= 500 || answer.status == 408) {
        return StepResult::read_back(std::move(failure.reason));
    }
    return StepResult::stopped(std::move(failure));
}

StepResult CreateObject::judge_read_back(Answer answer, const std::string& because) {
    if (not_found(answer)) {
        // It may have been made, and somebody has deleted it since: whoever wants it still orders
        // it again.
        if (!TRUEUP_GUARD("created_once")) return StepResult::repeat(because);
        return StepResult::ended(OutcomeKind::kFailed, because + "; there is none of that name",
                                 true);
    }
    const bool there = !answer.failed && answer.status == 200;
    const Result<Pod> pod =
        there ? seen(answer)
              : Result<Pod>(Error{Next::kRetry, Code::kNotFound, "no object was read"});
    if (!pod) return StepResult::read_back(because);
    // Another one's: the whole round says so.
    if (!ours(*pod)) return StepResult::repeat(because);
    return StepResult::ended(OutcomeKind::kDone,
                             "read back: it is there with the command's id, after: " + because);
}

}  // namespace

std::unique_ptr<WriteTarget> create_object(const TargetAccess& access) {
    return std::make_unique<CreateObject>(access);
}

}  // namespace trueup::executors
