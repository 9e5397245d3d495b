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

inline bool says_nothing(const PlanRole& role, const PlanField& field, std::string_view text) {
    return role.kind == policy::Kind::kRow && !field.blank_is_value && blank(text);
}

/// As as_sent, whatever the field and whatever was sent.
PlanValue any_as_sent(const PlanRole& role, const PlanField& field, const Field& sent,
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
    if (says_nothing(role, field, *sent.value)) return {Kind::kNull, {}};
    if (field.type == policy::Field::Type::kBoolean && role.kind == policy::Kind::kRow) {
        // As PostgreSQL says it.
        if (sent.value == "t") return {Kind::kText, "true"};
        if (sent.value == "f") return {Kind::kText, "false"};
    }
    return {Kind::kText, *sent.value};
}

inline PlanValue as_sent(const PlanRole& role, const PlanField& field, const Field& sent,
                         const Seen& object) {
    if (field.verbatim && sent.value && !says_nothing(role, field, *sent.value)) {
        return {Kind::kText, *sent.value};  // nearly always
    }
    return any_as_sent(role, field, sent, object);
}

/// What is read of a role's objects, in step with the fields of one: both are in ascending order of
/// their names.
class Steps {
  public:
    explicit Steps(const PlanRole& role) : fields_(role.fields.data()), next_(role.read.data()) {}

    /// The field of that name, or nullptr. What is told of those passed over is of an object that
    /// does not say them.
    const PlanField* to(std::string_view name, std::uint64_t prefix, Told& told) {
        const PlanRole::Read* next = next_;
        const PlanField* found = nullptr;
        for (; next->prefix <= prefix && next->field != PlanRole::Read::kEnd; ++next) {
            const PlanField& field = fields_[next->field];
            if (next->prefix == prefix) {
                const bool as_long = field.name.size() == name.size();
                if (as_long && (name.size() <= 8 || field.name == name)) {
                    found = &field;
                    ++next;
                    break;
                }
                if (field.name > name) break;
            }
            told |= field.unsaid;
        }
        next_ = next;
        return found;
    }
    void finish(Told& told) {
        for (; next_->field != PlanRole::Read::kEnd; ++next_) told |= fields_[next_->field].unsaid;
    }

  private:
    const PlanField* fields_;
    const PlanRole::Read* next_;
};

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

/// Of all that the role asks of its objects, what this one makes true.
void answer(const Plan& plan, const PlanRole& role, const Told& told, Seen& seen,
            Answers& answers) {
    answers.can = told.can;
    answers.is = told.is;
    answers.may = role.plain.without(told.denied);
    answers.sure = role.plain.without(told.unsure);
    seen.answers = &answers;  // why one is not known is asked by nobody yet
    for (const std::uint16_t index : role.walked) {
        const PlanAsked& asked = role.asked[index];
        const Truth truth = by_itself(plan, asked.condition, seen);
        answers.may.set(asked.bit, !truth.no());
        answers.sure.set(asked.bit, truth.yes());
    }
    if (!answers.out_of_scope) return;
    answers.may = answers.may.without(role.scoped);
    answers.sure = answers.sure.without(role.scoped);
}

/// One walk over the object's bytes. `seen` has no answers yet.
WorkedOut work_out(const Plan& plan, Seen seen) {
    const PlanRole& role = plan.roles[seen.role];
    Answers answers;
    Told told;
    Steps steps(role);
    seen.facet->fields().each([&](const Field& sent) {
        const std::uint64_t prefix = prefix_of(sent.name);
        take_state(prefix, sent, answers);
        const PlanField* field = steps.to(sent.name, prefix, told);
        if (field == nullptr) return;
        const PlanValue value = as_sent(role, *field, sent, seen);
        const std::size_t place = place_in(*field, value);
        if (field->tests != 0) tell(role, *field, value, place, told);
        const bool text = value.kind == Kind::kText && field->from == From::kSent;
        if (!field->is_news || (!text && value == missing(role, *field, seen))) return;
        const auto number = static_cast<std::size_t>(field - role.fields.data());
        const bool listed = place < field->values.size();
        answers.said =
            listed ? digest(answers.said, number * 4, place) : digest(answers.said, number, value);
    });
    steps.finish(told);
    for (const std::uint16_t index : role.derived) {
        const PlanField& field = role.fields[index];
        tell(role, field, missing(role, field, seen), told);
    }
    answer(plan, role, told, seen, answers);
    // What cannot be read, or is no word that we know, is told with its reason, for which there is
    // no room.
    if ((told.unreadable | told.unlisted) == 0) answers.plan = plan.number;
    return {answers, told.unreadable, told.unlisted};
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
