#include "engine/core/facts.h"

#include <algorithm>
#include <charconv>

namespace trueup::core {

namespace {

using Kind = PlanValue::Kind;
using policy::Op;

/// What a field that was not listed is.
PlanValue missing(const PlanRole& role, const PlanField& field) {
    if (field.usual == PlanField::Usual::kFalse) return {Kind::kText, "false"};
    if (field.usual == PlanField::Usual::kTrue) return {Kind::kText, "true"};
    return {role.kind == policy::Kind::kRow ? Kind::kUnsent : Kind::kNotThere, {}};
}

PlanValue as_sent(const PlanRole& role, const PlanField& field, const Field& sent) {
    if (field.usual != PlanField::Usual::kNothing) {
        // Only the unusual is ever said, and by this word.
        const bool usual = field.usual == PlanField::Usual::kTrue;
        const bool other = sent.value == (usual ? "false" : "true");
        return {Kind::kText, usual != other ? "true" : "false"};
    }
    if (sent.unchanged) return {Kind::kUnsent, {}};
    if (!sent.value) return {Kind::kNull, {}};
    const bool nothing =
        role.kind == policy::Kind::kRow && !field.blank_is_value && blank(*sent.value);
    if (nothing) return {Kind::kNull, {}};
    return {Kind::kText, *sent.value};
}

/// `*` is any text. Goes back to the last one only: no text takes longer than its length times the
/// pattern's.
bool matches(std::string_view text, std::string_view pattern) {
    std::size_t at = 0;
    std::size_t in = 0;
    std::size_t star = std::string_view::npos;
    std::size_t from = 0;
    while (at < text.size()) {
        if (in < pattern.size() && pattern[in] == '*') {
            star = in++;
            from = at;
        } else if (in < pattern.size() && pattern[in] == text[at]) {
            ++in;
            ++at;
        } else if (star != std::string_view::npos) {
            in = star + 1;
            at = ++from;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', in) == std::string_view::npos;
}

Truth compare(const PlanTest& test, std::string_view text) {
    const std::optional<std::int64_t> value = number_in(text);
    if (!value) return Truth::unknown(Reason::kUnreadable);
    switch (test.op) {
        case Op::kOver:
            return Truth::of(*value > test.number);
        case Op::kUnder:
            return Truth::of(*value < test.number);
        case Op::kAtLeast:
            return Truth::of(*value >= test.number);
        default:
            return Truth::of(*value <= test.number);
    }
}

Truth decide(const PlanTest& test, const PlanField& field, const PlanValue& value) {
    if (value.kind == Kind::kUnsent) return Truth::unknown(Reason::kIncomplete);
    if (test.op == Op::kSet) return Truth::of(value.kind == Kind::kText);
    const bool null = value.kind == Kind::kNull && !field.null_unequal;
    const bool lacks = value.kind == Kind::kNotThere && field.required;
    if (null || lacks) return Truth::unknown(Reason::kIncomplete);
    if (value.kind != Kind::kText) return Truth::of(false);
    // A word that nobody listed may mean anything.
    const auto& words = field.words;
    if (!words.empty() && !std::binary_search(words.begin(), words.end(), value.text)) {
        return Truth::unknown(Reason::kIncomplete);
    }
    if (test.op == Op::kIn) {
        return Truth::of(std::binary_search(test.values.begin(), test.values.end(), value.text));
    }
    if (test.op == Op::kStarts) return Truth::of(value.text.starts_with(test.values.front()));
    if (test.op == Op::kLike) return Truth::of(matches(value.text, test.values.front()));
    return compare(test, value.text);
}

}  // namespace

bool blank(std::string_view text) {
    return text.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos;
}

std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

PlanValue value_of(const PlanRole& role, std::uint16_t number, const Facet& object) {
    const PlanField& field = role.fields[number];
    if (field.name == "uid" && role.kubernetes()) return {Kind::kText, object.object_id};
    const std::optional<Field> sent = object.fields().find(field.name);
    return sent ? as_sent(role, field, *sent) : missing(role, field);
}

Seen look_at(const PlanRole& role, Role number, const Facet& object) {
    Seen seen{&object, number, 0, 0, 0};
    std::vector<PlanValue> values;
    values.reserve(role.fields.size());
    for (const PlanField& field : role.fields) values.push_back(missing(role, field));
    // Both are in ascending order of their names.
    std::size_t next = 0;
    object.fields().each([&](const Field& sent) {
        while (next < role.fields.size() && role.fields[next].name < sent.name) ++next;
        if (next < role.fields.size() && role.fields[next].name == sent.name) {
            values[next] = as_sent(role, role.fields[next], sent);
        }
    });
    for (std::size_t i = 0; i < role.tests.size(); ++i) {
        const PlanTest& test = role.tests[i];
        const PlanField& field = role.fields[test.field];
        const bool uid = field.name == "uid" && role.kubernetes();
        const Truth truth = decide(
            test, field, uid ? PlanValue{Kind::kText, object.object_id} : values[test.field]);
        const std::uint64_t bit = std::uint64_t{1} << i;
        if (!truth.no()) seen.can |= bit;
        if (truth.yes()) seen.is |= bit;
        if (truth.why == Reason::kUnreadable) seen.unreadable |= bit;
    }
    return seen;
}

std::vector<Seen> facts_of(const Plan& plan, const Subject& subject, const Settings& settings) {
    std::vector<Seen> all;
    for (const Facet& facet : subject.facets) {
        const Role role = settings.sources[facet.source].role;
        if (!facet.present() || role >= plan.roles.size()) continue;
        all.push_back(look_at(plan.roles[role], role, facet));
    }
    return all;
}

}  // namespace trueup::core
