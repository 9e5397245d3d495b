#include "apps/config/policy_table.h"

#include "apps/config/policy_overlaps.h"
#include "apps/config/policy_terms.h"
#include "apps/config/words.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace trueup::config {

namespace {

using policy::Condition;
using policy::Op;
using policy::Quantifier;

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
    return fmt::format("{}", fmt::join(parts, between));
}

class Table {
  public:
    explicit Table(const policy::Policy& policy) : policy_(policy) {}

    std::string run() {
        text_ = fmt::format("policy    {}: {}\n", policy_.name,
                            policy_.subject.empty() ? "the subject is not named" : policy_.subject);
        if (policy_.stale_after != policy::Policy{}.stale_after) {
            text_ += fmt::format("  stale       a source that was silent for {}\n",
                                 duration_text(policy_.stale_after));
        }
        for (const policy::Role& role : policy_.roles) add(role);
        for (const policy::NamedCondition& condition : policy_.conditions) add(condition);
        for (const policy::Count& count : policy_.counts) add(count);
        if (policy_.ledger) add(*policy_.ledger);
        for (const auto& [request, owner] : policy_.requests) {
            text_ +=
                fmt::format("request   {}: by {}operators\n", request,
                            owner.field.empty() ? "" : "whom " + of(owner) + " names, and by ");
        }
        for (const policy::Rule& rule : policy_.rules) add(rule);
        for (const Overlap& overlap : overlaps(policy_)) add(overlap);
        text_ +=
            "\n\nalways: two claims abstain · unknown values abstain · vetoes · own writes · "
            "budget, windows and modes of the configuration\n";
        return std::move(text_);
    }

  private:
    std::string of(const Condition& condition, const policy::Role& role) const {
        if (condition.kind == Condition::Kind::kTest) return of(condition.test, role);
        if (condition.parts.empty()) {
            return condition.kind == Condition::Kind::kAll ? "any" : "never";
        }
        std::vector<std::string> parts;
        for (const Condition& part : condition.parts) parts.push_back(of(part, role));
        const bool all = condition.kind == Condition::Kind::kAll;
        const std::string text = joined(parts, all ? ", " : " or ");
        return all || parts.size() == 1 ? text : '(' + text + ')';
    }

    std::string of(const policy::Test& test, const policy::Role& role) const {
        const std::string is = test.negated ? "is not" : "is";
        const std::string first = test.values.empty() ? "" : test.values.front();
        const std::string other = of(test.other);
        const std::string no = test.negated ? "not " : "";
        switch (test.op) {
            case Op::kIn:
                return fmt::format("{} {} {}{}", test.field, is, joined(test.values, " or "),
                                   left_out(test, role));
            case Op::kSet:
                return fmt::format("{} {} set", test.field, is);
            case Op::kSame:
                return fmt::format("{} {} that of {}", test.field, is, other);
            case Op::kStarts:
                return fmt::format("{} {}begins with '{}'", test.field, no, first);
            case Op::kLike:
                return fmt::format("{} {}like '{}'", test.field, no, first);
            case Op::kOver:
                return fmt::format("{} {}over {}", test.field, no, first);
            case Op::kUnder:
                return fmt::format("{} {}under {}", test.field, no, first);
            case Op::kAtLeast:
                return fmt::format("{} {}at least {}", test.field, no, first);
            case Op::kAtMost:
                return fmt::format("{} {}at most {}", test.field, no, first);
            case Op::kBefore:
                return fmt::format("{} {}before {}", test.field, no, other);
            case Op::kAfter:
                return fmt::format("{} {}after {}", test.field, no, other);
            case Op::kIs:
                return fmt::format("{} {}", is, first);
        }
        return "";
    }

    /// What a list, or its `not`, does not take of the words that are known.
    static std::string left_out(const policy::Test& test, const policy::Role& role) {
        const policy::Field* field = policy::find_field(role, test.field);
        if (field == nullptr || field->words.empty())
            return test.negated ? " (any other value)" : "";
        std::vector<std::string> others;
        for (const std::string& word : field->words) {
            const bool named =
                std::find(test.values.begin(), test.values.end(), word) != test.values.end();
            if (!named) others.push_back(word);
        }
        if (others.empty()) return "";
        return fmt::format(" ({}{})", test.negated ? "but " : "not ", joined(others, ", "));
    }

    std::string of(const policy::Pattern& pattern) const {
        const policy::Role& role = *policy::find_role(policy_, pattern.role);
        std::string text = pattern.quantifier == Quantifier::kOne    ? "one"
                           : pattern.quantifier == Quantifier::kNone ? "none, proven"
                           : pattern.quantifier == Quantifier::kSome ? "some"
                                                                     : "one too many";
        if (!pattern.condition.always()) text += " with " + of(pattern.condition, role);
        std::vector<std::string> kept;
        for (const policy::Ranking& best : pattern.keep) {
            kept.push_back(best.latest.empty() ? of(best.condition, role)
                                               : "the latest " + best.latest);
        }
        if (!kept.empty()) text += "; kept is, in this order: " + joined(kept, "; then ");
        if (!pattern.named_literal.empty()) text += ", named '" + pattern.named_literal + "'";
        if (!pattern.named.field.empty()) {
            text += ", named by " + of(pattern.named);
        }
        if (!pattern.in.field.empty()) text += ", in " + of(pattern.in);
        return text;
    }

    std::string of(const policy::Text& text) const {
        std::string made;
        for (const policy::Piece& piece : text) {
            switch (piece.kind) {
                case policy::Piece::Kind::kLiteral:
                    made += piece.literal;
                    break;
                case policy::Piece::Kind::kField:
                    made += '{' + of(piece.field) + '}';
                    break;
                case policy::Piece::Kind::kSubject:
                    made += "{subject}";
                    break;
                case policy::Piece::Kind::kNow:
                    made += "{now}";
                    break;
            }
        }
        return made;
    }

    static std::string of(const policy::FieldRef& field) {
        return field.role + (field.field.empty() ? "" : '.' + field.field);
    }

    std::string of(const policy::Template& object) const {
        using Kind = policy::Template::Kind;
        if (object.kind == Kind::kNull) return "null";
        if (object.kind == Kind::kBare) return of(object.text);
        if (object.kind == Kind::kText) return "'" + of(object.text) + "'";
        const bool map = object.kind == Kind::kMap;
        std::vector<std::string> parts;
        for (const policy::Template& part : object.parts) {
            parts.push_back((map ? part.key + ": " : "") + of(part));
        }
        return (map ? '{' : '[') + joined(parts, ", ") + (map ? '}' : ']');
    }

    std::string of(const policy::Step& step) const {
        if (!policy::acts(step.verb)) return "report";
        std::string text = fmt::format("{} {}", policy::name_of(step.verb), step.role);
        if (!step.subresource.empty()) text += '/' + step.subresource;
        if (!step.name.empty()) text += " '" + of(step.name) + "'";
        std::vector<std::string> sets;
        for (const policy::Assigned& set : step.sets) {
            sets.push_back(set.field + " = " + (set.value ? "'" + of(*set.value) + "'" : "null"));
        }
        if (!sets.empty()) text += ": " + joined(sets, ", ");
        if (step.object) text += ", as " + of(*step.object);
        if (!step.from.empty()) text += ", made by " + step.from;
        std::vector<std::string> read;
        for (const policy::FieldRef& field : step.reads) read.push_back(of(field));
        if (!read.empty()) text += ", made from " + joined(read, ", ");
        if (step.grace_period) text += fmt::format(", grace period {}s", *step.grace_period);
        if (!step.propagation.empty() && step.propagation != "background") {
            text += ", propagation " + step.propagation;
        }
        return text;
    }

    void add(const policy::Role& role) {
        std::vector<std::string> notes;
        if (!role.live.always()) notes.push_back("claims where " + of(role.live, role));
        if (role.several) notes.emplace_back("several are normal");
        if (role.optional) notes.emplace_back("optional");
        if (role.reference) notes.emplace_back("looked up by name");
        if (!role.scope.empty()) notes.push_back("a source for each " + role.scope);
        if (!role.as_of_field.empty()) {
            notes.push_back(fmt::format("as of {} of {}", of(role.as_of), role.as_of_at));
        }
        if (!role.also.empty()) notes.push_back("also known by " + enumerate(role.also));
        text_ +=
            fmt::format("role      {}: {}, by {}{}{}\n", role.name, name_of(role.kind),
                        policy::key_text(role.key), notes.empty() ? "" : "; ", joined(notes, "; "));
        std::vector<std::string> fields;
        for (const policy::Field& field : role.fields) fields.push_back(of(field));
        if (!fields.empty()) text_ += "  reads       " + joined(fields, "; ") + '\n';
    }

    static std::string of(const policy::Field& field) {
        std::string text = field.name + ": ";
        text +=
            field.words.empty() ? std::string(name_of(field.type)) : enumerate(field.words, "or");
        if (!field.path.empty()) text += " at " + field.path;
        if (!field.zone.empty()) text += " in " + field.zone;
        if (field.required) text += ", required";
        if (field.null_unequal) text += ", NULL is unequal";
        if (field.blank_is_value) text += ", blank is a value";
        return text;
    }

    void add(const policy::Ledger& ledger) {
        const policy::Role& role = *policy::find_role(policy_, ledger.objects);
        text_ += fmt::format(
            "ledger    how {} of {} ended: failed where {}{}, succeeded where {}{}{}\n",
            ledger.objects, of(ledger.of), of(ledger.failed, role),
            ledger.gone_failed ? " or gone" : "", of(ledger.succeeded, role),
            ledger.belongs.always() ? "" : "; only where " + of(ledger.belongs, role),
            ledger.known.field.empty() ? "" : "; and what " + of(ledger.known) + " lists");
    }

    void add(const policy::NamedCondition& condition) {
        text_ += fmt::format("condition {}, of {}, by the first line that matches\n",
                             condition.name, condition.about);
        using Then = policy::NamedCondition::Line::Then;
        for (const auto& line : condition.lines) {
            std::vector<std::string> when;
            for (const policy::Pattern& pattern : line.when) {
                const policy::Role& role = *policy::find_role(policy_, pattern.role);
                const bool own = pattern.role == condition.about;
                when.push_back(pattern.role + ' ' +
                               (own ? of(pattern.condition, role) : of(pattern)));
            }
            const std::string then = line.then == Then::kTrue    ? "yes"
                                     : line.then == Then::kFalse ? "no"
                                                                 : "unknown: " + line.because;
            text_ += fmt::format("          {} → {}\n", when.empty() ? "else" : joined(when, "; "),
                                 then);
        }
    }

    void add(const policy::Count& count) {
        std::vector<std::string> any;
        for (const auto& subjects : count.subjects) {
            std::vector<std::string> all;
            all.reserve(subjects.size());
            for (const policy::Pattern& pattern : subjects) {
                all.push_back(pattern.role + ' ' + of(pattern));
            }
            any.push_back(joined(all, ", "));
        }
        if (!count.role.empty()) {
            const policy::Role& role = *policy::find_role(policy_, count.role);
            any.push_back(count.role + ' ' + of(count.objects, role));
        }
        text_ +=
            fmt::format("count     {}: {}{}{}\n", count.name, joined(any, "; or "),
                        count.by.empty() ? "" : ", by " + count.by,
                        count.reason.empty() ? "" : "; what waits for it says " + count.reason);
    }

    void add(const policy::Rule& rule) {
        text_ += fmt::format("\nrule      {}: {}{}\n", rule.name, rule.finds,
                             rule.off ? " (off until it is switched on)" : "");
        if (rule.keyless) text_ += "  also        objects without a key, which are reported only\n";
        for (const policy::Case& each : rule.cases) add(each);
        std::vector<std::string> waits;
        if (rule.grace > Millis(0)) waits.push_back("grace " + duration_text(rule.grace));
        if (rule.create_window > Millis(0)) {
            waits.push_back(
                fmt::format("the other side is known to be complete up to {} after {}",
                            duration_text(rule.create_window),
                            rule.since_first_seen ? "it was first seen" : "its last change"));
        } else if (rule.since_first_seen) {
            waits.emplace_back("the other side was heard of since it was first seen");
        }
        if (!rule.requested.empty()) waits.push_back("a request to " + rule.requested);
        if (!rule.backoff.empty()) {
            std::vector<std::string> steps;
            for (const Millis step : rule.backoff) steps.push_back(duration_text(step));
            waits.push_back("after failures " + joined(steps, ", "));
        }
        if (!waits.empty()) text_ += "  only after  " + joined(waits, "; ") + '\n';
        if (!rule.acknowledge.empty()) {
            text_ += "  known       " + joined(rule.acknowledge, ", ") + '\n';
        }
    }

    void add(const policy::Case& found) {
        if (found.duplicates) text_ += "  when        two live objects of one role claim it\n";
        const char* word = "when";
        for (const policy::Pattern& pattern : found.when) {
            text_ += fmt::format("  {:<10}  {}: {}\n", word, pattern.role, of(pattern));
            word = "";
        }
        if (found.past) {
            const auto* field = std::get_if<policy::FieldRef>(&found.past->length);
            text_ +=
                fmt::format("  past        {} + {}\n", of(found.past->from),
                            field != nullptr ? of(*field)
                                             : duration_text(std::get<Millis>(found.past->length)));
        }
        std::vector<std::string> steps;
        for (const policy::Step& step : found.steps) steps.push_back(of(step));
        text_ += "  does        " + joined(steps, "; then ") + '\n';
        if (!found.ask_while.empty()) {
            text_ += fmt::format("  approval    while {} is not 0\n", enumerate(found.ask_while));
        }
    }

    void add(const Overlap& overlap) {
        text_ += fmt::format(
            "\noverlap   {} and {} may be found of one subject; the first command wins{}",
            policy_.rules[overlap.rule].name, policy_.rules[overlap.other].name,
            overlap.role.empty() ? "" : ", and each changes " + overlap.role + " in its own way");
    }

    const policy::Policy& policy_;
    std::string text_;
};

}  // namespace

std::string policy_table(const policy::Policy& policy) { return Table(policy).run(); }

}  // namespace trueup::config
