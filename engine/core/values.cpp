// The values of fields, what they mean and how two of them compare; and what stands of an object
// whatever its role declares.
#include "engine/core/by_itself.h"
#include "engine/core/row_time.h"

#include <charconv>

namespace trueup::core {

namespace {

using Kind = PlanValue::Kind;
using policy::Op;

bool is_time(const PlanField& field) {
    using Type = policy::Field::Type;
    return field.type == Type::kTimestamp || field.type == Type::kDate;
}

/// As a time or as a number.
std::optional<std::int64_t> amount_of(const PlanField& field, const PlanValue& value) {
    if (!is_time(field)) return number_in(value.text);
    const std::optional<SourceTime> time = time_in(field, value.text);
    return time ? std::optional(to_millis(*time)) : std::nullopt;
}

}  // namespace

bool vetoed(const Facet& object) {
    const std::optional<Field> hold = object.fields().find("hold");
    return hold && (hold->unchanged || hold->value == "true");
}
bool deleting(const Facet& object) { return object.fields().is("deleting", "true"); }
bool out_of_scope(const Facet& object) { return object.fields().is("in_scope", "false"); }
bool ours(const PlanRole& role, const Facet& object) {
    return !role.kubernetes() || !out_of_scope(object);
}

std::optional<SourceTime> time_in(const PlanField& field, std::string_view text) {
    if (field.type != policy::Field::Type::kDate) return parse_timestamp(text, field.zone);
    return field.zone ? parse_date(text, *field.zone) : std::nullopt;
}

std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool unreadable(const PlanField& field, std::string_view text) {
    using Type = policy::Field::Type;
    if (field.type == Type::kNumber) return !number_in(text);
    return field.type == Type::kBoolean && text != "true" && text != "false";
}

int order_of(const PlanField& field, const PlanValue& a, const PlanValue& b) {
    const auto left = amount_of(field, a);
    const auto right = amount_of(field, b);
    return left == right ? 0 : left < right ? -1 : 1;
}

Truth compared(const Plan& plan, const PlanJoin& join, const Seen& own, const Seen& other) {
    const PlanField& field = plan.roles[own.role].fields[join.field];
    const PlanField& others = plan.roles[other.role].fields[join.other.field];
    const PlanValue value = value_of(plan.roles[own.role], join.field, own);
    const PlanValue against = value_of(plan.roles[other.role], join.other.field, other);
    if (value.kind == Kind::kUnsent || against.kind == Kind::kUnsent ||
        (value.kind == Kind::kNull && !field.null_unequal) || against.kind == Kind::kNull ||
        (value.kind == Kind::kNotThere && field.required) ||
        (against.kind == Kind::kNotThere && others.required)) {
        return Truth::unknown(Reason::kIncomplete);
    }
    if (unlisted(field, value) || unlisted(others, against)) {
        return Truth::unknown(Reason::kUnknownWord);
    }
    if (value.kind != Kind::kText || against.kind != Kind::kText) {
        return Truth::of(join.op == Op::kSame && value == against);
    }
    const bool numbers = field.type == policy::Field::Type::kNumber && others.type == field.type;
    if (join.op == Op::kSame && !numbers && !(is_time(field) && is_time(others))) {
        const bool read = !unreadable(field, value.text) && !unreadable(others, against.text);
        return read ? Truth::of(value.text == against.text) : Truth::unknown(Reason::kUnreadable);
    }
    const auto left = amount_of(field, value);
    const auto right = amount_of(others, against);
    if (!left || !right) return Truth::unknown(Reason::kUnreadable);
    if (join.op == Op::kSame) return Truth::of(*left == *right);
    return Truth::of(join.op == Op::kBefore ? *left < *right : *left > *right);
}

}  // namespace trueup::core
