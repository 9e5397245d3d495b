// What a command rests on: all that its rule read of other objects, as predicates that an executor
// asks for once more (R1 to R8 of core/draft.h).
#include "engine/base/guard.h"
#include "engine/core/drafting.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

namespace {

/// Rows of one name that a command lists: more would not fit into it, or into its time.
constexpr std::size_t kMostBeside = 64;

using policy::is_label;
using policy::Quantifier;
using Kind = Predicate::Kind;

}  // namespace

/// R3, R8: nobody has the key.
void Draft::add_none(SourceId source, const PlanRole& role) {
    for (const std::string& key : role.keys) {
        add({Kind::kNone, name_of_source(source), {}, key, subject_name()});
    }
}

void Draft::rest_on_absent() {
    for (const PlanPattern& pattern : found_.patterns) {
        const PlanRole& role = role_of(pattern.role);
        if (pattern.quantifier != Quantifier::kNone || role.reference) continue;
        if (shows(pattern.role)) continue;
        // Of a verification it is the look itself that tells.
        const bool looks = policy::effect_of(step_.verb) == policy::Effect::kLooks;
        if (looks && pattern.role == step_.role) continue;
        // Of several sources the one that was to prove it.
        const bool one = pattern.in.role != kNoRole && decision_.bound[pattern.in.role];
        for (const SourceId source : role.sources) {
            if (one && on_.settings.sources[source].scope != scope(pattern)) continue;
            add_none(source, role);
        }
    }
    if (step_.name.empty()) return;
    const auto name = text_of(on_.plan, on_.settings, step_.name, on_.subject, decision_.bound);
    add({Kind::kNone, name_of_source(decision_.source), {}, "name", name.value_or("")});
}

std::string_view Draft::scope(const PlanPattern& pattern) const {
    const Facet& by = *decision_.bound[pattern.in.role];
    const Seen seen = as_seen(by, on_.settings, nullptr);
    return value_of(role_of(pattern.in.role), pattern.in.field, seen).text;
}

/// R1, R4, R6: of every object that is not the target itself.
void Draft::rest_on_others(bool takes) {
    rest_on_bound(takes);
    rest_on_passed();
    rest_on_looked_up(found_.looked_up);
    rest_on_looked_up(found_.before);
}

void Draft::rest_on_bound(bool takes) {
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
        // A row that is written says itself whom it means; what has a label in common does not.
        const bool alone = takes || role_of(number).label() != nullptr;
        if (alone && bound != decision_.target) rest_on_alone(*bound, number);
    }
    for (Role number = 0; number < roles; ++number) {
        const Facet* bound = decision_.bound[number];
        if (bound == nullptr || role_of(number).reference) continue;
        // Of several objects of Kubernetes others may come.
        if (role_of(number).several && role_of(number).kubernetes()) continue;
        rest_on_elsewhere(*bound, number);
    }
}

/// R4: in one source a name is one object's, and in another one, as another cluster, it may be
/// another's. Those in view are said to be as they were: none of them is live.
void Draft::rest_on_elsewhere(const Facet& bound, Role number) {
    const PlanRole& role = role_of(number);
    for (const SourceId source : role.sources) {
        if (source == bound.source || !TRUEUP_GUARD("nobody_elsewhere")) continue;
        std::vector<std::string> known;
        for (const Seen& seen : on_.facts.seen) {
            if (seen.role != number || seen.facet->source != source) continue;
            rest_on_ours(*seen.facet);
            known.push_back(seen.facet->object_id);
        }
        if (known.empty()) {
            add_none(source, role);
        } else {
            add_no_others(source, role, known);
        }
    }
}

/// R4: no other one came since. Those that are there beside it may have the key, as long as they
/// say what they said: none of them is live, or the case would not act.
void Draft::rest_on_alone(const Facet& bound, Role number) {
    if (!shares_keys(role_of(number))) return;
    std::vector<const Facet*> beside;
    for (const Seen& seen : on_.facts.seen) {
        const bool its = seen.role == number && seen.facet->source == bound.source;
        if (its && seen.facet != &bound) beside.push_back(seen.facet);
    }
    std::vector<std::string> known{bound.object_id};
    for (const Facet* each : beside) {
        const bool few = beside.size() <= kMostBeside;
        if (few && role_of(number).kubernetes()) say_there(*each);  // by its own name
        if (few && !role_of(number).kubernetes()) say_fields(*each);
        known.push_back(each->object_id);
    }
    add_no_others(bound.source, role_of(number), known);
}

/// May several objects of one source have this key? By its name an object of Kubernetes is alone.
bool Draft::shared(const PlanRole& role, const std::string& key) {
    return role.kind == policy::Kind::kRow || (role.kubernetes() && is_label(key));
}

bool Draft::shares_keys(const PlanRole& role) {
    return std::any_of(role.keys.begin(), role.keys.end(),
                       [&](const std::string& key) { return shared(role, key); });
}

/// That nobody of the source has the key but these, one at least.
void Draft::add_no_others(SourceId source, const PlanRole& role,
                          const std::vector<std::string>& known,
                          const std::optional<std::string>& name) {
    if (!role.kubernetes()) return add_none_but(source, "key", known, name);
    for (const std::string& key : role.keys) {
        if (shared(role, key)) add_none_but(source, key, known, name);
    }
}

/// That none of the source has it in that key but these, one at least.
void Draft::add_none_but(SourceId source, const std::string& key, std::vector<std::string> known,
                         std::optional<std::string> name) {
    Predicate none_but{is_label(key) ? Kind::kOnly : Kind::kNoneBut, name_of_source(source),
                       std::move(known.front()), key, name ? std::move(*name) : subject_name()};
    known.erase(known.begin());
    if (known.size() <= kMostBeside) none_but.besides = std::move(known);
    add(std::move(none_but));
}

/// What a `none` looked past; and that no other row has come since.
void Draft::rest_on_passed() {
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

/// That none of the name has come beside those in view.
void Draft::rest_on_no_more(Role number) {
    const PlanRole& role = role_of(number);
    if (role.reference) return;
    for (const SourceId source : role.sources) {
        std::vector<std::string> known;
        for (const Seen& seen : on_.facts.seen) {
            const bool its = seen.role == number && seen.facet->source == source;
            if (its) known.push_back(seen.facet->object_id);
        }
        if (known.empty()) add_none(source, role);
        if (known.empty()) continue;
        for (const std::string& key : role.keys) {
            if (shared(role, key)) add_none_but(source, key, known);
        }
    }
}

/// What named conditions and the cases before asked on the way, as what a `none` looked past; where
/// there is none, that nobody has it.
void Draft::rest_on_looked_up(const std::vector<PlanPattern>& patterns) {
    for (const PlanPattern& pattern : patterns) {
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

bool Draft::ranked(Role number) const {
    return std::any_of(
        found_.patterns.begin(), found_.patterns.end(), [&](const PlanPattern& pattern) {
            return pattern.role == number && pattern.quantifier == Quantifier::kSurplus;
        });
}

/// One that left its source's selector is none. (Of its target an executor asks that anyhow.)
void Draft::rest_on_ours(const Facet& object) {
    rest_on(object);
    say_in_scope(object);
}

void Draft::say_in_scope(const Facet& object) {
    if (!role_of(object).kubernetes() || out_of_scope(object)) return;
    add({Kind::kField, name_of_source(object.source), object.object_id, "in_scope", "true"});
}

void Draft::rest_on(const Facet& object) {
    say_there(object);
    add({Kind::kNoVeto, name_of_source(object.source), object.object_id, {}, {}});
}

/// It is there, and says what it said.
void Draft::say_there(const Facet& object) {
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
}

/// What was read of it, as it was sent; what was not sent is not known to anybody.
void Draft::say_fields(const Facet& object) {
    const Role number = on_.settings.sources[object.source].role;
    for (const std::uint16_t index : found_.mentions[number]) say(object, number, index);
    say_label(object);
    // R7
    const PlanRule& rule = on_.rule();
    const bool owners = rule.asked_by(on_.subject.request) && on_.subject.request->owners;
    if (rule.owner.role != number || !owners) return;
    add({Kind::kField, name_of_source(object.source), object.object_id,
         role_of(number).fields[rule.owner.field].name, on_.subject.request->by});
}

/// What is known by a label belongs to its subject as long as that says so. (A name never changes;
/// of rows it is the write that holds their key.)
void Draft::say_label(const Facet& object) {
    if (auto said = still_labelled(role_of(object), name_of_source(object.source), object,
                                   subject_name())) {
        add(*std::move(said));
    }
}

void Draft::say(const Facet& object, Role number, std::uint16_t index) {
    const PlanRole& role = role_of(number);
    const PlanField& field = role.fields[index];
    if (!field.looked_at) return;
    // An executor that deletes leaves alone what is on its way out already.
    const bool deletes = policy::removes(step_.verb) && &object == decision_.target;
    if (field.from == PlanField::From::kFalseUnlessSent && deletes) return;
    const std::optional<Field> sent = object.fields().find(field.name);
    if (sent ? sent->unchanged : role.kind == policy::Kind::kRow) return;
    std::optional<std::string> value;
    if (sent && sent->value) value = *sent->value;
    add({Kind::kField, name_of_source(object.source), object.object_id, field.name,
         std::move(value)});
}

/// R5
void Draft::rest_on_references() {
    for (const auto* patterns : {&found_.patterns, &found_.looked_up, &found_.before}) {
        for (const PlanPattern& pattern : *patterns) {
            if (role_of(pattern.role).reference) rest_on_reference(pattern);
        }
    }
}

/// By what is bound, else by each object that a `none` looked past.
void Draft::rest_on_reference(const PlanPattern& pattern) {
    if (!pattern.named_literal.empty()) return rest_on_named(pattern, pattern.named_literal);
    const Role by = pattern.named.role;
    const auto rest = [&](const Facet& facet) {
        const Seen seen = as_seen(facet, on_.settings, nullptr);
        rest_on_named(pattern, std::string(value_of(role_of(by), pattern.named.field, seen).text));
    };
    if (decision_.bound[by] != nullptr) return rest(*decision_.bound[by]);
    for (const Seen& seen : on_.facts.seen) {
        if (seen.role == by) rest(*seen.facet);
    }
}

/// A case before that did not match may not have come to who is meant; nobody is asked for who has
/// no name.
void Draft::rest_on_named(const PlanPattern& pattern, const std::string& name) {
    const PlanRole& role = role_of(pattern.role);
    for (const SourceId source : role.sources) {
        if (!may_be_named(name_of_source(source), name)) continue;
        std::vector<std::string> known;
        for (const Facet& facet : on_.references.about(source, name).facets) {
            if (facet.source != source || !facet.present()) continue;
            known.push_back(facet.object_id);
            say_looked_up(facet);
        }
        if (known.empty()) {
            for (const std::string& key : role.keys) {
                add({Kind::kNone, name_of_source(source), {}, key, name});
            }
        } else {
            add_no_others(source, role, known, name);
        }
    }
}

/// A row says its name, too: under another one it is another reference.
void Draft::say_looked_up(const Facet& facet) {
    const Role number = on_.settings.sources[facet.source].role;
    const PlanRole& role = role_of(number);
    say_there(facet);
    say_in_scope(facet);
    if (role.kubernetes()) return;
    for (std::size_t i = 0; i < role.fields.size(); ++i) {
        if (role.fields[i].in_key) say(facet, number, static_cast<std::uint16_t>(i));
    }
}

}  // namespace trueup::core
