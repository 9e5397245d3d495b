// What is wrong with a pattern of a case: its quantifier, its words, and what it makes of NULL.
#include "apps/config/policy_checks.h"
#include "apps/config/policy_states.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace trueup::config {

namespace {

using policy::Op;
using policy::Quantifier;
using policy::Verb;

}  // namespace

void PolicyChecks::check_patterns(const policy::Case& found) {
    const bool takes = found.takes_away();
    const bool makes =
        std::any_of(found.steps.begin(), found.steps.end(),
                    [](const policy::Step& step) { return step.verb == Verb::kInsert; });
    const bool about_nothing = std::all_of(
        found.when.begin(), found.when.end(),
        [](const policy::Pattern& each) { return each.quantifier == Quantifier::kNone; });
    if (about_nothing && !found.duplicates) {
        warn(
            "it is about nothing that is there, so that it never finds anything, and stands in no "
            "other case's way (about_nothing); write one or some for what is there");
    }
    for (const policy::Pattern& pattern : found.when) {
        const policy::Role& of = role(pattern.role);
        if (pattern.quantifier == Quantifier::kSurplus && pattern.keep.empty()) {
            refuse(
                fmt::format("when.{}: surplus removes the object that is least worth keeping, and "
                            "nothing says which one that is; write keep: [{{latest: created}}]",
                            pattern.role));
        }
        if (pattern.quantifier != Quantifier::kSurplus && !pattern.keep.empty()) {
            refuse(fmt::format("when.{}: keep is for surplus only", pattern.role));
        }
        if (pattern.quantifier == Quantifier::kSome && !of.several && !of.reference &&
            found.acts()) {
            ask("some_hides",
                fmt::format(
                    "`some` of {} ignores a second claim, which would be a duplicate; write one",
                    pattern.role));
        }
        if (pattern.quantifier == Quantifier::kOne && of.several) {
            warn(
                fmt::format("when.{}: several are normal, and `one` says nothing about a subject "
                            "that has two (several_silences); write some",
                            pattern.role));
        }
        if (pattern.quantifier == Quantifier::kNone) check_none(found, pattern);
        check_words(found, pattern);
        check_null(pattern);
        const bool rows = of.kind == policy::Kind::kRow;
        if ((takes || makes) && rows && pattern.quantifier == Quantifier::kNone &&
            found.ask_while.empty() && of.key.op != policy::Key::Op::kLiteral &&
            !acknowledged("keyless")) {
            warn(
                fmt::format("a row of {} whose key is NULL may own what this {} (keyless); "
                            "count such rows and write ask_while, or acknowledge: [keyless]",
                            pattern.role, takes ? "removes" : "makes another row for"));
        }
    }
}

/// What claims the subject must stop a `none` that something is taken away for.
void PolicyChecks::check_none(const policy::Case& found, const policy::Pattern& none) {
    const bool matters = found.takes_away() || found.writes();
    const policy::Role& of = role(none.role);
    if (!matters || of.reference || none.condition.always()) return;
    if (of.live.always()) {
        warn(
            fmt::format("when.{}: nothing says which {} claim their subject (no_claims); write "
                        "live: under roles.{}",
                        none.role, none.role, none.role));
        return;
    }
    bool narrow = false;
    each_values(policy_, of, {&of.live, &none.condition}, [&](const Values& values) {
        narrow = narrow || (certainty(policy_, of.live, of, values) == Certainty::kYes &&
                            certainty(policy_, none.condition, of, values) == Certainty::kNo);
    });
    if (narrow) {
        ask("none_narrow",
            fmt::format("when.{}: `none` asks for more than `live`, so it ignores some {} that "
                        "claim the subject; ask for no more than `live` does",
                        none.role, none.role));
    }
}

namespace {

/// May the field say what nobody listed? Of a label, which need not be there, also by what another
/// object says.
bool is_open(const policy::Role& role, const policy::Test& test) {
    const policy::Field* field = policy::find_field(role, test.field);
    const bool label = field == nullptr && policy::is_label(test.field);
    if (label && test.op == Op::kSame) return true;
    const bool words = test.op == Op::kIn || test.op == Op::kStarts || test.op == Op::kLike;
    return words && (label || (field != nullptr && field->type == policy::Field::Type::kText &&
                               field->words.empty()));
}

}  // namespace

/// Those of named conditions over that role, too, as they stand there.
void PolicyChecks::each_own_test(const policy::Condition& condition, const std::string& role,
                                 const std::function<void(const policy::Test&)>& visit) const {
    each_test(condition, [&](const policy::Test& test) {
        if (test.op != Op::kIs) return visit(test);
        for (const policy::NamedCondition& named : policy_.conditions) {
            if (named.name != test.values.front() || named.about != role) continue;
            for (const auto& line : named.lines) {
                for (const policy::Pattern& pattern : line.when) {
                    if (pattern.role == role) each_own_test(pattern.condition, role, visit);
                }
            }
        }
    });
}

/// A list of words that may be incomplete, where one that is missing does harm.
void PolicyChecks::check_words(const policy::Case& found, const policy::Pattern& pattern) {
    const policy::Role& of = role(pattern.role);
    const bool none = pattern.quantifier == Quantifier::kNone;
    const bool touched =
        std::any_of(found.steps.begin(), found.steps.end(), [&](const policy::Step& step) {
            return step.role == pattern.role &&
                   (policy::takes_away(step.verb) || policy::sets(step.verb));
        });
    // What condemns an object need not be the object itself.
    const bool matters = found.acts() && (none || touched || found.takes_away());
    if (!matters || of.reference) return;
    const auto check = [&](const policy::Test& test) {
        if (!is_open(of, test) || test.negated == none) return;
        ask("open_words",
            fmt::format("when.{}.{} {} {}, and nothing lists the other values: a new one counts as "
                        "{}; {}",
                        pattern.role, test.field, test.negated ? "is not" : "is",
                        test.op == Op::kSame
                            ? fmt::format("that of {}.{}", test.other.role, test.other.field)
                            : enumerate(test.values, "or"),
                        none ? "none" : "found",
                        policy::find_field(of, test.field) == nullptr
                            ? "and so does none at all, unless it must be set"
                            : fmt::format("write {}: [every value] under roles.{}.fields",
                                          test.field, pattern.role)));
    };
    if (none) {
        each_test(pattern.condition, check);
    } else {
        each_own_test(pattern.condition, pattern.role, check);
    }
}

/// NULL is neither a word nor not a word.
void PolicyChecks::check_null(const policy::Pattern& pattern) {
    const policy::Role& of = role(pattern.role);
    // Where `none` looks at such a row, it is not known to be none: the rule waits.
    if (of.kind != policy::Kind::kRow || pattern.quantifier == Quantifier::kNone) return;
    std::set<std::string> set;
    each_test(pattern.condition, [&](const policy::Test& test) {
        if (test.op == Op::kSet) set.insert(test.field);
    });
    each_test(pattern.condition, [&](const policy::Test& test) {
        const policy::Field* field = policy::find_field(of, test.field);
        if (!test.negated || test.op == Op::kSet || field == nullptr || field->null_unequal ||
            set.count(test.field) > 0) {
            return;
        }
        warn(
            fmt::format("when.{}.{}: a row whose {} is NULL is skipped (null_skipped); write "
                        "{{set: true, not: …}} if this is intended",
                        pattern.role, test.field, test.field));
    });
}

}  // namespace trueup::config
