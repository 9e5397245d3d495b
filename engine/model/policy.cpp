#include "engine/model/policy.h"

#include "engine/model/rule.h"

#include <algorithm>

namespace trueup::policy {

std::string_view name_of(Verb verb) {
    switch (verb) {
        case Verb::kReport:
            return "report";
        case Verb::kDelete:
            return "delete";
        case Verb::kUpdate:
            return "update";
        case Verb::kInsert:
            return "insert";
        case Verb::kCreate:
            return "create";
        case Verb::kVerify:
            return "verify";
        case Verb::kRetract:
            return "retract";
        case Verb::kStop:
            return "stop";
        case Verb::kFollow:
            return "follow";
    }
    return "";
}

namespace {

template <typename Which>
bool any_step(const std::vector<Step>& steps, Which&& which) {
    return std::any_of(steps.begin(), steps.end(),
                       [&](const Step& step) { return which(step.verb); });
}

}  // namespace

bool Case::takes_away() const {
    return any_step(steps, [](Verb verb) { return policy::takes_away(verb); });
}
bool Case::writes() const {
    return any_step(steps, [](Verb verb) { return verb == Verb::kUpdate; });
}
bool Case::acts() const {
    return any_step(steps, [](Verb verb) { return verb != Verb::kReport; });
}
bool Case::rests_on_none() const {
    return std::any_of(when.begin(), when.end(), [](const Pattern& pattern) {
        return pattern.quantifier == Quantifier::kNone;
    });
}

const Role* find_role(const Policy& policy, std::string_view name) {
    const auto found = std::find_if(policy.roles.begin(), policy.roles.end(),
                                    [&](const Role& role) { return role.name == name; });
    return found == policy.roles.end() ? nullptr : &*found;
}

const Field* find_field(const Role& role, std::string_view name) {
    const auto found = std::find_if(role.fields.begin(), role.fields.end(),
                                    [&](const Field& field) { return field.name == name; });
    return found == role.fields.end() ? nullptr : &*found;
}

}  // namespace trueup::policy
