#include "engine/core/told.h"

#include "engine/core/by_itself.h"

#include <algorithm>
#include <bit>
#include <set>
#include <string>

namespace trueup::core {

namespace {

using Kind = PlanValue::Kind;
using policy::Op;

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
    if (unlisted(field, value)) return Truth::unknown(Reason::kUnknownWord);
    if (unreadable(field, value.text)) return Truth::unknown(Reason::kUnreadable);
    if (test.op == Op::kIn && field.type == policy::Field::Type::kNumber) {
        const auto is = number_in(value.text);
        return Truth::of(std::any_of(test.values.begin(), test.values.end(),
                                     [&](const auto& one) { return number_in(one) == is; }));
    }
    if (test.op == Op::kIn) {
        return Truth::of(std::binary_search(test.values.begin(), test.values.end(), value.text));
    }
    if (test.op == Op::kStarts) return Truth::of(value.text.starts_with(test.values.front()));
    if (test.op == Op::kLike) return Truth::of(matches(value.text, test.values.front()));
    return compare(test, value.text);
}

}  // namespace

void add_tests(const PlanRole& role, const PlanField& field, std::uint64_t which,
               const PlanValue& value, Told& told) {
    for (std::uint64_t left = which; left != 0; left &= left - 1) {
        const std::uint64_t bit = left & ~(left - 1);
        const Truth truth =
            decide(role.tests[static_cast<std::size_t>(std::countr_zero(left))], field, value);
        if (!truth.no()) told.can |= bit;
        if (truth.yes()) told.is |= bit;
        if (truth.why == Reason::kUnreadable) told.unreadable |= bit;
        if (truth.why == Reason::kUnknownWord) told.unlisted |= bit;
    }
}

void tell_apart(PlanRole& role) {
    role.unsaid = {};
    role.derived.clear();
    for (PlanField& field : role.fields) {
        std::set<std::string> values(field.words.begin(), field.words.end());
        // Every other text of such a field is unreadable.
        if (field.type == policy::Field::Type::kBoolean) values.insert({"false", "true"});
        std::uint64_t lists = 0;
        for (std::uint64_t left = field.tests; left != 0; left &= left - 1) {
            const PlanTest& test = role.tests[static_cast<std::size_t>(std::countr_zero(left))];
            if (test.op == Op::kIn) values.insert(test.values.begin(), test.values.end());
            // Two texts may be one number.
            const bool number = field.type == policy::Field::Type::kNumber;
            const bool lasts =
                (test.op == Op::kIn && !number) || test.op == Op::kSet || !field.words.empty();
            if (lasts) lists |= left & ~(left - 1);
        }
        field.values.assign(values.begin(), values.end());
        field.by_hand = field.tests & ~lists;
        field.told.clear();
        const auto tell = [&](const PlanValue& value, std::uint64_t tests) {
            add_tests(role, field, tests, value, field.told.emplace_back());
        };
        for (const std::string& value : field.values) tell({Kind::kText, value}, field.tests);
        // A text that is none of them.
        const std::string other = field.values.empty() ? "" : field.values.back() + '\n';
        tell({Kind::kText, other}, lists);
        for (const Kind kind : {Kind::kNull, Kind::kNotThere, Kind::kUnsent}) {
            tell({kind, {}}, field.tests);
        }
        if (field.tests == 0) continue;
        if (derived(field)) {
            role.derived.push_back(static_cast<std::uint16_t>(&field - role.fields.data()));
            continue;
        }
        const Told unsaid = told_of(role, field, missing(role, field, {}));
        role.unsaid.can |= unsaid.can;
        role.unsaid.is |= unsaid.is;
        role.unsaid.unreadable |= unsaid.unreadable;
        role.unsaid.unlisted |= unsaid.unlisted;
    }
}

}  // namespace trueup::core
