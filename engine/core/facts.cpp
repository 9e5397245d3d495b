#include "engine/core/facts.h"

#include "engine/base/id.h"
#include "engine/base/prefix.h"
#include "engine/core/by_itself.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <string>

namespace trueup::core {

namespace {

using Kind = PlanValue::Kind;
using From = PlanField::From;
using policy::Op;

bool counts_as_failure(const Ledger::Entry& entry) { return entry.end != End::kSucceeded; }

/// A ledger keeps no more ends than these.
PlanValue failures_in(const Ledger* ledger) {
    static constexpr std::array<std::string_view, 17> kNumbers{
        "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"};
    std::size_t count = 0;
    if (ledger != nullptr) {
        count = static_cast<std::size_t>(
            std::count_if(ledger->entries.begin(), ledger->entries.end(), counts_as_failure));
    }
    return {Kind::kText, kNumbers[std::min(count, kNumbers.size() - 1)]};
}

bool succeeded_in(const Ledger* ledger) {
    return ledger != nullptr &&
           !std::all_of(ledger->entries.begin(), ledger->entries.end(), counts_as_failure);
}

/// What a field is that was not sent.
PlanValue missing(const PlanRole& role, const PlanField& field, const Seen& object) {
    switch (field.from) {
        case From::kSent:
            break;
        case From::kFalseUnlessSent:
            return {Kind::kText, "false"};
        case From::kTrueUnlessSent:
            return {Kind::kText, "true"};
        case From::kUid:
            return {Kind::kText, object.facet->object_id};
        case From::kScope:
            return {Kind::kText, object.scope};
        case From::kFailures:
            return failures_in(object.ledger);
        case From::kSucceeded:
            return {Kind::kText, succeeded_in(object.ledger) ? "true" : "false"};
    }
    return {role.kind == policy::Kind::kRow ? Kind::kUnsent : Kind::kNotThere, {}};
}

PlanValue as_sent(const PlanRole& role, const PlanField& field, const Field& sent,
                  const Seen& object) {
    if (field.from == From::kFalseUnlessSent || field.from == From::kTrueUnlessSent) {
        // Only the unusual is ever said, and by this word.
        const bool usual = field.from == From::kTrueUnlessSent;
        const bool other = sent.value == (usual ? "false" : "true");
        return {Kind::kText, usual != other ? "true" : "false"};
    }
    if (field.from != From::kSent) return missing(role, field, object);
    if (sent.unchanged) return {Kind::kUnsent, {}};
    if (!sent.value) return {Kind::kNull, {}};
    const bool nothing =
        role.kind == policy::Kind::kRow && !field.blank_is_value && blank(*sent.value);
    if (nothing) return {Kind::kNull, {}};
    if (field.type == policy::Field::Type::kBoolean && role.kind == policy::Kind::kRow) {
        // As PostgreSQL says it.
        if (sent.value == "t") return {Kind::kText, "true"};
        if (sent.value == "f") return {Kind::kText, "false"};
    }
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

/// Is it said by something else than the object's bytes?
bool derived(const PlanField& field) {
    return field.from != From::kSent && field.from != From::kFalseUnlessSent &&
           field.from != From::kTrueUnlessSent;
}

/// What the value makes of those of the field's tests that are in `which`.
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

/// What `value` makes of the field's tests.
Told told_of(const PlanRole& role, const PlanField& field, const PlanValue& value) {
    const std::size_t values = field.values.size();
    switch (value.kind) {
        case Kind::kNull:
            return field.told[values + 1];
        case Kind::kNotThere:
            return field.told[values + 2];
        case Kind::kUnsent:
            return field.told[values + 3];
        case Kind::kText:
            break;
    }
    // They are few, and as a rule of several lengths.
    const auto place = std::find(field.values.begin(), field.values.end(), value.text);
    if (place != field.values.end()) {
        return field.told[static_cast<std::size_t>(place - field.values.begin())];
    }
    Told told = field.told[values];
    add_tests(role, field, field.by_hand, value, told);
    return told;
}

/// What `told` says of these tests in place of what was said before.
void take(const Told& told, std::uint64_t tests, WorkedOut& out) {
    out.answers.can = (out.answers.can & ~tests) | told.can;
    out.answers.is = (out.answers.is & ~tests) | told.is;
    out.unreadable = (out.unreadable & ~tests) | told.unreadable;
    out.unlisted = (out.unlisted & ~tests) | told.unlisted;
}

/// Another value, another digest.
std::uint64_t digest(std::uint64_t before, std::size_t field, const PlanValue& value) {
    constexpr std::uint64_t kPrime = 0x9e3779b97f4a7c15;
    const std::uint64_t which = field * 4 + static_cast<std::uint64_t>(value.kind);
    return (before ^ hash64(value.text) ^ which * kPrime) * kPrime + 1;
}

void answer_conditions(const Plan& plan, const Seen& seen, Answers& answers) {
    const bool in_scope = !answers.out_of_scope || !plan.roles[seen.role].kubernetes();
    for (const PlanAsked& asked : plan.roles[seen.role].asked) {
        if (asked.in_scope && !in_scope) continue;
        bool may = (asked.all & ~answers.can) == 0 && (asked.none & answers.is) == 0;
        bool sure = (asked.all & ~answers.is) == 0 && (asked.none & answers.can) == 0;
        if (!asked.plain) {
            const Truth truth = by_itself(plan, asked.condition, seen);
            may = !truth.no();
            sure = truth.yes();
        }
        if (may) answers.may.set(asked.bit);
        if (sure) answers.sure.set(asked.bit);
    }
}

/// The field of that name, from `next` on; false: there is none, and `next` is where it would be.
bool advance_to(std::string_view name, std::uint64_t prefix,
                std::vector<PlanField>::const_iterator& next,
                std::vector<PlanField>::const_iterator end) {
    while (next != end && next->prefix < prefix) ++next;
    for (; next != end && next->prefix == prefix; ++next) {
        const bool as_long = next->name.size() == name.size();
        if (as_long && (name.size() <= 8 || next->name == name)) return true;
        if (next->name > name) return false;
    }
    return false;
}

/// Of a sent field that has a meaning of its own on any object.
void take_state(std::uint64_t prefix, const Field& sent, Answers& answers) {
    constexpr std::string_view kHold = "hold";
    constexpr std::string_view kDeleting = "deleting";
    constexpr std::string_view kInScope = "in_scope";
    // None is longer than a prefix.
    const auto is = [&](std::string_view name) {
        return prefix == prefix_of(name) && sent.name.size() == name.size();
    };
    if (is(kHold)) answers.vetoed |= sent.unchanged || sent.value == "true";
    if (is(kDeleting)) answers.deleting |= sent.value == "true";
    if (is(kInScope)) answers.out_of_scope |= sent.value == "false";
}

/// One walk over the object's bytes. `seen` has no answers yet.
WorkedOut work_out(const Plan& plan, Seen seen) {
    const PlanRole& role = plan.roles[seen.role];
    WorkedOut out;
    take(role.unsaid, 0, out);
    // Both are in ascending order of their names.
    auto next = role.fields.begin();
    seen.facet->fields().each([&](const Field& sent) {
        const std::uint64_t prefix = prefix_of(sent.name);
        take_state(prefix, sent, out.answers);
        if (!advance_to(sent.name, prefix, next, role.fields.end())) return;
        const PlanValue value = as_sent(role, *next, sent, seen);
        if (next->tests != 0) {
            take(told_of(role, *next, value), next->tests, out);
        }
        const bool text = value.kind == Kind::kText && next->from == From::kSent;
        if (next->is_news && (text || value != missing(role, *next, seen))) {
            const auto field = static_cast<std::size_t>(next - role.fields.begin());
            out.answers.said = digest(out.answers.said, field, value);
        }
        ++next;
    });
    for (const std::uint16_t index : role.derived) {
        const PlanField& field = role.fields[index];
        take(told_of(role, field, missing(role, field, seen)), field.tests, out);
    }
    seen.answers = &out.answers;  // why one is not known is asked by nobody yet
    answer_conditions(plan, seen, out.answers);
    // What cannot be read, or is no word that we know, is told with its reason, for which there is
    // no room.
    if ((out.unreadable | out.unlisted) == 0) out.answers.plan = plan.number;
    return out;
}

void fill(Seen& seen, const Facet& object, const Settings& settings, const Ledger* ledger) {
    const SourceSettings& source = settings.sources[object.source];
    seen.facet = &object;
    seen.ledger = ledger;
    seen.scope = source.scope;
    seen.role = source.role;
    seen.answers = &object.answers;
}

}  // namespace

PlanValue value_of(const PlanRole& role, std::uint16_t number, const Seen& object) {
    const PlanField& field = role.fields[number];
    const std::optional<Field> sent = object.facet->fields().find(field.name);
    return sent ? as_sent(role, field, *sent, object) : missing(role, field, object);
}

void keep_answers(const Plan& plan, const Facet& object, Seen& seen) {
    WorkedOut out = work_out(plan, seen);
    object.answers = out.answers;
    if (kept(plan, object)) return;
    seen.worked_out = std::make_shared<const WorkedOut>(out);
    seen.answers = &seen.worked_out->answers;
}

Seen as_seen(const Facet& object, const Settings& settings, const Ledger* ledger) {
    Seen seen;
    fill(seen, object, settings, ledger);
    return seen;
}

Seen look_at(const Plan& plan, const Facet& object, const Settings& settings,
             const Ledger* ledger) {
    Seen seen = as_seen(object, settings, ledger);
    if (kept(plan, object)) return seen;
    seen.worked_out = std::make_shared<const WorkedOut>(work_out(plan, seen));
    seen.answers = &seen.worked_out->answers;
    return seen;
}

std::uint64_t said_by(const Plan& plan, const Settings& settings, const Subject& subject,
                      const Facet& object) {
    if (!kept(plan, object)) {
        const Ledger* ledger = subject.ledger ? &*subject.ledger : nullptr;
        object.answers = work_out(plan, as_seen(object, settings, ledger)).answers;
    }
    return object.answers.said;
}

void forget_answers(const Subject& subject) {
    for (const Facet& facet : subject.facets) facet.answers.plan = 0;
}

std::uint64_t said_to(const Plan& plan, const PlanRule& rule, const Subject& subject,
                      const Settings& settings) {
    std::uint64_t sum = 0;
    for (const Facet& facet : subject.facets) {
        const Role number = settings.sources[facet.source].role;
        if (!facet.present() || number >= plan.roles.size()) continue;
        const PlanRole& role = plan.roles[number];
        const Seen seen = as_seen(facet, settings, nullptr);
        for (const PlanCase& each : rule.cases) {
            if (each.mentions[number].empty()) continue;
            const std::size_t state = (vetoed(facet) ? 1U : 0U) + (deleting(facet) ? 2U : 0U) +
                                      (ours(role, facet) ? 4U : 0U);
            sum = digest(sum, state, {Kind::kText, facet.object_id});
            for (const std::uint16_t field : each.mentions[number]) {
                if (!derived(role.fields[field]))
                    sum = digest(sum, field, value_of(role, field, seen));
            }
        }
    }
    return sum;
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

Truth claim_of(const Plan& plan, const Facet& object, const Settings& settings) {
    const Seen seen = look_at(plan, object, settings, nullptr);
    return by_itself(plan, plan.roles[seen.role].live, seen);
}

Bits may_be(const Plan& plan, const std::vector<SourceState>& sources, const Word& word) {
    Bits may = word.shown;
    std::uint32_t shown = word.roles;
    for (const PlanRole& role : plan.roles) {
        const bool there = (shown & 1U) != 0;
        shown >>= 1U;
        if (there) continue;
        for (const SourceId id : role.sources) {
            if (sources[id].known) continue;
            may |= role.bits;
            break;
        }
    }
    return may;
}

void look_at(const Plan& plan, const Subject& subject, const Settings& settings,
             const std::vector<SourceState>& sources, Facts& facts) {
    facts.seen.clear();
    facts.word = {};
    const Ledger* ledger = subject.ledger ? &*subject.ledger : nullptr;
    for (const Facet& facet : subject.facets) {
        const Role role = settings.sources[facet.source].role;
        if (!facet.present() || role >= plan.roles.size()) continue;
        Seen& seen = facts.seen.emplace_back();
        fill(seen, facet, settings, ledger);
        if (!kept(plan, facet)) keep_answers(plan, facet, seen);
        facts.word.add(role, *seen.answers);
    }
    facts.may = may_be(plan, sources, facts.word);
}

bool owned_by(const Plan& plan, const PlanRule& rule, const Facts& facts, std::string_view who) {
    return std::any_of(facts.seen.begin(), facts.seen.end(), [&](const Seen& seen) {
        if (seen.role != rule.owner.role) return false;
        const PlanValue owner = value_of(plan.roles[seen.role], rule.owner.field, seen);
        return owner.kind == Kind::kText && owner.text == who;
    });
}

}  // namespace trueup::core
