// The steps of a plan's rules: what is to be done, and whether anything in this build can do it.
#include "engine/base/json_string.h"
#include "engine/core/bytes.h"
#include "engine/core/plan_compiler.h"
#include "engine/model/place.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

namespace {

using policy::Verb;

/// Empty: what the server does by itself.
std::string planned_propagation(const policy::Step& step) {
    return step.propagation == "background" ? std::string() : step.propagation;
}

void put(std::string_view json, PlanText& into) {
    const bool follows = !into.empty() && into.back().kind == policy::Piece::Kind::kLiteral;
    if (!follows) into.emplace_back();
    into.back().literal += json;
}

}  // namespace

/// Which step there is no executor for.
std::string PlanCompiler::unable(const policy::Step& step) const {
    const Role role = number(step.role);
    if (role == kNoRole) return {};
    const policy::Role& target = policy_.roles[role];
    std::string what =
        "nothing in this build can " + std::string(policy::name_of(step.verb)) + ' ' + step.role;
    const policy::Use* use = policy::use_of(step.verb, target.kind, policy::way_of(step));
    if (use == nullptr || use->action == Action::Kind::kUnspecified) return what;
    // Nothing is said of what a pod owns.
    if (target.kind == policy::Kind::kPod && !planned_propagation(step).empty()) {
        return what + " with propagation " + step.propagation;
    }
    // An executor looks by the name whether there is one already.
    if (step.object && !policy::is_name(target.key)) return what + ", whose key is not their name";
    return {};
}

/// By then the other objects may be gone.
void PlanCompiler::tell_own(const PlanStep& step, PlanRule& rule) const {
    for (const PlanAssigned& set : step.sets) {
        if (!set.value) continue;
        for (const PlanPiece& piece : *set.value) {
            const Role of = piece.field.role;
            if (of == kNoRole || of == step.role) continue;
            rule.unable = "nothing in this build knows " + plan_.roles[of].name +
                          " any more when it sets " + set.field + " of " +
                          plan_.roles[step.role].name + " on the way to an end";
        }
    }
}

/// Does a pattern of the case bind an object of the role?
bool PlanCompiler::binds(const PlanCase& found, Role role) {
    return std::any_of(
        found.patterns.begin(), found.patterns.end(), [&](const PlanPattern& pattern) {
            return pattern.role == role && pattern.quantifier != policy::Quantifier::kNone;
        });
}

/// One object that two sources tell of would be better and worse than itself.
void PlanCompiler::rank_in_one(PlanRule& rule, const PlanCase& found) const {
    for (const PlanPattern& pattern : found.patterns) {
        const PlanRole& role = plan_.roles[pattern.role];
        if (pattern.quantifier != policy::Quantifier::kSurplus || role.sources.size() < 2) continue;
        rule.unable = "nothing in this build ranks what several sources tell of, " + role.name;
    }
}

void PlanCompiler::end_by(PlanRule& rule, const PlanCase& found) {
    std::string bytes;
    ByteWriter out(bytes);
    for (const PlanStep& step : found.steps) {
        out.number(static_cast<std::uint64_t>(step.verb));
        out.text(plan_.roles[step.role].name);
        out.flag(step.of_status);
        out.text(step.propagation);
        out.number(step.sets.size());
        for (const PlanAssigned& set : step.sets) {
            out.text(set.field);
            out.text(set.place);
            out.flag(set.bare);
            out.flag(set.value.has_value());
            if (!set.value) continue;
            out.number(set.value->size());
            for (const PlanPiece& piece : *set.value) {
                out.number(static_cast<std::uint64_t>(piece.kind));
                out.text(piece.literal);
                if (piece.field.role == kNoRole) continue;
                out.text(plan_.roles[piece.field.role].name);
                out.text(plan_.roles[piece.field.role].fields[piece.field.field].name);
            }
        }
        if (&step != found.steps.data()) {
            tell_own(step, rule);
        } else if (plan_.roles[step.role].sources.size() > 1 && !binds(found, step.role)) {
            rule.unable =
                "of several sources nothing in this build ends what `when` does not "
                "name, " +
                plan_.roles[step.role].name;
        }
        if (policy::sets(step.verb) || step.verb == Verb::kDelete) continue;
        rule.unable = "nothing in this build can " + std::string(policy::name_of(step.verb)) +
                      " on the way to an end";
    }
    out.end();
    const Hash128 hash = hash128(bytes);
    if (!rule.ending.empty() && rule.ending_hash != hash) {
        flaw(rule.name + " ends things in two ways; write two rules");
    }
    rule.ending = found.steps;
    rule.ending_hash = hash;
}

PlanText PlanCompiler::planned(const policy::Text& text) {
    PlanText made;
    for (const policy::Piece& piece : text) {
        if (piece.kind == policy::Piece::Kind::kNow && text.size() != 1) {
            flaw("{now} is only part of a text");
        }
        made.push_back({piece.kind, piece.literal, at(piece.field)});
    }
    return made;
}

/// What an object is made of, as JSON in which what is filled in stands where it is to be.
void PlanCompiler::put(const policy::Template& part, PlanText& json, bool texts) {
    using Kind = policy::Template::Kind;
    const bool map = part.kind == Kind::kMap;
    if (part.kind == Kind::kNull) return core::put("null", json);
    if (part.kind == Kind::kText) return put(part.text, json, texts);
    if (part.kind == Kind::kBare) {
        const std::string value = part.text.empty() ? "null" : part.text.front().literal;
        return core::put(texts ? json_string(value) : value, json);
    }
    core::put(map ? "{" : "[", json);
    for (const policy::Template& each : part.parts) {
        if (&each != part.parts.data()) core::put(",", json);
        if (map) core::put(json_string(each.key) + ':', json);
        // The values of labels and annotations are texts, of whatever object.
        const bool labels =
            part.key == "metadata" && (each.key == "labels" || each.key == "annotations");
        put(each, json, texts || labels);
    }
    core::put(map ? "}" : "]", json);
}

/// One reference and nothing else keeps its field's type, where it need not be a text.
void PlanCompiler::put(const policy::Text& text, PlanText& json, bool is_text) {
    using Kind = policy::Piece::Kind;
    using Type = policy::Field::Type;
    PlanText pieces = planned(text);
    if (!is_text && pieces.size() == 1 && pieces.front().field.role != kNoRole) {
        PlanPiece& one = pieces.front();
        const Type type = plan_.roles[one.field.role].fields[one.field.field].type;
        if (type == Type::kNumber || type == Type::kBoolean) {
            one.spelling = PlanPiece::Spelling::kBare;
            json.push_back(std::move(one));
            return;
        }
    }
    core::put("\"", json);
    for (PlanPiece& piece : pieces) {
        if (piece.kind == Kind::kNow) flaw("{now} in an object");
        if (piece.kind == Kind::kLiteral) {
            core::put(json_escaped(piece.literal), json);
            continue;
        }
        piece.spelling = PlanPiece::Spelling::kQuoted;
        json.push_back(std::move(piece));
    }
    core::put("\"", json);
}

/// What is written of one field, and how its source spells it.
PlanAssigned PlanCompiler::planned(const policy::Role* role, const policy::Assigned& set) {
    using Type = policy::Field::Type;
    PlanAssigned assigned;
    assigned.field = set.field;
    if (set.value) assigned.value = planned(*set.value);
    if (role == nullptr) return assigned;  // which is a flaw already
    const policy::Field* field = policy::find_field(*role, set.field);
    const Type type = field == nullptr ? Type::kText : field->type;
    if (!policy::in_kubernetes(role->kind)) {
        assigned.boolean = role->kind == policy::Kind::kRow && type == Type::kBoolean;
        return assigned;
    }
    assigned.place = policy::place_of(*role, set.field);
    assigned.bare = set.value && (type == Type::kBoolean || type == Type::kNumber);
    return assigned;
}

PlanStep PlanCompiler::planned(const policy::Step& text) {
    PlanStep step;
    step.verb = text.verb;
    step.role = !policy::acts(text.verb) ? kNoRole : named(text.role);
    step.name = planned(text.name);
    if (!step.name.empty() && step.name.front().kind == policy::Piece::Kind::kNow) {
        flaw("{now} is no name");
    }
    step.grace_period = text.grace_period;
    step.propagation = planned_propagation(text);
    step.of_status = text.subresource == "status";
    const policy::Role* role = policy::find_role(policy_, text.role);
    for (const policy::Assigned& set : text.sets) step.sets.push_back(planned(role, set));
    step.whole = text.verb == Verb::kCreate && text.object;
    if (step.whole) {
        step.sets.clear();
        for (const policy::Template& part : text.object->parts) {
            PlanAssigned& set = step.sets.emplace_back();
            set.field = part.key;
            set.bare = true;
            put(part, set.value.emplace());
        }
    }
    const auto now = [](const PlanAssigned& set) { return set.now(); };
    // Such a step would have nothing by which it is told that it was done.
    if (policy::sets(step.verb) && !step.sets.empty() &&
        std::all_of(step.sets.begin(), step.sets.end(), now)) {
        flaw("a step sets nothing but {now}");
    }
    return step;
}

}  // namespace trueup::core
