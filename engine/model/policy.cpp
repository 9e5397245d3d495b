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

std::optional<Millis> parse_zone(std::string_view text) {
    if (text == "UTC") return Millis{0};
    const auto two = [&](std::size_t at, int below) -> std::optional<int> {
        const auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
        if (at + 2 > text.size() || !digit(at) || !digit(at + 1)) return std::nullopt;
        const int number = (text[at] - '0') * 10 + (text[at + 1] - '0');
        return number < below ? std::optional(number) : std::nullopt;
    };
    const bool signed_text = !text.empty() && (text[0] == '+' || text[0] == '-');
    const bool minutes = text.size() == 6 && text[3] == ':';
    if (!signed_text || (text.size() != 3 && !minutes)) return std::nullopt;
    const std::optional<int> hour = two(1, 16);
    const std::optional<int> minute = minutes ? two(4, 60) : std::optional(0);
    if (!hour || !minute) return std::nullopt;
    const Millis east = std::chrono::hours(*hour) + std::chrono::minutes(*minute);
    return text[0] == '+' ? east : -east;
}

}  // namespace trueup::policy
