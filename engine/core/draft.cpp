#include "engine/core/draft.h"

#include "engine/base/check.h"
#include "engine/base/json_string.h"
#include "engine/core/drafting.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

namespace {

using policy::Effect;
using Kind = Predicate::Kind;

}  // namespace

CommandDraft Draft::run() {
    const bool takes = step_.weighs();
    rest_on_absent();
    rest_on_others(takes);
    rest_on_references();
    act();
    return std::move(draft_);
}

void Draft::act() {
    TRUEUP_CHECK(decision_.source != kNoSource);
    const std::string& source = name_of_source(decision_.source);
    draft_.action.kind = action_by(role_of(step_.role), step_);
    switch (policy::effect_of(step_.verb)) {
        case Effect::kRemoves:
        case Effect::kStops:
            return remove(source);
        case Effect::kSets:
            return set(source);
        case Effect::kMakes:
            return make(source);
        case Effect::kLooks:
            draft_.target = {source, subject_name(), subject_name(), {}};
            return;
        case Effect::kNone:
            TRUEUP_CHECK(false);  // a report is no command
    }
}

void Draft::set(const std::string& source) {
    const Facet& object = *decision_.target;
    draft_.target = written_to(role_of(step_.role), source, object, subject_name());
    draft_.action.sets = assignments(on_.plan, on_.settings, step_, on_.subject, decision_.bound);
    say_fields(object);
    add({Kind::kNoVeto, source, object.object_id, {}, {}});
}

void Draft::remove(const std::string& source) {
    const Facet& object = *decision_.target;
    CommandDraft own = removal(role_of(step_.role), step_, source, object);
    draft_.target = std::move(own.target);
    draft_.action = std::move(own.action);
    add(own.read_set.front());
    say_fields(object);
    add(own.read_set.back());
}

/// Its key is all that is known of it before it is there; what nobody names yet is known by the
/// object that it is made for.
void Draft::make(const std::string& source) {
    draft_.action.sets = assignments(on_.plan, on_.settings, step_, on_.subject, decision_.bound);
    draft_.target = {source, subject_name(), subject_name(), {}};
    if (step_.way() != policy::Way::kBuilt) return;
    const auto name = text_of(on_.plan, on_.settings, step_.name, on_.subject, decision_.bound);
    const bool named = !step_.name.empty() && name;
    draft_.target = {
        source, named ? *name : decision_.about->object_id, named ? *name : subject_name(), {}};
    const bool pod = role_of(step_.role).kind == policy::Kind::kPod;
    if (pod) draft_.target.name_space = field_text(*decision_.about, "namespace");
}

CommandDraft draft_of(const Judgement& on, const Decision& decision) {
    return Draft(on, decision).run();
}

bool harmless(const Decision& decision) {
    const PlanStep& step = decision.matched->steps[decision.step];
    const Effect effect = policy::effect_of(step.verb);
    if (effect == Effect::kLooks) return true;
    // A table that lost its rows is restored from elsewhere, and not by us.
    if (effect == Effect::kMakes) return step.way() == policy::Way::kBuilt;
    if (effect != Effect::kSets) return false;
    if (step.patches()) return false;  // there a blank is a value as others
    const ObjectView fields = decision.target->fields();
    return std::all_of(step.sets.begin(), step.sets.end(), [&](const PlanAssigned& set) {
        const std::optional<Field> now = fields.find(set.field);
        return now && !now->unchanged && (!now->value || blank(*now->value));
    });
}

namespace {

/// nullopt: it is neither a number nor a boolean where one is to be.
std::optional<std::string> put_in(const PlanPiece& piece, std::string_view value) {
    if (piece.spelling == PlanPiece::Spelling::kQuoted) return json_escaped(value);
    const bool bare = piece.spelling == PlanPiece::Spelling::kBare;
    if (!bare || value == "true" || value == "false") return std::string(value);
    const std::optional<std::int64_t> number = number_in(value);
    return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

}  // namespace

std::optional<std::string> text_of(const Plan& plan, const Settings& settings, const PlanText& text,
                                   const Subject& subject, const Bound& bound) {
    std::string made;
    for (const PlanPiece& piece : text) {
        switch (piece.kind) {
            case policy::Piece::Kind::kLiteral:
                made += piece.literal;
                break;
            case policy::Piece::Kind::kSubject:
                made += put_in(piece, subject.name()).value_or("");
                break;
            case policy::Piece::Kind::kNow:
                made += kNow;
                break;
            case policy::Piece::Kind::kField: {
                const Facet* object = bound[piece.field.role];
                if (object == nullptr) return std::nullopt;
                const Seen seen = as_seen(*object, settings, nullptr);
                const PlanValue value =
                    value_of(plan.roles[piece.field.role], piece.field.field, seen);
                if (value.kind != PlanValue::Kind::kText) return std::nullopt;
                const std::optional<std::string> in = put_in(piece, value.text);
                if (!in) return std::nullopt;
                made += *in;
                break;
            }
        }
    }
    return made;
}

std::string_view spelled(const PlanAssigned& set, std::string_view value) {
    if (!set.boolean) return value;
    return value == "true" ? "t" : value == "false" ? "f" : value;
}

std::optional<std::string> written(const Plan& plan, const Settings& settings,
                                   const PlanAssigned& set, const Subject& subject,
                                   const Bound& bound) {
    if (!set.value) return std::nullopt;
    const std::optional<std::string> text = text_of(plan, settings, *set.value, subject, bound);
    return text ? std::optional(std::string(spelled(set, *text))) : std::nullopt;
}

std::vector<Assignment> assignments(const Plan& plan, const Settings& settings,
                                    const PlanStep& step, const Subject& subject,
                                    const Bound& bound) {
    std::vector<Assignment> made;
    for (const PlanAssigned& set : step.sets) {
        const std::string& at = set.place.empty() ? set.field : set.place;
        made.push_back({at, written(plan, settings, set, subject, bound), set.now(), set.bare});
    }
    return made;
}

Target written_to(const PlanRole& role, const std::string& source, const Facet& object,
                  std::string subject) {
    if (!role.kubernetes()) return {source, object.object_id, std::move(subject), {}};
    return {source, object.object_id, field_text(object, "name"), field_text(object, "namespace")};
}

Action::Kind action_by(const PlanRole& role, const PlanStep& step) {
    const policy::Use* use = policy::use_of(step.verb, role.kind, step.way());
    TRUEUP_CHECK(use != nullptr && use->action != Action::Kind::kUnspecified);
    return use->action;  // else such a rule is off (PlanRule::unable)
}

CommandDraft removal(const PlanRole& role, const PlanStep& step, const std::string& source,
                     const Facet& object) {
    CommandDraft draft;
    draft.target = written_to(role, source, object, {});
    draft.action.kind = action_by(role, step);
    draft.action.grace_seconds = step.grace_period;
    draft.action.propagation = step.propagation;
    draft.read_set = {{Kind::kExists, source, object.object_id, {}, {}},
                      {Kind::kNoVeto, source, object.object_id, {}, {}}};
    return draft;
}

std::optional<Predicate> still_labelled(const PlanRole& role, const std::string& source,
                                        const Facet& object, std::string subject) {
    const std::string* label = role.label();
    if (label == nullptr) return std::nullopt;
    const std::optional<std::string_view> value = object.fields().text(*label);
    return Predicate{Kind::kField, source, object.object_id, *label,
                     value ? std::string(*value) : std::move(subject)};
}

void give_time(const Settings& settings, RuleNumber rule, CommandDraft& draft) {
    if (draft.action.kind != Action::Kind::kDeletePod) return;
    const std::optional<std::uint32_t>& said = settings.rules[rule.value()].grace_period;
    if (said) draft.action.grace_seconds = said;
}

std::vector<Predicate> still_says(const std::string& source, const Facet& object,
                                  std::span<const std::string> fields) {
    std::vector<Predicate> predicates;
    for (const std::string& field : fields) {
        const std::optional<std::string_view> value = object.fields().text(field);
        predicates.push_back({Kind::kField, source, object.object_id, field,
                              value ? std::optional<std::string>(*value) : std::nullopt});
    }
    predicates.push_back({Kind::kNoVeto, source, object.object_id, {}, {}});
    return predicates;
}

}  // namespace trueup::core
