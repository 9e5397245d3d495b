// What a case finds in a world, and what its steps make of one. What comparisons come to stands in
// a world under the names that policy_states.cpp gives them.
#include "apps/config/policy_states.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace trueup::config {

namespace {

using policy::Quantifier;
using policy::Verb;

const policy::Pattern* binding(const policy::Case& found, std::string_view role) {
    for (const policy::Pattern& pattern : found.when) {
        if (pattern.role == role && pattern.quantifier != Quantifier::kNone) return &pattern;
    }
    return nullptr;
}

/// What comparisons with any field of the role come to is another question now, and so is what
/// conditions say that look at others.
void forget_compared(World& world, const std::string& role) {
    const std::string other = ' ' + role + '.';
    for (auto& [name, values] : world) {
        std::erase_if(values, [&, own = name == role](const auto& value) {
            if (value.first.starts_with("is ")) return true;
            return value.first.starts_with("compare ") &&
                   (own || value.first.find(other) != std::string::npos);
        });
    }
}

/// The same of one field.
void forget_compared(World& world, const std::string& role, const std::string& field) {
    const std::string own = "compare " + field + ' ';
    const std::string other = ' ' + role + '.' + field;
    for (auto& [name, values] : world) {
        std::erase_if(values, [&, own_role = name == role](const auto& value) {
            if (value.first.starts_with("is ")) return true;
            return value.first.starts_with("compare ") &&
                   ((own_role && value.first.starts_with(own)) || value.first.ends_with(other));
        });
    }
}

/// Is some field of the text one that is known to be a constant in that world?
bool pins(const World& world, const policy::Text& text) {
    return std::any_of(text.begin(), text.end(), [&](const policy::Piece& piece) {
        if (piece.kind != policy::Piece::Kind::kField) return false;
        const auto object = world.find(piece.field.role);
        if (object == world.end()) return false;
        const auto value = object->second.find(piece.field.field);
        return value != object->second.end() && value->second.kind == ValueClass::Kind::kConstant;
    });
}

}  // namespace

Certainty certainty(const policy::Policy& policy, const policy::Case& found, const World& world) {
    Certainty sum = found.duplicates ? Certainty::kFree : Certainty::kYes;
    for (const policy::Pattern& pattern : found.when) {
        const policy::Role* role = policy::find_role(policy, pattern.role);
        const auto object = world.find(pattern.role);
        Certainty one = Certainty::kNo;
        if (role->reference || pattern.quantifier == Quantifier::kSurplus) {
            one = Certainty::kFree;
        } else if (object != world.end()) {
            one = certainty(policy, pattern.condition, *role, object->second);
        }
        if (pattern.quantifier == Quantifier::kNone && !role->reference) one = opposite(one);
        sum = std::min(sum, one);
    }
    return sum;
}

void forget_compared(World& world) {
    for (auto& [name, values] : world) {
        std::erase_if(values, [](const auto& value) {
            return value.first.starts_with("is ") || value.first.starts_with("compare ");
        });
    }
}

World after(const policy::Case& done, World world) {
    for (const policy::Step& step : done.steps) {
        const bool made = step.verb == Verb::kCreate || step.verb == Verb::kInsert;
        if (step.verb == Verb::kDelete || step.verb == Verb::kRetract) world.erase(step.role);
        // What a stop makes of an object is the world's to say.
        if (made || step.verb == Verb::kStop) world[step.role] = {};
        if (step.verb != Verb::kUpdate) forget_compared(world, step.role);
        if (!made && step.verb != Verb::kUpdate) continue;
        if (step.verb == Verb::kUpdate && binding(done, step.role) == nullptr) continue;
        for (const policy::Assigned& set : step.sets) {
            ValueClass value;
            const bool literal = set.value && set.value->size() == 1 &&
                                 set.value->front().kind == policy::Piece::Kind::kLiteral;
            if (!set.value) {
                value.kind = ValueClass::Kind::kNull;
            } else if (literal) {
                value = {ValueClass::Kind::kConstant, set.value->front().literal, {}};
            } else {
                value = {ValueClass::Kind::kText, {}, *set.value, pins(world, *set.value)};
            }
            forget_compared(world, step.role, set.field);
            world[step.role][set.field] = std::move(value);
        }
    }
    return world;
}

}  // namespace trueup::config
