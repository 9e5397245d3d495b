#include "engine/core/told.h"

#include "engine/core/by_itself.h"

#include <algorithm>
#include <bit>
#include <cstddef>
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

template <typename Visitor>
void each_bit(std::uint64_t bits, Visitor&& visit) {
    for (; bits != 0; bits &= bits - 1) visit(static_cast<std::size_t>(std::countr_zero(bits)));
}

/// Which conditions each test decides.
void part_asked(PlanRole& role) {
    role.plain = role.scoped = {};
    role.walked.clear();
    for (PlanTest& test : role.tests) test.asked = test.negated = {};
    for (std::size_t i = 0; i < role.asked.size(); ++i) {
        const PlanAsked& asked = role.asked[i];
        role.scoped.set(asked.bit, asked.in_scope);
        if (!asked.plain) {
            role.walked.push_back(static_cast<std::uint16_t>(i));
            continue;
        }
        role.plain.set(asked.bit);
        each_bit(asked.all, [&](std::size_t test) { role.tests[test].asked.set(asked.bit); });
        each_bit(asked.none, [&](std::size_t test) { role.tests[test].negated.set(asked.bit); });
    }
}

/// The values that the field's tests tell apart; returns the tests to which every other text is the
/// same.
std::uint64_t list_values(const PlanRole& role, PlanField& field) {
    std::set<std::string> values(field.words.begin(), field.words.end());
    // Every other text of such a field is unreadable.
    if (field.type == policy::Field::Type::kBoolean) values.insert({"false", "true"});
    std::uint64_t lists = 0;
    each_bit(field.tests, [&](std::size_t index) {
        const PlanTest& test = role.tests[index];
        if (test.op == Op::kIn) values.insert(test.values.begin(), test.values.end());
        // Two texts may be one number.
        const bool number = field.type == policy::Field::Type::kNumber;
        const bool lasts =
            (test.op == Op::kIn && !number) || test.op == Op::kSet || !field.words.empty();
        if (lasts) lists |= std::uint64_t{1} << index;
    });
    field.values.assign(values.begin(), values.end());
    field.prefixes.clear();
    for (const std::string& value : field.values) field.prefixes.push_back(prefix_of(value));
    return lists;
}

/// What each of them, and whatever else the field may be, makes of its tests.
void tell_values(const PlanRole& role, PlanField& field) {
    const std::uint64_t lists = list_values(role, field);
    field.by_hand = field.tests & ~lists;
    field.told.clear();
    const auto add = [&](const PlanValue& value, std::uint64_t tests) {
        add_tests(role, field, tests, value, field.told.emplace_back());
    };
    for (const std::string& value : field.values) add({Kind::kText, value}, field.tests);
    // A text that is none of them.
    const std::string other = field.values.empty() ? "" : field.values.back() + '\n';
    add({Kind::kText, other}, lists);
    for (const Kind kind : {Kind::kNull, Kind::kNotThere, Kind::kUnsent}) {
        add({kind, {}}, field.tests);
    }
}

}  // namespace

void add_tests(const PlanRole& role, const PlanField& field, std::uint64_t which,
               const PlanValue& value, Told& told) {
    each_bit(which, [&](std::size_t index) {
        const std::uint64_t bit = std::uint64_t{1} << index;
        const PlanTest& test = role.tests[index];
        const Truth truth = decide(test, field, value);
        if (!truth.no()) told.can |= bit;
        if (truth.yes()) told.is |= bit;
        if (truth.why == Reason::kUnreadable) told.unreadable |= bit;
        if (truth.why == Reason::kUnknownWord) told.unlisted |= bit;
        if (truth.no()) told.denied |= test.asked;
        if (truth.yes()) told.denied |= test.negated;
        if (!truth.yes()) told.unsure |= test.asked;
        if (!truth.no()) told.unsure |= test.negated;
    });
}

void tell_apart(PlanRole& role) {
    role.read.clear();
    role.derived.clear();
    part_asked(role);
    for (PlanField& field : role.fields) {
        tell_values(role, field);
        // Another one says a boolean in words of its own.
        field.verbatim =
            field.from == PlanField::From::kSent &&
            (field.type != policy::Field::Type::kBoolean || role.kind != policy::Kind::kRow);
        field.unsaid = {};
        const auto number = static_cast<std::uint16_t>(&field - role.fields.data());
        if (derived(field)) {
            if (field.tests != 0) role.derived.push_back(number);
            continue;
        }
        if (field.tests != 0) tell(role, field, missing(role, field, {}), field.unsaid);
        if (field.tests != 0 || field.is_news) role.read.push_back({field.prefix, number});
    }
    role.read.emplace_back();
}

}  // namespace trueup::core
