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
