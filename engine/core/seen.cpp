#include "engine/core/seen.h"

#include "engine/base/id.h"
#include "engine/base/prefix.h"
#include "engine/core/by_itself.h"
#include "engine/core/told.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

namespace trueup::core {

namespace {

using Kind = PlanValue::Kind;
using From = PlanField::From;

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

/// What `told` says of these tests in place of what was said before.
void take(const Told& told, std::uint64_t tests, WorkedOut& out) {
    out.answers.can = (out.answers.can & ~tests) | told.can;
    out.answers.is = (out.answers.is & ~tests) | told.is;
    out.unreadable = (out.unreadable & ~tests) | told.unreadable;
    out.unlisted = (out.unlisted & ~tests) | told.unlisted;
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

}  // namespace

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

Truth claim_of(const Plan& plan, const Facet& object, const Settings& settings) {
    const Seen seen = look_at(plan, object, settings, nullptr);
    return by_itself(plan, plan.roles[seen.role].live, seen);
}

}  // namespace trueup::core
