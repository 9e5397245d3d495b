#include "engine/model/policy.h"

#include "engine/model/own_column.h"
#include "engine/model/rule.h"

#include <algorithm>

namespace trueup::policy {

namespace {

template <typename Which>
bool any_step(const std::vector<Step>& steps, Which&& which) {
    return std::any_of(steps.begin(), steps.end(),
                       [&](const Step& step) { return which(step.verb); });
}

/// Is that of the step the subject's own name, and nothing else?
bool is_subject(const Text& text) {
    return text.size() == 1 && text.front().kind == Piece::Kind::kSubject;
}

}  // namespace

bool Rule::acknowledges(std::string_view code) const {
    return std::find(acknowledge.begin(), acknowledge.end(), code) != acknowledge.end();
}

bool Case::takes_away() const {
    return any_step(steps, [](Verb verb) { return policy::takes_away(verb); });
}
bool Case::writes() const {
    return std::any_of(steps.begin(), steps.end(),
                       [](const Step& step) { return sets(step.verb) || makes(step); });
}
bool Case::acts() const {
    return any_step(steps, [](Verb verb) { return policy::acts(verb); });
}
bool Case::rests_on_none() const {
    return std::any_of(when.begin(), when.end(), [](const Pattern& pattern) {
        return pattern.quantifier == Quantifier::kNone;
    });
}

namespace {

/// Why nobody would know again what the step makes; empty: it is known.
std::string unknown_again(const Role& role, const Step& step) {
    if (step.verb == Verb::kCreate) {
        if (!is_name(role.key) || is_subject(step.name)) return {};
        return "nobody would know the new object again; write name: \"{subject}\"";
    }
    const std::string column = own_column(role.key);
    if (column.empty()) {
        return "the key of " + role.name + " is " + key_text(role.key) +
               ", and a row is only inserted where one column is the key, or the first of a "
               "coalesce";
    }
    const bool named = std::any_of(step.sets.begin(), step.sets.end(), [&](const Assigned& set) {
        return set.field == column && set.value && is_subject(*set.value);
    });
    if (named) return {};
    return "nobody would know the new row again; write set: {" + column + ": \"{subject}\"}";
}

}  // namespace

std::string making_flaw(const Policy& policy, const Case& found, const Step& step) {
    const Role* role = find_role(policy, step.role);
    if (!makes(step) || role == nullptr) return {};
    if (role->reference) {
        return role->name + " is a reference, which is looked up by another name than the " +
               "subject's; make it a role of its own";
    }
    if (std::string unknown = unknown_again(*role, step); !unknown.empty()) return unknown;
    const bool free = std::any_of(found.when.begin(), found.when.end(), [&](const Pattern& each) {
        return each.role == role->name && each.quantifier == Quantifier::kNone &&
               each.condition.always();
    });
    if (free) return {};
    const std::string one = step.verb == Verb::kInsert ? "a row" : "an object";
    return "there may be " + one + " of that key already, whatever it says; write " + role->name +
           ": none in `when`";
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
