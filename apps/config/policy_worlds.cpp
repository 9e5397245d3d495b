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

/// What the world knows of a field; nullptr: it does not ask for it.
const ValueClass* value_in(const World& world, const policy::FieldRef& field) {
    const auto object = world.find(field.role);
    if (object == world.end()) return nullptr;
    const auto value = object->second.find(field.field);
    return value == object->second.end() ? nullptr : &value->second;
}

/// Does some comparison say what the field is like?
bool is_compared(const World& world, const policy::FieldRef& field) {
    const std::string own = "compare " + field.field + ' ';
    const std::string other = ' ' + field.role + '.' + field.field;
    return std::any_of(world.begin(), world.end(), [&](const auto& object) {
        return std::any_of(object.second.begin(), object.second.end(), [&](const auto& value) {
            const bool says = value.second.constant == "true";
            if (!value.first.starts_with("compare ") || !says) return false;
            return (object.first == field.role && value.first.starts_with(own)) ||
                   value.first.ends_with(other);
        });
    });
}

/// Does the world know something that says which subject it is of?
bool is_named(const policy::Policy& policy, const World& world) {
    return std::any_of(policy.roles.begin(), policy.roles.end(), [&](const policy::Role& role) {
        const std::vector<std::string> fields = policy::fields_of(role.key);
        return std::any_of(fields.begin(), fields.end(), [&](const std::string& field) {
            const ValueClass* value = value_in(world, {role.name, field});
            return value != nullptr && value->kind == ValueClass::Kind::kConstant;
        });
    });
}

/// What was copied from the field is no copy of it any more.
void forget_copies(World& world, const policy::FieldRef& field) {
    for (auto& [name, values] : world) {
        for (auto& [of, value] : values) {
            const bool copy = value.text.size() == 1 &&
                              value.text.front().kind == policy::Piece::Kind::kField &&
                              value.text.front().field == field;
            if (!copy) continue;
            value.text.clear();
            if (value.kind == ValueClass::Kind::kText) value = {ValueClass::Kind::kOther, {}, {}};
        }
    }
}

/// Longer ones are not worked out: a text that is made of itself would grow for ever.
constexpr std::size_t kMostFilled = 256;

/// What a text that is set into that field comes to in a world.
ValueClass made_of(const policy::Policy& policy, const policy::FieldRef& into,
                   const policy::Text& text, const World& world) {
    using Piece = policy::Piece;
    ValueClass value{ValueClass::Kind::kConstant, {}, text};
    policy::Text filled;
    for (const Piece& piece : text) {
        const ValueClass* known =
            piece.kind == Piece::Kind::kField ? value_in(world, piece.field) : nullptr;
        // What only stands for many is none.
        const bool constant = known != nullptr && known->kind == ValueClass::Kind::kConstant &&
                              piece.field != into &&
                              known->constant.find_first_of("\x01\x02") == std::string::npos &&
                              value.constant.size() + known->constant.size() <= kMostFilled;
        if (piece.kind == Piece::Kind::kLiteral || constant) {
            const std::string& part = constant ? known->constant : piece.literal;
            value.constant += part;
            if (!filled.empty() && filled.back().kind == Piece::Kind::kLiteral) {
                filled.back().literal += part;
            } else {
                filled.push_back({Piece::Kind::kLiteral, part, {}});
            }
            continue;
        }
        value.kind = ValueClass::Kind::kText;
        filled.push_back(piece);
        const bool null = known != nullptr && known->kind == ValueClass::Kind::kNull;
        value.open =
            value.open || piece.kind == Piece::Kind::kNow ||
            (piece.kind == Piece::Kind::kSubject && !is_named(policy, world)) ||
            (piece.kind == Piece::Kind::kField && !null && !is_compared(world, piece.field));
    }
    const bool copy = text.size() == 1 && text.front().kind == Piece::Kind::kField;
    if (value.kind == ValueClass::Kind::kText) {
        value.text = std::move(filled);
    } else if (!copy) {
        value.text.clear();  // as if it had always been there
    }
    return value;
}

/// What a row's column says then: white space is NULL, unless the policy says otherwise.
bool is_nothing(const policy::Role& role, const std::string& field, const ValueClass& value) {
    if (value.kind != ValueClass::Kind::kConstant || role.kind != policy::Kind::kRow) return false;
    const policy::Field* declared = policy::find_field(role, field);
    const bool blank = value.constant.find_first_not_of(" \t\n\r\f\v") == std::string::npos;
    return blank && (declared == nullptr || !declared->blank_is_value);
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

World after(const policy::Policy& policy, const policy::Case& done, World world) {
    for (const policy::Step& step : done.steps) {
        const bool made = policy::makes(step.verb);
        const bool sets = policy::sets(step.verb);
        if (policy::removes(step.verb)) world.erase(step.role);
        // Texts are made of what there is before the step.
        const World before = world;
        // What a stop makes of an object is the world's to say.
        if (made || policy::effect_of(step.verb) == policy::Effect::kStops) world[step.role] = {};
        if (!sets) forget_compared(world, step.role);
        if (!made && !sets) continue;
        if (sets && binding(done, step.role) == nullptr) continue;
        const policy::Role& role = *policy::find_role(policy, step.role);
        for (const policy::Assigned& set : step.sets) {
            ValueClass value{ValueClass::Kind::kNull};
            if (set.value) value = made_of(policy, {step.role, set.field}, *set.value, before);
            if (is_nothing(role, set.field, value)) value = {ValueClass::Kind::kNull};
            forget_compared(world, step.role, set.field);
            forget_copies(world, {step.role, set.field});
            world[step.role][set.field] = std::move(value);
        }
    }
    return world;
}

}  // namespace trueup::config
