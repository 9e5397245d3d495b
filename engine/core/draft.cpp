#include "engine/core/draft.h"

#include "engine/base/check.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

namespace {

/// Rows of one name that a command lists: more would not fit into it, or into its time.
constexpr std::size_t kMostBeside = 64;

using policy::Quantifier;
using policy::Verb;
using Kind = Predicate::Kind;

std::string field_text(const Facet& object, std::string_view field) {
    return std::string(object.fields().text(field).value_or(""));
}

class Draft {
  public:
    Draft(const Judgement& on, const Decision& decision)
        : on_(on),
          decision_(decision),
          found_(*decision.matched),
          step_(found_.steps[decision.step]) {}

    CommandDraft run() {
        const bool takes = policy::takes_away(step_.verb);
        rest_on_absent();
        rest_on_others(takes);
        rest_on_references();
        act();
        return std::move(draft_);
    }

  private:
    const PlanRole& role_of(Role number) const { return on_.plan.roles[number]; }
    const PlanRole& role_of(const Facet& object) const {
        return role_of(on_.settings.sources[object.source].role);
    }
    const std::string& name_of_source(SourceId id) const { return on_.references.sources[id].name; }
    std::string subject_name() const { return std::string(on_.subject.name()); }

    void add(Predicate predicate) {
        auto& all = draft_.read_set;
        if (std::find(all.begin(), all.end(), predicate) == all.end()) {
            all.push_back(std::move(predicate));
        }
    }

    bool shows(Role number) const {
        return std::any_of(on_.facts.seen.begin(), on_.facts.seen.end(),
                           [&](const Seen& seen) { return seen.role == number; });
    }

    // ---------------------------------------------------------------- what it rests on

    /// R3, R8: nobody has the key.
    void add_none(SourceId source, const PlanRole& role) {
        for (const std::string& key : role.keys) {
            add({Kind::kNone, name_of_source(source), {}, key, subject_name()});
        }
    }

    void rest_on_absent() {
        for (const PlanPattern& pattern : found_.patterns) {
            const PlanRole& role = role_of(pattern.role);
            if (pattern.quantifier != Quantifier::kNone || role.reference) continue;
            if (shows(pattern.role)) continue;
            // Of a verification it is the look itself that tells.
            if (step_.verb == Verb::kVerify && pattern.role == step_.role) continue;
            // Of several sources the one that was to prove it.
            const bool one = pattern.in.role != kNoRole && decision_.bound[pattern.in.role];
            for (const SourceId source : role.sources) {
                if (one && on_.settings.sources[source].scope != scope(pattern)) continue;
                add_none(source, role);
            }
        }
        const bool names = !step_.name.empty() && step_.verb == Verb::kCreate;
        if (!names) return;
        const auto name = text_of(on_.plan, on_.settings, step_.name, on_.subject, decision_.bound);
        add({Kind::kNone, name_of_source(decision_.source), {}, "name", name.value_or("")});
    }

    std::string_view scope(const PlanPattern& pattern) const {
        const Facet& by = *decision_.bound[pattern.in.role];
        const Seen seen = as_seen(by, on_.settings, nullptr);
        return value_of(role_of(pattern.in.role), pattern.in.field, seen).text;
    }

    /// R1, R4, R6: of every object that is not the target itself.
    void rest_on_others(bool takes) {
        rest_on_bound(takes);
        rest_on_passed();
        rest_on_looked_up();
    }

    void rest_on_bound(bool takes) {
        const auto roles = static_cast<Role>(on_.plan.roles.size());
        for (Role number = 0; number < roles; ++number) {
            const Facet* bound = decision_.bound[number];
            if (bound == nullptr || role_of(number).reference) continue;
            const bool ranks = ranked(number);
            if (bound != decision_.target) rest_on_ours(*bound);
            if (ranks) {
                for (const Seen& seen : on_.facts.seen) {
                    const bool better = seen.role == number && seen.facet != decision_.target;
                    if (better && !deleting(*seen.facet)) rest_on_ours(*seen.facet);
                }
            }
            const bool alone =
                takes && role_of(number).kind == policy::Kind::kRow && bound != decision_.target;
            if (alone) rest_on_alone(*bound, number);
        }
    }

    /// R4: no row came since. Those that are there beside it may have the key, as long as they say
    /// what they said: none of them is live, or the case would not act.
    void rest_on_alone(const Facet& bound, Role number) {
        std::vector<const Facet*> beside;
        for (const Seen& seen : on_.facts.seen) {
            const bool its = seen.role == number && seen.facet->source == bound.source;
            if (its && seen.facet != &bound) beside.push_back(seen.facet);
        }
        std::vector<std::string> known{bound.object_id};
        for (const Facet* each : beside) {
            if (beside.size() <= kMostBeside) say_fields(*each);
            known.push_back(each->object_id);
        }
        add_none_but(bound.source, "key", std::move(known));
    }

    /// That no row of the source has the key but these, one at least.
    void add_none_but(SourceId source, const std::string& key, std::vector<std::string> known) {
        Predicate none_but{Kind::kNoneBut, name_of_source(source), std::move(known.front()), key,
                           subject_name()};
        known.erase(known.begin());
        if (known.size() <= kMostBeside) none_but.besides = std::move(known);
        add(std::move(none_but));
    }

    /// What a `none` looked past; and that no other row has come since.
    void rest_on_passed() {
        for (const PlanPattern& pattern : found_.patterns) {
            if (pattern.quantifier != Quantifier::kNone) continue;
            for (const Seen& seen : on_.facts.seen) {
                if (seen.role == pattern.role && seen.facet != decision_.target) {
                    rest_on(*seen.facet);
                }
            }
            if (shows(pattern.role)) rest_on_no_more(pattern.role);
        }
    }

    /// That no row of the name has come beside those in view. (Of objects a name has one at most.)
    void rest_on_no_more(Role number) {
        const PlanRole& role = role_of(number);
        if (role.kind != policy::Kind::kRow || role.reference) return;
        for (const SourceId source : role.sources) {
            std::vector<std::string> known;
            for (const Seen& seen : on_.facts.seen) {
                const bool its = seen.role == number && seen.facet->source == source;
                if (its) known.push_back(seen.facet->object_id);
            }
            if (known.empty()) add_none(source, role);
            for (const std::string& key : role.keys) {
                if (!known.empty()) add_none_but(source, key, known);
            }
        }
    }

    /// What named conditions asked on the way, as what a `none` looked past; where there is none,
    /// that nobody has it.
    void rest_on_looked_up() {
        for (const PlanPattern& pattern : found_.looked_up) {
            if (role_of(pattern.role).reference || decision_.bound[pattern.role] != nullptr) {
                continue;
            }
            bool any = false;
            for (const Seen& seen : on_.facts.seen) {
                if (seen.role != pattern.role) continue;
                rest_on(*seen.facet);
                any = true;
            }
            if (any) {
                rest_on_no_more(pattern.role);
                continue;
            }
            for (const SourceId source : role_of(pattern.role).sources) {
                add_none(source, role_of(pattern.role));
            }
        }
    }

    bool ranked(Role number) const {
        return std::any_of(
            found_.patterns.begin(), found_.patterns.end(), [&](const PlanPattern& pattern) {
                return pattern.role == number && pattern.quantifier == Quantifier::kSurplus;
            });
    }

    /// One that left its source's selector is none. (Of its target an executor asks that anyhow.)
    void rest_on_ours(const Facet& object) {
        rest_on(object);
        if (!role_of(object).kubernetes() || out_of_scope(object)) return;
        add({Kind::kField, name_of_source(object.source), object.object_id, "in_scope", "true"});
    }

    void rest_on(const Facet& object) {
        const PlanRole& role = role_of(object);
        const std::string& source = name_of_source(object.source);
        if (role.kubernetes()) {
            const std::string name = field_text(object, "name");
            if (name.empty()) {
                add({Kind::kExists, source, object.object_id, {}, {}});
            } else {
                add({Kind::kExists, source, object.object_id, "name", name});
            }
        }
        const std::size_t before = draft_.read_set.size();
        say_fields(object);
        if (!role.kubernetes() && draft_.read_set.size() == before) {
            add({Kind::kExists, source, object.object_id, {}, {}});
        }
        add({Kind::kNoVeto, source, object.object_id, {}, {}});
    }

    /// What was read of it, as it was sent; what was not sent is not known to anybody.
    void say_fields(const Facet& object) {
        const Role number = on_.settings.sources[object.source].role;
        for (const std::uint16_t index : found_.mentions[number]) say(object, number, index);
        // R7
        const PlanRule& rule = on_.rule();
        const bool owners = on_.subject.termination && on_.subject.termination->owners;
        if (rule.owner.role != number || !owners) return;
        add({Kind::kField, name_of_source(object.source), object.object_id,
             role_of(number).fields[rule.owner.field].name, on_.subject.termination->by});
    }

    void say(const Facet& object, Role number, std::uint16_t index) {
        const PlanRole& role = role_of(number);
        const PlanField& field = role.fields[index];
        if (!field.looked_at) return;
        // An executor leaves alone what is on its way out already.
        if (field.from == PlanField::From::kFalseUnlessSent && &object == decision_.target) return;
        const std::optional<Field> sent = object.fields().find(field.name);
        if (sent ? sent->unchanged : role.kind == policy::Kind::kRow) return;
        std::optional<std::string> value;
        if (sent && sent->value) value = *sent->value;
        add({Kind::kField, name_of_source(object.source), object.object_id, field.name,
             std::move(value)});
    }

    /// R5
    void rest_on_references() {
        for (const auto* patterns : {&found_.patterns, &found_.looked_up}) {
            for (const PlanPattern& pattern : *patterns) {
                if (role_of(pattern.role).reference) rest_on_reference(pattern);
            }
        }
    }

    void rest_on_reference(const PlanPattern& pattern) {
        std::string name = pattern.named_literal;
        if (name.empty()) {
            const Facet* by = decision_.bound[pattern.named.role];
            if (by == nullptr) return;
            const Seen seen = as_seen(*by, on_.settings, nullptr);
            name = value_of(role_of(pattern.named.role), pattern.named.field, seen).text;
        }
        for (const SourceId source : role_of(pattern.role).sources) {
            bool any = false;
            for (const Facet& facet : on_.references.about(source, name).facets) {
                if (facet.source != source || !facet.present()) continue;
                any = true;
                say_fields(facet);
            }
            if (!any) {
                const std::string& key = role_of(pattern.role).keys.front();
                add({Kind::kNone, name_of_source(source), {}, key, name});
            }
        }
    }

    // ---------------------------------------------------------------- what is done

    void act() {
        TRUEUP_CHECK(decision_.source != kNoSource);
        const std::string& source = name_of_source(decision_.source);
        Target& target = draft_.target;
        switch (step_.verb) {
            case Verb::kDelete:
                return remove(source);
            case Verb::kUpdate:
                draft_.action.kind = Action::Kind::kUpdateRow;
                target = {source, decision_.target->object_id, subject_name(), {}};
                break;
            case Verb::kVerify:
                draft_.action.kind = Action::Kind::kVerifyGone;
                target = {source, subject_name(), subject_name(), {}};
                return;
            case Verb::kCreate:
                create(source);
                break;
            case Verb::kRetract:
                draft_.action.kind = Action::Kind::kRetractRecord;
                target = {source, decision_.target->object_id, subject_name(), {}};
                rest_on(*decision_.target);
                return;
            default:
                TRUEUP_CHECK(false);  // such a rule is off (PlanRule::unable)
        }
        draft_.action.sets =
            assignments(on_.plan, on_.settings, step_, on_.subject, decision_.bound);
        if (step_.verb != Verb::kUpdate) return;
        say_fields(*decision_.target);
        add({Kind::kNoVeto, source, decision_.target->object_id, {}, {}});
    }

    void remove(const std::string& source) {
        const Facet& object = *decision_.target;
        CommandDraft own = deletion(role_of(step_.role), source, object);
        draft_.target = std::move(own.target);
        draft_.action = std::move(own.action);
        draft_.action.grace_seconds = step_.grace_period;
        add(own.read_set.front());
        say_fields(object);
        add(own.read_set.back());
    }

    /// What nobody names yet is known by the object that it is made for.
    void create(const std::string& source) {
        const bool pod = role_of(step_.role).kind == policy::Kind::kPod;
        draft_.action.kind = pod ? Action::Kind::kCreatePod : Action::Kind::kCreateObject;
        const auto name = text_of(on_.plan, on_.settings, step_.name, on_.subject, decision_.bound);
        const bool named = !step_.name.empty() && name;
        draft_.target = {
            source, named ? *name : decision_.about->object_id, named ? *name : subject_name(), {}};
        if (pod) draft_.target.name_space = field_text(*decision_.about, "namespace");
    }

    const Judgement& on_;
    const Decision& decision_;
    const PlanCase& found_;
    const PlanStep& step_;
    CommandDraft draft_;
};

}  // namespace

CommandDraft draft_of(const Judgement& on, const Decision& decision) {
    return Draft(on, decision).run();
}

bool harmless(const Decision& decision) {
    const PlanStep& step = decision.matched->steps[decision.step];
    switch (step.verb) {
        case Verb::kCreate:
        case Verb::kInsert:
        case Verb::kVerify:
            return true;
        case Verb::kUpdate:
            break;
        default:
            return false;
    }
    const ObjectView fields = decision.target->fields();
    return std::all_of(step.sets.begin(), step.sets.end(), [&](const PlanAssigned& set) {
        const std::optional<Field> now = fields.find(set.field);
        return now && !now->unchanged && (!now->value || blank(*now->value));
    });
}

std::optional<std::string> text_of(const Plan& plan, const Settings& settings, const PlanText& text,
                                   const Subject& subject, const Bound& bound) {
    std::string made;
    for (const PlanPiece& piece : text) {
        switch (piece.kind) {
            case policy::Piece::Kind::kLiteral:
                made += piece.literal;
                break;
            case policy::Piece::Kind::kSubject:
                made += subject.name();
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
                made += value.text;
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
        made.push_back({set.field, written(plan, settings, set, subject, bound), set.now()});
    }
    return made;
}

CommandDraft deletion(const PlanRole& role, const std::string& source, const Facet& object) {
    CommandDraft draft;
    draft.target = {source, object.object_id, field_text(object, "name"),
                    field_text(object, "namespace")};
    draft.action.kind =
        role.kind == policy::Kind::kPod ? Action::Kind::kDeletePod : Action::Kind::kDeleteObject;
    draft.read_set = {{Kind::kExists, source, object.object_id, {}, {}},
                      {Kind::kNoVeto, source, object.object_id, {}, {}}};
    return draft;
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
