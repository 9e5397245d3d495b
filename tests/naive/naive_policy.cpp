#include "tests/naive/naive_policy.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

namespace trueup::testing::naive {

namespace {

using policy::Condition;
using policy::Op;
using policy::Quantifier;
using policy::Verb;

// ------------------------------------------------------------------ three values

struct Truth {
    enum class Is : unsigned char { kFalse, kUnknown, kTrue };
    Is is = Is::kTrue;
    Reason why = Reason::kNone;  ///< of kUnknown

    bool no() const { return is == Is::kFalse; }
    bool yes() const { return is == Is::kTrue; }
    bool unknown() const { return is == Is::kUnknown; }
};
const Truth kYes{Truth::Is::kTrue, Reason::kNone};
const Truth kNo{Truth::Is::kFalse, Reason::kNone};
Truth unknown(Reason why) { return {Truth::Is::kUnknown, why}; }
Truth truth(bool value) { return value ? kYes : kNo; }

Truth opposite(Truth value) {
    if (value.unknown()) return value;
    return truth(value.no());
}
Truth both(Truth a, Truth b) {
    if (a.no() || b.no()) return kNo;
    if (a.unknown()) return a;
    return b;
}
Truth either(Truth a, Truth b) { return opposite(both(opposite(a), opposite(b))); }

// ------------------------------------------------------------------ values

struct Value {
    enum class Kind : unsigned char { kText, kNull, kNotThere, kUnsent };
    Kind kind = Kind::kNotThere;
    std::string text;
    bool operator==(const Value&) const = default;
};

bool blank(std::string_view text) {
    return text.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos;
}

bool in_kubernetes(const policy::Role& role) {
    return role.kind == policy::Kind::kPod || role.kind == policy::Kind::kObject;
}

Value value_in(const policy::Role& role, const Facet& facet, const std::string& name,
               const std::vector<Ledger::Entry>& ends) {
    using Kind = Value::Kind;
    const std::optional<Field> sent = facet.fields().find(name);
    const policy::Field* field = policy::find_field(role, name);
    if (field == nullptr && in_kubernetes(role)) {
        // What is not said of a standing is the usual.
        if (name == "deleting")
            return {Kind::kText, facet.fields().is(name, "true") ? "true" : "false"};
        if (name == "in_scope")
            return {Kind::kText, facet.fields().is(name, "false") ? "false" : "true"};
        if (name == "uid") return {Kind::kText, facet.object_id};
    }
    const bool ledger = field == nullptr && (name == "failures" || name == "succeeded");
    if (ledger) {
        std::size_t failures = 0;
        bool succeeded = false;
        for (const Ledger::Entry& entry : ends) {
            if (entry.end == End::kSucceeded) succeeded = true;
            if (entry.end != End::kSucceeded) ++failures;
        }
        if (name == "succeeded") return {Kind::kText, succeeded ? "true" : "false"};
        return {Kind::kText, std::to_string(failures)};
    }
    if (!sent) return {role.kind == policy::Kind::kRow ? Kind::kUnsent : Kind::kNotThere, {}};
    if (sent->unchanged) return {Kind::kUnsent, {}};
    if (!sent->value) return {Kind::kNull, {}};
    const bool nothing = role.kind == policy::Kind::kRow && blank(*sent->value) &&
                         (field == nullptr || !field->blank_is_value);
    if (nothing) return {Kind::kNull, {}};
    const bool boolean = role.kind == policy::Kind::kRow && field != nullptr &&
                         field->type == policy::Field::Type::kBoolean;
    if (boolean && *sent->value == "t") return {Kind::kText, "true"};
    if (boolean && *sent->value == "f") return {Kind::kText, "false"};
    return {Kind::kText, std::string(*sent->value)};
}

std::optional<std::int64_t> number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// `*` is any text.
bool matches(std::string_view text, std::string_view pattern) {
    if (pattern.empty()) return text.empty();
    if (pattern.front() == '*') {
        for (std::size_t skip = 0; skip <= text.size(); ++skip) {
            if (matches(text.substr(skip), pattern.substr(1))) return true;
        }
        return false;
    }
    return !text.empty() && text.front() == pattern.front() &&
           matches(text.substr(1), pattern.substr(1));
}

// ------------------------------------------------------------------ a judgement

using Bound = std::map<std::string, const Facet*>;  ///< role → the object that its pattern binds

class Judgement {
  public:
    Judgement(const policy::Policy& policy, const policy::Rule& rule, const Subject& subject,
              const Moment& moment)
        : policy_(policy), rule_(rule), subject_(subject), moment_(moment) {}

    std::vector<std::uint64_t> counted() {
        by_itself_ = true;
        std::vector<std::uint64_t> all;
        for (const policy::Count& count : policy_.counts) {
            if (count.role.empty()) {
                all.push_back(counts_for(count) ? 1 : 0);
            } else {
                count_objects(count, all);
            }
        }
        return all;
    }

    Ledger ends() {
        by_itself_ = true;
        const policy::Ledger& text = *policy_.ledger;
        std::vector<const Facet*> whose = facets(text.of.role);
        const policy::Role& of = role(text.of.role);
        std::erase_if(whose, [&](const Facet* facet) {
            return !in_reach(of, *facet) || holds(of.live, of, *facet, {}).no();
        });
        if (whose.size() != 1) return {};
        const Facet& owner = *whose.front();
        Ledger seen;
        seen.of = owner.object_id;
        if (!text.of.field.empty()) {
            const Value value = value_of(of, owner, text.of.field);
            if (value.kind != Value::Kind::kText) return {};
            seen.of = value.text;
        }
        for (const Facet& facet : subject_.facets) {
            for (const Source& source : sources(text.objects)) {
                if (source.id != facet.source) continue;
                if (const auto end = end_of(facet, owner)) {
                    seen.entries.push_back({facet.object_id, *end, moment_.now});
                }
            }
        }
        if (text.known.role == text.of.role) {
            std::string listed = value_of(of, owner, text.known.field).text + ' ';
            for (std::size_t end = 0; (end = listed.find(' ')) != std::string::npos;) {
                const std::string uid = listed.substr(0, listed.substr(0, end).find('='));
                const std::string one = uid.substr(0, std::min(uid.size(), end));
                if (!one.empty()) seen.entries.push_back({one, End::kFailed, moment_.now});
                listed.erase(0, end + 1);
            }
        }
        return seen;
    }

    bool may_claim(const std::string& name, const Facet& facet) const {
        const policy::Role& of = role(name);
        const Truth claims = holds(of.live, of, facet, {});
        return !claims.yes() && !claims.no();
    }

    Judged run() {
        if (subject_.ending) return abstain(Reason::kEnding);
        if (subject_.reference() && (!rule_.keyless || is_looked_up())) return {};
        if (!rule_.requested.empty() && !asked_for()) return {};
        for (const policy::Case& each : rule_.cases) {
            Judged verdict = each.duplicates ? duplicates() : judge_case(each);
            if (!rule_.requested.empty()) verdict = answered(each, verdict);
            if (verdict.kind != Verdict::Kind::kHealthy) return verdict;
        }
        return {};
    }

  private:
    static Judged abstain(Reason why) {
        Judged judged;
        judged.kind = Verdict::Kind::kAbstain;
        judged.reason = why;
        return judged;
    }
    static Judged waiting(Reason why, const Facet& about) {
        Judged judged = abstain(why);
        judged.kind = Verdict::Kind::kWaiting;
        judged.object_id = about.object_id;
        return judged;
    }

    /// Nothing of it has a key that could be told: it is there for others to look up.
    bool is_looked_up() const {
        for (const policy::Role& of : policy_.roles) {
            if (!of.reference && !facets(of.name).empty()) return false;
        }
        return true;
    }

    // ------------------------------------------------------------------ counts and ends

    bool in_reach(const policy::Role& of, const Facet& facet) const {
        return !in_kubernetes(of) || !facet.fields().is("in_scope", "false");
    }

    /// By what is there: whom a source is silent of changes no count.
    bool counts_for(const policy::Count& count) const {
        if (subject_.ending) return false;
        return std::any_of(count.subjects.begin(), count.subjects.end(), [&](const auto& when) {
            return subject_.reference()
                       ? may_own(when)
                       : std::all_of(when.begin(), when.end(),
                                     [&](const auto& each) { return may_hold(each); });
        });
    }
    bool may_hold(const policy::Pattern& pattern) const {
        const policy::Role& of = role(pattern.role);
        std::size_t may = 0;
        std::size_t is = 0;
        for (const Facet* facet : facets(pattern.role)) {
            const bool none = pattern.quantifier == Quantifier::kNone;
            if (!none && !in_reach(of, *facet)) continue;
            const Truth so = holds(pattern.condition, of, *facet, {});
            if (!so.no()) ++may;
            if (so.yes()) ++is;
        }
        if (pattern.quantifier == Quantifier::kNone) return is == 0;
        return may >= (pattern.quantifier == Quantifier::kSurplus ? 2U : 1U);
    }
    /// A row without a key may be anybody's.
    bool may_own(const std::vector<policy::Pattern>& when) const {
        return std::any_of(when.begin(), when.end(), [&](const policy::Pattern& pattern) {
            const policy::Role& of = role(pattern.role);
            if (of.kind != policy::Kind::kRow || pattern.quantifier == Quantifier::kNone)
                return false;
            const std::vector<const Facet*> all = facets(pattern.role);
            return std::any_of(all.begin(), all.end(), [&](const Facet* facet) {
                return !holds(of.live, of, *facet, {}).no();
            });
        });
    }
    void count_objects(const policy::Count& count, std::vector<std::uint64_t>& all) const {
        const policy::Role& of = role(count.role);
        std::map<std::string, std::uint64_t> by;
        for (const Facet* facet : facets(count.role)) {
            if (holds(count.objects, of, *facet, {}).no()) continue;
            ++by[count.by.empty() ? "" : value_of(of, *facet, count.by).text];
        }
        if (count.by.empty()) return all.push_back(by[""]);
        for (const std::string& word : policy::find_field(of, count.by)->words) {
            all.push_back(by[word]);
        }
    }

    /// nullopt: it did not end, or is not one of them.
    std::optional<End> end_of(const Facet& facet, const Facet& owner) const {
        const policy::Ledger& text = *policy_.ledger;
        if (!facet.present()) {
            // One that came before is of an earlier one of the name.
            const bool its = facet.first_seen >= owner.first_seen;
            return text.gone_failed && its ? std::optional(End::kGone) : std::nullopt;
        }
        const policy::Role& of = role(text.objects);
        const Bound bound{{text.of.role, &owner}};
        if (!holds(text.belongs, of, facet, bound).yes()) return std::nullopt;
        if (holds(text.failed, of, facet, bound).yes()) return End::kFailed;
        if (holds(text.succeeded, of, facet, bound).yes()) return End::kSucceeded;
        return std::nullopt;
    }

    const policy::Role& role(const std::string& name) const {
        return *policy::find_role(policy_, name);
    }
    const std::vector<Source>& sources(const std::string& name) const {
        static const std::vector<Source> kNone;
        const auto found = moment_.roles.find(name);
        return found == moment_.roles.end() ? kNone : found->second;
    }
    /// Its present objects, by source and id.
    std::vector<const Facet*> facets(const std::string& name) const {
        std::vector<const Facet*> all;
        for (const Facet& facet : subject_.facets) {
            for (const Source& source : sources(name)) {
                if (source.id == facet.source && facet.present()) all.push_back(&facet);
            }
        }
        return all;
    }

    Value value_of(const policy::Role& role, const Facet& facet, const std::string& name) const {
        static const std::vector<Ledger::Entry> kNone;
        if (name == "scope" && !role.scope.empty() && policy::find_field(role, name) == nullptr) {
            for (const Source& source : sources(role.name)) {
                if (source.id == facet.source) return {Value::Kind::kText, source.scope};
            }
        }
        const bool own = policy_.ledger && policy_.ledger->of.role == role.name;
        const bool some = own && subject_.ledger;
        return value_in(role, facet, name, some ? subject_.ledger->entries : kNone);
    }

    /// By who may still ask.
    bool asked_for() const {
        if (!subject_.request || subject_.request->name != rule_.requested) return false;
        if (!subject_.request->owners) return true;
        const policy::FieldRef& owner = policy_.requests.at(rule_.requested);
        const std::vector<const Facet*> all = facets(owner.role);
        if (all.empty()) {
            // What nobody has shown yet may be theirs.
            for (const Source& source : sources(owner.role)) {
                if (!source.known) return true;
            }
        }
        return std::any_of(all.begin(), all.end(), [&](const Facet* facet) {
            const Value now = value_of(role(owner.role), *facet, owner.field);
            return now.kind == Value::Kind::kUnsent || now.text == subject_.request->by;
        });
    }

    Truth test(const policy::Test& test, const policy::Role& of, const Facet& object,
               const Bound& bound) const {
        // Of an object whose key cannot be told, its fields say nothing of which one it is.
        const std::vector<std::string> key = policy::fields_of(of.key);
        const bool constant = test.op != Op::kIs && test.op != Op::kSame &&
                              test.op != Op::kBefore && test.op != Op::kAfter;
        const bool in_key = std::find(key.begin(), key.end(), test.field) != key.end();
        const bool keyless = subject_.reference() && !of.reference && !by_itself_;
        if (keyless && constant && in_key) return kYes;
        const Truth plain = plain_test(test, of, object, bound);
        return test.negated ? opposite(plain) : plain;
    }

    Truth plain_test(const policy::Test& test, const policy::Role& of, const Facet& object,
                     const Bound& bound) const {
        using Kind = Value::Kind;
        if (test.op == Op::kIs) return named(test.values.front(), object);
        const Value value = value_of(of, object, test.field);
        if (value.kind == Kind::kUnsent) return unknown(Reason::kIncomplete);
        if (test.op == Op::kSet) return truth(value.kind == Kind::kText);
        const policy::Field* field = policy::find_field(of, test.field);
        if (value.kind == Kind::kNull && (field == nullptr || !field->null_unequal)) {
            return unknown(Reason::kIncomplete);
        }
        if (value.kind == Kind::kNotThere && field != nullptr && field->required) {
            return unknown(Reason::kIncomplete);
        }
        if (test.op == Op::kSame || test.op == Op::kBefore || test.op == Op::kAfter) {
            return against_other(test, value, of, object, bound);
        }
        if (value.kind != Kind::kText) return kNo;
        if (unlisted(field, value)) return unknown(Reason::kUnknownWord);
        if (unreadable(field, value.text)) return unknown(Reason::kUnreadable);
        if (test.op == Op::kIn && field != nullptr && field->type == policy::Field::Type::kNumber) {
            for (const std::string& one : test.values) {
                if (number(one) == number(value.text)) return kYes;
            }
            return kNo;
        }
        return against_constants(test, value.text);
    }

    /// What is declared as a number or as true or false, and says something else.
    static bool unreadable(const policy::Field* field, const std::string& text) {
        if (field == nullptr) return false;
        if (field->type == policy::Field::Type::kNumber) return !number(text).has_value();
        return field->type == policy::Field::Type::kBoolean && text != "true" && text != "false";
    }

    /// A word that nobody listed may mean anything.
    static bool unlisted(const policy::Field* field, const Value& value) {
        if (field == nullptr || field->words.empty() || value.kind != Value::Kind::kText)
            return false;
        return std::find(field->words.begin(), field->words.end(), value.text) ==
               field->words.end();
    }

    static Truth against_constants(const policy::Test& test, const std::string& text) {
        const std::string& first = test.values.front();
        if (test.op == Op::kIn) {
            return truth(std::find(test.values.begin(), test.values.end(), text) !=
                         test.values.end());
        }
        if (test.op == Op::kStarts) return truth(text.starts_with(first));
        if (test.op == Op::kLike) return truth(matches(text, first));
        const auto is = number(text);
        const auto limit = number(first);
        if (!is || !limit) return unknown(Reason::kUnreadable);
        if (test.op == Op::kOver) return truth(*is > *limit);
        if (test.op == Op::kUnder) return truth(*is < *limit);
        if (test.op == Op::kAtLeast) return truth(*is >= *limit);
        return truth(*is <= *limit);
    }

    Truth against_other(const policy::Test& test, const Value& value, const policy::Role& of,
                        const Facet& object, const Bound& bound) const {
        const bool own = test.other.role == of.name;
        const auto other = bound.find(test.other.role);
        if (!own && (other == bound.end() || other->second == nullptr)) {
            return unknown(Reason::kIncomplete);
        }
        const Facet& on = own ? object : *other->second;
        const Value against = value_of(role(test.other.role), on, test.other.field);
        const policy::Field* there = policy::find_field(role(test.other.role), test.other.field);
        const bool lacks =
            against.kind == Value::Kind::kNotThere && there != nullptr && there->required;
        if (lacks || against.kind == Value::Kind::kUnsent || against.kind == Value::Kind::kNull) {
            return unknown(Reason::kIncomplete);
        }
        if (unlisted(policy::find_field(of, test.field), value) || unlisted(there, against)) {
            return unknown(Reason::kUnknownWord);
        }
        const policy::Field* here = policy::find_field(of, test.field);
        if (test.op == Op::kSame) {
            if (value.kind != Value::Kind::kText || against.kind != Value::Kind::kText) {
                return truth(value == against);
            }
            if (unreadable(here, value.text) || unreadable(there, against.text)) {
                return unknown(Reason::kUnreadable);
            }
            const auto a_number = [](const policy::Field* each) {
                return each != nullptr && each->type == policy::Field::Type::kNumber;
            };
            if (is_time(of, test.field) && is_time(role(test.other.role), test.other.field)) {
                const auto left = ordered(of, test.field, value.text);
                const auto right = ordered(role(test.other.role), test.other.field, against.text);
                if (!left || !right) return unknown(Reason::kUnreadable);
                return truth(*left == *right);
            }
            if (a_number(here) && a_number(there)) {
                return truth(number(value.text) == number(against.text));
            }
            return truth(value.text == against.text);
        }
        if (value.kind != Value::Kind::kText || against.kind != Value::Kind::kText) return kNo;
        const auto left = ordered(of, test.field, value.text);
        const auto right = ordered(role(test.other.role), test.other.field, against.text);
        if (!left || !right) return unknown(Reason::kUnreadable);
        return truth(test.op == Op::kBefore ? *left < *right : *left > *right);
    }

    static bool is_time(const policy::Role& of, const std::string& name) {
        using Type = policy::Field::Type;
        const policy::Field* field = policy::find_field(of, name);
        if (field == nullptr) return name == "created" && of.kind != policy::Kind::kRow;
        return field->type == Type::kTimestamp || field->type == Type::kDate;
    }

    /// A time or a number, as what the field is.
    std::optional<std::int64_t> ordered(const policy::Role& of, const std::string& name,
                                        const std::string& text) const {
        const policy::Field* field = policy::find_field(of, name);
        const bool time = field == nullptr ? name == "created"
                                           : field->type == policy::Field::Type::kTimestamp ||
                                                 field->type == policy::Field::Type::kDate;
        if (!time) return number(text);
        const auto moment = moment_.timestamp(text, field);
        return moment ? std::optional(moment->time_since_epoch().count()) : std::nullopt;
    }

    Truth holds(const Condition& condition, const policy::Role& of, const Facet& object,
                const Bound& bound) const {
        if (condition.kind == Condition::Kind::kTest) {
            return test(condition.test, of, object, bound);
        }
        const bool all = condition.kind == Condition::Kind::kAll;
        Truth sum = truth(all);
        for (const Condition& part : condition.parts) {
            const Truth one = holds(part, of, object, bound);
            sum = all ? both(sum, one) : either(sum, one);
        }
        return sum;
    }

    /// The first line that fits decides; one that may fit ends it as unknown.
    Truth named(const std::string& name, const Facet& about) const {
        using Then = policy::NamedCondition::Line::Then;
        for (const policy::NamedCondition& condition : policy_.conditions) {
            if (condition.name != name) continue;
            for (const auto& line : condition.lines) {
                Truth fits = kYes;
                for (const policy::Pattern& pattern : line.when) {
                    const Bound bound{{condition.about, &about}};
                    fits =
                        both(fits, pattern.role == condition.about
                                       ? holds(pattern.condition, role(pattern.role), about, bound)
                                       : alone(pattern, bound));
                }
                if (fits.no()) continue;
                if (fits.unknown()) return fits;
                if (line.then == Then::kUnknown) return unknown(Reason::kTransition);
                return truth(line.then == Then::kTrue);
            }
        }
        return kNo;
    }

    /// Objects that left the selector are none that a rule is about.
    Truth wanted(const policy::Pattern& pattern, const Facet& object, const Bound& bound) const {
        const policy::Role& of = role(pattern.role);
        Truth fits = holds(pattern.condition, of, object, bound);
        if (pattern.quantifier != Quantifier::kNone && in_kubernetes(of)) {
            fits = both(truth(value_of(of, object, "in_scope").text == "true"), fits);
        }
        return fits;
    }

    /// What the pattern is asked of: the role's objects here, or those of the reference that it
    /// names. nullopt: which one that is, is not known.
    std::optional<std::vector<const Facet*>> objects(const policy::Pattern& pattern,
                                                     const Bound& bound) const {
        if (!role(pattern.role).reference) return facets(pattern.role);
        std::string name = pattern.named_literal;
        if (name.empty()) {
            const auto by = bound.find(pattern.named.role);
            if (by == bound.end() || by->second == nullptr) return std::nullopt;
            const Value value =
                value_of(role(pattern.named.role), *by->second, pattern.named.field);
            name = value.text;
            // Of what is no name nobody can say who is meant.
            if (!policy::can_be_a_name(name)) return std::nullopt;
        }
        std::vector<const Facet*> all;
        for (const Source& source : asked(pattern, bound)) {
            for (const Facet& facet : moment_.about(source.id, name).facets) {
                if (facet.source == source.id && facet.present()) all.push_back(&facet);
            }
        }
        return all;
    }

    /// In a named condition: is there one that matches, or none?
    Truth alone(const policy::Pattern& pattern, const Bound& bound) const {
        if (by_itself_) return unknown(Reason::kIncomplete);
        if (pattern.quantifier != Quantifier::kSome) return match({&pattern}, 0, bound).truth;
        const auto all = objects(pattern, bound);
        Truth some = kNo;
        if (!all) some = unknown(Reason::kIncomplete);
        if (all && all->empty() && !proven(pattern, bound)) some = unknown(Reason::kNotSynced);
        for (const Facet* facet : all.value_or(std::vector<const Facet*>{})) {
            some = either(some, wanted(pattern, *facet, bound));
        }
        return both(watched(pattern, bound), some);
    }

    /// Does somebody look where the object should be?
    Truth watched(const policy::Pattern& pattern, const Bound& bound) const {
        if (pattern.in.role.empty()) return kYes;
        if (!scope_of(pattern, bound)) return unknown(Reason::kIncomplete);
        return truth(!asked(pattern, bound).empty());
    }
    std::optional<std::string> scope_of(const policy::Pattern& pattern, const Bound& bound) const {
        const auto by = bound.find(pattern.in.role);
        if (by == bound.end() || by->second == nullptr) return std::nullopt;
        const Value scope = value_of(role(pattern.in.role), *by->second, pattern.in.field);
        if (scope.kind != Value::Kind::kText) return std::nullopt;
        return scope.text;
    }

    Truth none(const policy::Pattern& pattern, const std::vector<const Facet*>& all,
               const Bound& bound, bool known) const {
        if (all.empty()) return known ? kYes : unknown(Reason::kNotSynced);
        Truth sum = kYes;
        for (const Facet* facet : all) sum = both(sum, opposite(wanted(pattern, *facet, bound)));
        return sum;
    }

    /// Has what would have to have it listed everything?
    bool proven(const policy::Pattern& pattern, const Bound& bound) const {
        for (const Source& source : asked(pattern, bound)) {
            if (!source.known) return false;
        }
        return true;
    }
    /// The sources that must prove what the pattern says.
    std::vector<Source> asked(const policy::Pattern& pattern, const Bound& bound) const {
        const auto scope = scope_of(pattern, bound);
        if (!scope) return sources(pattern.role);
        std::vector<Source> all;
        for (const Source& source : sources(pattern.role)) {
            if (source.scope == *scope) all.push_back(source);
        }
        return all;
    }

    // -------------------------------------------------------------- one case

    static void add_roles(const Condition& condition, std::set<std::string>& roles) {
        roles.insert(condition.test.other.role);
        for (const Condition& part : condition.parts) add_roles(part, roles);
    }

    /// Each behind those whose objects it asks for, `none` last.
    static std::vector<const policy::Pattern*> in_order(const policy::Case& found) {
        std::vector<const policy::Pattern*> order;
        std::vector<const policy::Pattern*> open;
        for (const policy::Pattern& pattern : found.when) open.push_back(&pattern);
        std::set<std::string> bound{""};
        for (std::size_t i = 0; i < open.size();) {
            const policy::Pattern& pattern = *open[i];
            std::set<std::string> needs{pattern.named.role, pattern.in.role};
            add_roles(pattern.condition, needs);
            for (const policy::Ranking& ranking : pattern.keep) add_roles(ranking.condition, needs);
            needs.erase(pattern.role);
            const bool ready =
                pattern.quantifier != Quantifier::kNone &&
                std::includes(bound.begin(), bound.end(), needs.begin(), needs.end());
            if (!ready) {
                ++i;
                continue;
            }
            bound.insert(pattern.role);
            order.push_back(&pattern);
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
            i = 0;
        }
        order.insert(order.end(), open.begin(), open.end());
        return order;
    }

    struct Match {
        Truth truth;
        Bound bound;
    };

    /// The patterns from `index` on, under what is bound so far.
    Match match(const std::vector<const policy::Pattern*>& patterns, std::size_t index,
                const Bound& bound) const {
        if (index == patterns.size()) return {kYes, bound};
        const policy::Pattern& pattern = *patterns[index];
        const auto go_on = [&](Truth own, const Bound& under) -> Match {
            if (own.no()) return {kNo, under};
            Match rest = match(patterns, index + 1, under);
            if (!rest.truth.no()) rest.truth = worse(own, rest.truth);
            return rest;
        };
        const auto bind = [&](const Facet* facet, Truth so) {
            Bound more = bound;
            more[pattern.role] = facet;
            return go_on(both(so, wanted(pattern, *facet, bound)), more);
        };
        const auto listed = objects(pattern, bound);
        const Truth scope = watched(pattern, bound);
        if (!listed) return go_on(both(scope, unknown(Reason::kIncomplete)), bound);
        const std::vector<const Facet*>& all = *listed;
        const bool known = proven(pattern, bound);
        if (pattern.quantifier == Quantifier::kNone) {
            return go_on(both(scope, none(pattern, all, bound, known)), bound);
        }
        std::vector<const Facet*> fit = all;
        std::erase_if(fit, [&](const Facet* facet) { return wanted(pattern, *facet, bound).no(); });
        if (fit.empty()) {
            // Wherever it should be: there is none.
            const bool proves = !all.empty() || known;
            return go_on(both(scope, proves ? kNo : unknown(Reason::kNotSynced)), bound);
        }
        const bool surplus = pattern.quantifier == Quantifier::kSurplus;
        if (surplus && fit.size() < 2) return {kNo, bound};
        if (!scope.yes()) return go_on(scope, bound);
        if (surplus) {
            const Facet* worst = least(pattern, fit, bound);
            const Truth sure =
                both(surely_least(pattern, worst, fit, bound), wanted(pattern, *worst, bound));
            const Match one = bind(worst, sure);
            if (!one.truth.no() || !sure.unknown()) return one;
            // Which one is worth least is not known.
            for (const Facet* facet : fit) {
                Bound more = bound;
                more[pattern.role] = facet;
                const Match other = go_on(sure, more);
                if (!other.truth.no()) return other;
            }
            return one;
        }
        if (pattern.quantifier == Quantifier::kSome) {
            for (const Facet* facet : fit) {
                const Match one = bind(facet, kYes);
                if (!one.truth.no()) return one;
            }
            return {kNo, bound};
        }
        // Which one is meant is not known where the first may be none.
        const Truth alone = alone_there(pattern, all, bound);
        for (const Facet* facet : fit) {
            const Match one = bind(facet, alone);
            if (!one.truth.no() || wanted(pattern, *facet, bound).yes()) return one;
        }
        return {kNo, bound};
    }

    /// Does no other one match, or claim the subject?
    Truth alone_there(const policy::Pattern& pattern, const std::vector<const Facet*>& all,
                      const Bound& bound) const {
        const policy::Role& of = role(pattern.role);
        std::set<const Facet*> may;
        std::set<const Facet*> is;
        for (const Facet* facet : all) {
            const Truth matches = wanted(pattern, *facet, bound);
            const Truth claims = holds(of.live, of, *facet, {});
            if (!matches.no() || !claims.no()) may.insert(facet);
            if (matches.yes() || claims.yes()) is.insert(facet);
        }
        if (may.size() < 2) return kYes;
        if (!of.several) return unknown(Reason::kDuplicateClaim);
        return is.size() < 2 ? unknown(Reason::kIncomplete) : kNo;
    }

    /// Are two there whatever is not known, and does it rank below each other one for sure?
    Truth surely_least(const policy::Pattern& pattern, const Facet* worst,
                       const std::vector<const Facet*>& fit, const Bound& bound) const {
        Truth two = kYes;
        std::size_t sure = 0;
        for (const Facet* facet : fit) {
            const Truth matches = wanted(pattern, *facet, bound);
            if (matches.yes()) ++sure;
            if (matches.unknown() && two.yes()) two = matches;
        }
        if (sure >= 2) two = kYes;
        for (const Facet* facet : fit) {
            if (facet == worst) continue;
            for (const policy::Ranking& ranking : pattern.keep) {
                const Truth known = both(ranked(pattern, ranking, *worst, bound),
                                         ranked(pattern, ranking, *facet, bound));
                if (!known.yes()) return known;
                if (differ(pattern, ranking, *worst, *facet, bound)) break;
            }
        }
        return two;
    }
    bool differ(const policy::Pattern& pattern, const policy::Ranking& ranking, const Facet& a,
                const Facet& b, const Bound& bound) const {
        const policy::Role& of = role(pattern.role);
        if (ranking.latest.empty()) {
            return holds(ranking.condition, of, a, bound).yes() !=
                   holds(ranking.condition, of, b, bound).yes();
        }
        return ordered(of, ranking.latest, value_of(of, a, ranking.latest).text) !=
               ordered(of, ranking.latest, value_of(of, b, ranking.latest).text);
    }
    /// Is known what it is ranked by?
    Truth ranked(const policy::Pattern& pattern, const policy::Ranking& ranking, const Facet& facet,
                 const Bound& bound) const {
        const policy::Role& of = role(pattern.role);
        if (ranking.latest.empty()) {
            const Truth mark = holds(ranking.condition, of, facet, bound);
            return mark.unknown() ? mark : kYes;
        }
        const Value value = value_of(of, facet, ranking.latest);
        if (value.kind == Value::Kind::kUnsent) return unknown(Reason::kIncomplete);
        const policy::Field* field = policy::find_field(of, ranking.latest);
        if (value.kind == Value::Kind::kNotThere && field != nullptr && field->required) {
            return unknown(Reason::kIncomplete);
        }
        const bool text = value.kind == Value::Kind::kText;
        return text && !ordered(of, ranking.latest, value.text) ? unknown(Reason::kUnreadable)
                                                                : kYes;
    }

    /// Worst first by each ranking in turn, then the one that was seen first, then the last by id.
    const Facet* least(const policy::Pattern& pattern, std::vector<const Facet*> fit,
                       const Bound& bound) const {
        const policy::Role& of = role(pattern.role);
        std::stable_sort(fit.begin(), fit.end(), [&](const Facet* a, const Facet* b) {
            for (const policy::Ranking& ranking : pattern.keep) {
                if (!ranking.latest.empty()) {
                    const auto left =
                        ordered(of, ranking.latest, value_of(of, *a, ranking.latest).text);
                    const auto right =
                        ordered(of, ranking.latest, value_of(of, *b, ranking.latest).text);
                    if (left != right) return left < right;
                    continue;
                }
                const bool left = holds(ranking.condition, of, *a, bound).yes();
                const bool right = holds(ranking.condition, of, *b, bound).yes();
                if (left != right) return right;
            }
            if (a->first_seen != b->first_seen) return a->first_seen < b->first_seen;
            return a->object_id > b->object_id;
        });
        return fit.front();
    }

    /// Does what the request is about belong to who made it, where only that gives the right?
    Truth asked_by_owner(const Bound& bound) const {
        if (rule_.requested.empty() || !asked_for() || !subject_.request->owners) return kYes;
        const policy::FieldRef& owner = policy_.requests.at(rule_.requested);
        const auto at = bound.find(owner.role);
        if (at == bound.end() || at->second == nullptr) return unknown(Reason::kIncomplete);
        const Value value = value_of(role(owner.role), *at->second, owner.field);
        if (value.kind == Value::Kind::kUnsent) return unknown(Reason::kIncomplete);
        return truth(value.text == subject_.request->by);
    }

    /// Who asked is told why nothing is done: what is to be ended is not there, or cannot be
    /// judged.
    Judged answered(const policy::Case& found, const Judged& judged) {
        const bool waits = std::exchange(waits_, false);  // the next case is another one
        const policy::FieldRef& owner = policy_.requests.at(rule_.requested);
        const Facet* asked = nullptr;
        for (const Facet* facet : facets(owner.role)) {
            const bool lives = !holds(role(owner.role).live, role(owner.role), *facet, {}).no();
            if (lives && asked == nullptr) asked = facet;
        }
        if (asked == nullptr) return judged;
        if (judged.kind == Verdict::Kind::kAbstain) return waiting(judged.reason, *asked);
        if (judged.kind != Verdict::Kind::kHealthy || waits) return judged;
        const std::string& taken = found.steps.front().role;
        if (taken.empty() || !facets(taken).empty()) return judged;
        std::vector<const policy::Pattern*> patterns = in_order(found);
        std::erase_if(patterns, [&](const policy::Pattern* each) {
            return each->role == taken || (subject_.reference() && facets(each->role).empty());
        });
        const Match rest = match(patterns, 0, {});
        const bool anothers = rest.truth.yes() && asked_by_owner(rest.bound).no();
        return rest.truth.no() || anothers ? judged : waiting(Reason::kNoObject, *asked);
    }

    Judged judge_case(const policy::Case& found) {
        std::vector<const policy::Pattern*> patterns = in_order(found);
        if (subject_.reference()) {
            std::erase_if(patterns, [&](const policy::Pattern* pattern) {
                return facets(pattern->role).empty();
            });
        }
        const Match matched = match(patterns, 0, {});
        if (matched.truth.no()) return {};
        if (matched.truth.unknown()) return abstain(matched.truth.why);
        const Bound& bound = matched.bound;
        const Facet* object = object_of(found, bound);
        if (object == nullptr) return {};
        const Facet& about = *object;
        if (subject_.reference()) {
            if (found.past) {
                const auto* length = std::get_if<policy::FieldRef>(&found.past->length);
                const bool asked = bound.count(found.past->from.role) > 0 &&
                                   (length == nullptr || bound.count(length->role) > 0);
                const auto early = asked ? before_deadline(*found.past, bound) : std::nullopt;
                if (early) return *early;
            }
            return waiting(Reason::kReportOnly, about);
        }
        const Truth theirs = asked_by_owner(bound);
        if (theirs.no()) return {};
        if (theirs.unknown()) return abstain(theirs.why);
        if (!texts_known(found, bound)) return abstain(Reason::kIncomplete);
        if (found.past) {
            if (const auto early = before_deadline(*found.past, bound)) return *early;
        }
        const policy::Step* step = next_step(found, bound, about);
        if (step == nullptr) return {};
        if (found.steps.front().verb == Verb::kReport) {
            const JournalTime first = moment_.detected(about.object_id).value_or(moment_.now);
            const bool young = moment_.now < first + moment_.grace;
            return waiting(young ? Reason::kGrace : Reason::kReportOnly, about);
        }
        return believed(found, bound, about, *step);
    }

    /// What is said of several unknown patterns: the first of these.
    static Truth worse(Truth a, Truth b) {
        const auto rank = [](const Truth& each) {
            if (!each.unknown()) return 3;
            if (each.why == Reason::kNotSynced) return 0;
            return each.why == Reason::kDuplicateClaim ? 1 : 2;
        };
        return rank(b) < rank(a) ? b : a;
    }

    static bool removes(Verb verb) { return verb == Verb::kDelete || verb == Verb::kRetract; }

    /// What the last step writes, unless one before takes it away; else what `when` names first.
    const Facet* object_of(const policy::Case& found, const Bound& bound) const {
        const auto taken = [&](const std::string& name) {
            return std::any_of(
                found.steps.begin(), found.steps.end() - 1,
                [&](const policy::Step& step) { return step.role == name && removes(step.verb); });
        };
        const policy::Step& last = found.steps.back();
        const auto target = bound.find(last.role);
        const bool makes = last.verb == Verb::kCreate || last.verb == Verb::kInsert;
        if (target != bound.end() && target->second != nullptr && !makes && !taken(last.role)) {
            return target->second;
        }
        for (const policy::Pattern& pattern : found.when) {
            const auto at = bound.find(pattern.role);
            if (at != bound.end() && at->second != nullptr && !taken(pattern.role)) {
                return at->second;
            }
        }
        return nullptr;
    }

    /// The objects that a step is still to take.
    std::vector<const Facet*> left(const policy::Step& step, const Bound& bound) const {
        std::vector<const Facet*> all = facets(step.role);
        const policy::Role& of = role(step.role);
        // Where several sources tell of the role, that of the object which is meant.
        const auto meant = bound.find(step.role);
        if (sources(step.role).size() > 1 && meant != bound.end() && meant->second != nullptr) {
            std::erase_if(
                all, [&](const Facet* facet) { return facet->source != meant->second->source; });
        }
        std::erase_if(all, [&](const Facet* facet) {
            return in_kubernetes(of) && (value_of(of, *facet, "deleting").text == "true" ||
                                         value_of(of, *facet, "in_scope").text == "false");
        });
        return all;
    }

    /// What the steps write, and what they are made from.
    bool texts_known(const policy::Case& found, const Bound& bound) const {
        const auto known = [&](const policy::FieldRef& field) {
            const auto at = bound.find(field.role);
            return at != bound.end() && at->second != nullptr &&
                   value_of(role(field.role), *at->second, field.field).kind == Value::Kind::kText;
        };
        const auto all_known = [&](const policy::Text& text) {
            return std::all_of(text.begin(), text.end(), [&](const policy::Piece& piece) {
                return piece.kind != policy::Piece::Kind::kField || known(piece.field);
            });
        };
        for (const policy::Step& step : found.steps) {
            bool known_texts = true;
            policy::each_text(step, [&](const policy::Text& text) {
                known_texts = known_texts && all_known(text);
            });
            if (!known_texts || !fits(step, bound)) return false;
            for (const policy::FieldRef& field : step.reads) {
                const auto at = bound.find(field.role);
                if (at == bound.end() || at->second == nullptr) return false;
                const Value value = value_of(role(field.role), *at->second, field.field);
                const bool nothing = value.kind == Value::Kind::kNotThere;  // that is known, too
                if (value.kind != Value::Kind::kText && !nothing) return false;
            }
        }
        return true;
    }

    /// A new object takes 16 KiB of values, and where a number or a boolean is to stand, one.
    bool fits(const policy::Step& step, const Bound& bound) const {
        std::size_t filled = 0;
        bool odd = false;
        const auto look = [&](const policy::Text& text) {
            for (const policy::Piece& piece : text) {
                if (piece.kind != policy::Piece::Kind::kField) continue;
                const policy::Role& of = role(piece.field.role);
                const std::string value =
                    value_of(of, *bound.at(piece.field.role), piece.field.field).text;
                filled += value.size();
                const policy::Field* field = policy::find_field(of, piece.field.field);
                odd = odd || (text.size() == 1 && unreadable(field, value));
            }
        };
        if (step.object) policy::each_text(*step.object, look);
        return !odd && filled <= std::size_t{16} * 1024;
    }

    const policy::Step* next_step(const policy::Case& found, const Bound& bound,
                                  const Facet& about) const {
        std::uint32_t behind = moment_.steps(about.object_id);
        for (const policy::Step& step : found.steps) {
            if (!removes(step.verb) && &step != &found.steps.back() && behind > 0) {
                --behind;
                continue;
            }
            if (!removes(step.verb)) return &step;
            const auto at = bound.find(step.role);
            const std::vector<const Facet*> rest = left(step, bound);
            const bool its_own = at == bound.end() || found.steps.size() > 1 ||
                                 std::find(rest.begin(), rest.end(), at->second) != rest.end();
            if (!rest.empty() && its_own) return &step;
        }
        return nullptr;
    }

    /// Whom a case leans on, and what speaks against them, in the order in which they are asked.
    struct Leaned {
        std::set<SourceId> on;
        std::vector<std::pair<SourceId, Reason>> doubts;
    };
    void doubt(const Source& source, BrokerTime beyond, Millis window, Leaned& leaned) const {
        if (const auto why = reason_to_doubt(source, beyond, window)) {
            leaned.doubts.emplace_back(source.id, *why);
        }
    }
    void lean(const Source& source, BrokerTime beyond, Millis window, Leaned& leaned) const {
        if (leaned.on.insert(source.id).second) doubt(source, beyond, window, leaned);
    }

    /// When a source said anything of the subject last, that something is gone included; a rule
    /// that counts from the first sight of things does so here, too.
    BrokerTime last_word_of(const Source& source) const {
        BrokerTime last{};
        for (const Facet& facet : subject_.facets) {
            if (facet.source != source.id) continue;
            const bool first = facet.present() && rule_.since_first_seen;
            last = std::max(last, first ? facet.first_seen : facet.evidence);
        }
        return last;
    }

    /// What a table that is filled from elsewhere says may be from before that.
    BrokerTime last_word_elsewhere(const std::string& name, const Source& source) const {
        BrokerTime last{};
        if (role(name).as_of_field.empty()) return last;
        for (const auto& [beside, all] : moment_.roles) {
            for (const Source& other : all) {
                if (other.id != source.id) last = std::max(last, last_word_of(other));
            }
        }
        return last;
    }

    void lean_on_its_own(const Bound& bound, const Facet& about, Leaned& leaned) const {
        BrokerTime last_word{};
        for (const auto& [name, object] : bound) {
            if (object != nullptr && object != &about) {
                last_word = std::max(last_word, object->evidence);
            }
        }
        for (const auto& [name, own] : moment_.roles) {
            for (const Source& source : own) {
                if (source.id != about.source) continue;
                for (const Source& other : own) {
                    if (other.id != source.id) last_word = std::max(last_word, last_word_of(other));
                }
                last_word = std::max(last_word, last_word_elsewhere(name, source));
                doubt(source, last_word, Millis{0}, leaned);
            }
        }
        leaned.on.insert(about.source);
    }

    void lean_on_asked(const policy::Case& found, const Bound& bound, const Facet& about,
                       Leaned& leaned) const {
        const BrokerTime since = rule_.since_first_seen ? about.first_seen : about.evidence;
        const auto lean_on = [&](const std::string& name, const std::vector<Source>& on) {
            // A fact that is looked up changes slowly: its source must only be there.
            const bool slow = role(name).reference && role(name).as_of_field.empty();
            for (const Source& source : on) {
                BrokerTime past =
                    slow ? BrokerTime{} : std::max(since, last_word_elsewhere(name, source));
                // One source of several must be heard past the last word of the others.
                for (const Source& other : on) {
                    if (!slow && other.id != source.id) {
                        past = std::max(past, last_word_of(other));
                    }
                }
                lean(source, past, slow ? Millis{0} : moment_.create_window, leaned);
            }
        };
        for (const policy::Pattern* pattern : in_order(found)) {
            lean_on(pattern->role, asked(*pattern, bound));
        }
        for (const policy::Pattern& pattern : asked_on_the_way(found)) {
            lean_on(pattern.role, sources(pattern.role));
        }
        if (rests_on_ledger(found)) {
            lean_on(policy_.ledger->objects, sources(policy_.ledger->objects));
        }
    }

    /// Behind us is what its source shows: that source must be there.
    void lean_on_deleted(const policy::Case& found, const policy::Step& step,
                         Leaned& leaned) const {
        const auto named = [&](const std::string& name) {
            return std::any_of(found.when.begin(), found.when.end(),
                               [&](const policy::Pattern& each) { return each.role == name; });
        };
        for (const policy::Step& each : found.steps) {
            if (removes(each.verb) && !named(each.role)) {
                for (const Source& source : sources(each.role)) {
                    lean(source, BrokerTime{}, Millis{0}, leaned);
                }
            }
            if (&each == &step) break;
        }
    }

    /// May another object of one source have the key of one of these? By a name it is alone there.
    static bool may_be_many(const policy::Role& of) {
        return of.kind == policy::Kind::kRow ||
               (in_kubernetes(of) && of.key.op == policy::Key::Op::kField &&
                of.key.text.starts_with("label."));
    }

    /// Is another one that may be live beside one for which something is taken away?
    bool crowded(const policy::Case& found, const Bound& bound, const policy::Step& step) const {
        const bool patches = step.verb == Verb::kUpdate && in_kubernetes(role(step.role));
        const bool takes = removes(step.verb) || step.verb == Verb::kStop;
        if (!takes && !policy::makes(step) && !patches) return false;
        for (const auto& [name, object] : bound) {
            const policy::Role& of = role(name);
            if (object == nullptr || !may_be_many(of)) continue;
            if (of.reference) continue;
            if (of.kind != policy::Kind::kRow && name == step.role) continue;
            if (object->object_id == target_of(found, step, bound)) continue;
            for (const Facet* other : facets(name)) {
                if (other != object && !holds(of.live, of, *other, {}).no()) return true;
            }
        }
        return false;
    }

    Judged believed(const policy::Case& found, const Bound& bound, const Facet& about,
                    const policy::Step& step) const {
        if (crowded(found, bound, step)) return abstain(Reason::kDuplicateClaim);
        if (vetoed(found, bound)) return abstain(Reason::kVeto);
        for (const Facet& facet : subject_.facets) {
            const bool target = facet.object_id == target_of(found, step, bound);
            if (target && facet.present() && has_veto(facet)) return abstain(Reason::kVeto);
        }
        Leaned leaned;
        lean_on_its_own(bound, about, leaned);
        lean_on_asked(found, bound, about, leaned);
        lean_on_deleted(found, step, leaned);
        for (const auto& [source, why] : leaned.doubts) {
            if (why == Reason::kOwnWrite) return abstain(why);
        }
        const JournalTime first = moment_.detected(about.object_id).value_or(moment_.now);
        if (moment_.now < first + moment_.grace) return waiting(Reason::kGrace, about);
        if (!leaned.doubts.empty()) return waiting(leaned.doubts.front().second, about);
        if (still_backing_off()) return waiting(Reason::kBackoff, about);
        return act(found, bound, about, step);
    }

    Judged act(const policy::Case& found, const Bound& bound, const Facet& about,
               const policy::Step& step) const {
        Judged act;
        act.kind = Verdict::Kind::kAct;
        act.object_id = about.object_id;
        act.verb = step.verb;
        act.target = target_of(found, step, bound);
        act.source = source_of(found, step, bound, act.target);
        const bool ended = subject_.aftermath && subject_.aftermath->ended &&
                           subject_.aftermath->ended->object_id == act.target;
        if (ended && step.verb == Verb::kUpdate) return waiting(Reason::kReportOnly, about);
        for (const std::string& count : found.ask_while) {
            const auto counted = moment_.counts.find(count);
            const bool some = counted != moment_.counts.end() && counted->second > 0;
            if (!some && !moment_.counting) continue;
            act.asks = true;
            act.reason = Reason::kUncorrelatedRows;
        }
        return act;
    }

    /// The patterns of others that its named conditions ask, too.
    void add_asked(const Condition& condition, std::vector<policy::Pattern>& all) const {
        if (condition.kind == Condition::Kind::kTest && condition.test.op == Op::kIs) {
            for (const policy::NamedCondition& named : policy_.conditions) {
                if (named.name != condition.test.values.front()) continue;
                for (const auto& line : named.lines) {
                    for (const policy::Pattern& pattern : line.when) {
                        add_asked(pattern.condition, all);
                        for (const policy::Ranking& each : pattern.keep) {
                            add_asked(each.condition, all);
                        }
                        if (pattern.role != named.about) all.push_back(pattern);
                    }
                }
            }
        }
        for (const Condition& part : condition.parts) add_asked(part, all);
    }

    /// Does it count how the objects before ended?
    bool rests_on_ledger(const policy::Case& found) const {
        if (!policy_.ledger) return false;
        if (!rule_.backoff.empty()) return true;
        const std::string& of = policy_.ledger->of.role;
        const auto which = static_cast<std::size_t>(&found - rule_.cases.data());
        const Mentioned mentions = mentioned(policy_, rule_, which);
        const auto fields = mentions.find(of);
        const auto counts = [&](const char* name) {
            return policy::find_field(role(of), name) == nullptr && fields->second.count(name) > 0;
        };
        return fields != mentions.end() && (counts("failures") || counts("succeeded"));
    }

    /// The ladder's step is the one of as many failures, from the latest of them.
    bool still_backing_off() const {
        if (rule_.backoff.empty() || !subject_.ledger) return false;
        std::size_t failures = 0;
        JournalTime latest{};
        for (const Ledger::Entry& entry : subject_.ledger->entries) {
            if (entry.end == End::kSucceeded) continue;
            ++failures;
            latest = std::max(latest, entry.at);
        }
        const std::size_t step = std::min(failures, rule_.backoff.size() - 1);
        return moment_.now < latest + rule_.backoff[step];
    }

    std::string target_of(const policy::Case& found, const policy::Step& step,
                          const Bound& bound) const {
        if (step.verb == Verb::kCreate || step.verb == Verb::kInsert) return {};  // it is new
        const auto at = bound.find(step.role);
        const bool its_own = found.steps.size() == 1 && at != bound.end() && at->second != nullptr;
        if (removes(step.verb) && !its_own) {
            const std::vector<const Facet*> rest = left(step, bound);
            return rest.empty() ? std::string() : rest.front()->object_id;
        }
        return at == bound.end() || at->second == nullptr ? std::string() : at->second->object_id;
    }

    /// Where the target is; of what is to be made, where its pattern looks, or the role's first.
    SourceId source_of(const policy::Case& found, const policy::Step& step, const Bound& bound,
                       const std::string& target) const {
        for (const Facet& facet : subject_.facets) {
            const bool shown = facet.present() && facet.object_id == target;
            const std::vector<Source>& all = sources(step.role);
            const bool its = std::any_of(all.begin(), all.end(), [&](const Source& source) {
                return source.id == facet.source;
            });
            if (shown && its && !target.empty()) return facet.source;
        }
        for (const policy::Pattern* pattern : in_order(found)) {
            if (pattern->role != step.role) continue;
            const std::vector<Source> looks = asked(*pattern, bound);
            if (!looks.empty()) return looks.front().id;
        }
        return sources(step.role).empty() ? kNoSource : sources(step.role).front().id;
    }

    static bool has_veto(const Facet& facet) {
        const std::optional<Field> veto = facet.fields().find("hold");
        return veto && (veto->unchanged || veto->value == "true");
    }

    /// On what is bound, on what was looked past, or on what was asked for on the way.
    bool vetoed(const policy::Case& found, const Bound& bound) const {
        for (const auto& [name, object] : bound) {
            const policy::Role& of = role(name);
            if (object == nullptr || of.reference) continue;
            if (has_veto(*object)) return true;
            // In another source one of the name may be another's; of several others may come
            // anyhow.
            if (of.several && in_kubernetes(of)) continue;
            for (const Facet* other : facets(name)) {
                if (other->source != object->source && has_veto(*other)) return true;
            }
        }
        for (const policy::Pattern& pattern : found.when) {
            const bool ranks = pattern.quantifier == Quantifier::kSurplus;
            if (pattern.quantifier != Quantifier::kNone && !ranks) continue;
            for (const Facet* facet : facets(pattern.role)) {
                const bool goes = facet->fields().is("deleting", "true");
                if (has_veto(*facet) && !(ranks && goes)) return true;
            }
        }
        for (const policy::Pattern& pattern : asked_on_the_way(found)) {
            const auto object = bound.find(pattern.role);
            const bool is_bound = object != bound.end() && object->second != nullptr;
            if (role(pattern.role).reference || is_bound) continue;
            for (const Facet* facet : facets(pattern.role)) {
                if (has_veto(*facet)) return true;
            }
        }
        return false;
    }

    /// What the cases before it ask, of which each would have been the one to find something; and
    /// what its named conditions and theirs ask of others.
    std::vector<policy::Pattern> asked_on_the_way(const policy::Case& found) const {
        std::vector<policy::Pattern> all;
        std::vector<policy::Pattern> others;
        const auto add_all_asked = [&](const policy::Case& asking) {
            for (const policy::Pattern* pattern : in_order(asking)) {
                add_asked(pattern->condition, others);
                for (const policy::Ranking& each : pattern->keep) add_asked(each.condition, others);
            }
        };
        add_all_asked(found);
        for (const policy::Case& earlier : rule_.cases) {
            if (&earlier == &found) break;
            add_all_asked(earlier);
            all.insert(all.end(), earlier.when.begin(), earlier.when.end());
        }
        all.insert(all.end(), others.begin(), others.end());
        return all;
    }

    /// The table of a role with `as_of` is as old as its last complete filling, by who says when
    /// that began. `source` is what it proves then; a reason: it proves nothing.
    std::optional<Reason> fill(Source& source) const {
        for (const policy::Role& of : policy_.roles) {
            if (of.as_of_field.empty()) continue;
            for (const Source& own : sources(of.name)) {
                if (own.id != source.id) continue;
                if (sources(of.as_of.role).empty()) return Reason::kStale;
                for (const Source& teller : sources(of.as_of.role)) {
                    if (const auto why = fill_by(teller, of, own, source)) return why;
                }
            }
        }
        return std::nullopt;
    }
    std::optional<Reason> fill_by(const Source& teller, const policy::Role& of, const Source& own,
                                  Source& filled) const {
        if (const auto why = reason_to_doubt(teller, BrokerTime{}, Millis{0})) return why;
        if (leaps(teller)) return Reason::kClockSkew;
        const policy::Field* field = policy::find_field(role(of.as_of.role), of.as_of.field);
        std::size_t rows = 0;
        for (const Facet& row : moment_.about(teller.id, of.as_of_at).facets) {
            if (row.source != teller.id || !row.present()) continue;
            ++rows;
            const Value value = value_of(role(of.as_of.role), row, of.as_of.field);
            const auto began = value.kind == Value::Kind::kText
                                   ? moment_.timestamp(value.text, field)
                                   : std::nullopt;
            if (!began) return Reason::kStale;
            const BrokerTime surely(began->time_since_epoch() - moment_.max_clock_skew);
            if (surely > moment_.broker_now) return Reason::kStale;
            if (own.complete_as_of <= row.changed + moment_.max_broker_skew) {
                return Reason::kAwaitingProgress;
            }
            if (moment_.broker_now - surely > moment_.stale_after) return Reason::kStale;
            if (surely >= filled.complete_as_of) continue;
            filled.complete_as_of = surely;
            filled.clock = SourceTime(surely.time_since_epoch());
        }
        return rows == 0 ? std::optional(Reason::kStale) : std::nullopt;
    }
    bool leaps(const Source& source) const {
        const Millis ahead =
            source.clock.time_since_epoch() - source.complete_as_of.time_since_epoch();
        return ahead > moment_.max_clock_skew || ahead < -moment_.max_clock_skew;
    }

    std::optional<Reason> reason_to_doubt(Source source, BrokerTime evidence, Millis window) const {
        for (const auto& [written, time] : subject_.own_writes) {
            if (written == source.id && source.complete_as_of <= time) return Reason::kOwnWrite;
        }
        if (!source.known) return source.quarantined ? Reason::kQuarantine : Reason::kNotSynced;
        if (const auto why = fill(source)) return why;
        const BrokerTime from = std::max(evidence, moment_.watched_since);
        if (source.complete_as_of <= from + moment_.max_broker_skew + window) {
            return Reason::kAwaitingProgress;
        }
        if (moment_.broker_now - source.complete_as_of > moment_.stale_after) {
            return Reason::kStale;
        }
        return std::nullopt;
    }

    std::optional<Judged> before_deadline(const policy::Deadline& past, const Bound& bound);
    Judged duplicates() const;

    const policy::Policy& policy_;
    const policy::Rule& rule_;
    const Subject& subject_;
    const Moment& moment_;
    bool waits_ = false;      ///< healthy so far, until a deadline
    bool by_itself_ = false;  ///< others' objects are not looked at
};

Judged Judgement::duplicates() const {
    const Facet* last = nullptr;
    for (const policy::Role& of : policy_.roles) {
        std::size_t claims = 0;
        if (of.several || of.reference) continue;
        for (const Facet* facet : facets(of.name)) {
            const bool goes = in_kubernetes(of) && value_of(of, *facet, "deleting").text == "true";
            if (goes || holds(of.live, of, *facet, {}).no()) continue;
            if (++claims > 1) last = facet;
        }
    }
    return last == nullptr ? Judged{} : waiting(Reason::kReportOnly, *last);
}

/// What to say until the source's own clock has passed it.
std::optional<Judged> Judgement::before_deadline(const policy::Deadline& past, const Bound& bound) {
    const Facet& object = *bound.at(past.from.role);
    const auto read = [&](const policy::FieldRef& field) {
        return value_of(role(field.role), *bound.at(field.role), field.field);
    };
    const auto* field = std::get_if<policy::FieldRef>(&past.length);
    const Value from = read(past.from);
    const Value length = field == nullptr ? Value{Value::Kind::kText, {}} : read(*field);
    for (const Value& value : {from, length}) {
        if (value.kind == Value::Kind::kUnsent) return abstain(Reason::kIncomplete);
    }
    if (from.kind != Value::Kind::kText || length.kind != Value::Kind::kText) return Judged{};
    const auto begins =
        moment_.timestamp(from.text, policy::find_field(role(past.from.role), past.from.field));
    const auto lasts = field == nullptr ? std::optional(std::get<Millis>(past.length))
                                        : moment_.duration(length.text);
    if (!begins || !lasts) return waiting(Reason::kUnreadable, object);
    if (*lasts <= Millis{0}) return Judged{};
    for (const Source& source : sources(past.from.role)) {
        if (source.id != object.source) continue;
        if (const auto why = reason_to_doubt(source, BrokerTime{}, Millis{0})) return abstain(*why);
        if (leaps(source)) return abstain(Reason::kClockSkew);
        Source as_filled = source;
        static_cast<void>(fill(as_filled));  // there is no doubt of it
        if (as_filled.clock <= *begins + *lasts) {
            waits_ = true;
            return Judged{};
        }
    }
    return std::nullopt;
}

}  // namespace

Judged judge(const policy::Policy& policy, const policy::Rule& rule, const Subject& subject,
             const Moment& moment) {
    return Judgement(policy, rule, subject, moment).run();
}

bool may_claim(const policy::Policy& policy, const std::string& role, const Facet& facet) {
    const Subject nobody;
    const Moment never;
    return Judgement(policy, {}, nobody, never).may_claim(role, facet);
}

std::vector<std::uint64_t> counted(const policy::Policy& policy, const Subject& subject,
                                   const Moment& moment) {
    return Judgement(policy, {}, subject, moment).counted();
}

Ledger ends(const policy::Policy& policy, const Subject& subject, const Moment& moment) {
    return Judgement(policy, {}, subject, moment).ends();
}

std::string told(const Judged& judged) {
    switch (judged.kind) {
        case Verdict::Kind::kHealthy:
            return "healthy";
        case Verdict::Kind::kAbstain:
            return "abstain " + std::string(name_of(judged.reason));
        case Verdict::Kind::kWaiting:
            return "waiting " + std::string(name_of(judged.reason)) + ' ' + judged.object_id;
        case Verdict::Kind::kAct:
            break;
    }
    return std::string(judged.asks ? "ask " : "act ") + std::string(policy::name_of(judged.verb)) +
           ' ' + judged.target + " at " + std::to_string(judged.source) + " about " +
           judged.object_id;
}

}  // namespace trueup::testing::naive
