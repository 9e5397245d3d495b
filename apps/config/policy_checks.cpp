// What can be told of a policy from its text alone. Each sentence says what would come of it and
// what to write instead; a code in brackets is what an author acknowledges who means it.
#include "apps/config/policy_lines.h"
#include "apps/config/policy_states.h"
#include "apps/config/policy_terms.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace trueup::config {

namespace {

using policy::Condition;
using policy::Op;
using policy::Quantifier;
using policy::Verb;

const std::vector<std::string>& codes() {
    static const std::vector<std::string> kCodes{
        "blind_seen", "deletes_all", "irreversible", "keyless",    "no_grace",
        "no_window",  "none_narrow", "open_words",   "some_hides", "unseen_step"};
    return kCodes;
}

constexpr int kDeepest = 3;  // of conditions that name others
/// How many states the search for rules that undo each other goes through in all.
constexpr std::size_t kMostStates = 2'000'000;

void each_test(const Condition& condition, const std::function<void(const policy::Test&)>& visit) {
    if (condition.kind == Condition::Kind::kTest) visit(condition.test);
    for (const Condition& part : condition.parts) each_test(part, visit);
}

/// The references that a pattern makes to other roles' objects.
std::set<std::string> leans_on(const policy::Pattern& pattern) {
    std::set<std::string> roles;
    const auto add = [&](const policy::Test& test) { roles.insert(test.other.role); };
    each_test(pattern.condition, add);
    for (const policy::Ranking& ranking : pattern.keep) each_test(ranking.condition, add);
    roles.insert({pattern.named.role, pattern.in.role});
    roles.erase("");
    roles.erase(pattern.role);
    return roles;
}

class PolicyChecks {
  public:
    PolicyChecks(const policy::Policy& policy, const PolicyLines& lines, Problems& problems,
                 Problems& warnings)
        : policy_(policy), lines_(lines), problems_(problems), warnings_(warnings) {}

    void run() {
        for (const policy::Role& role : policy_.roles) check_role(role);
        for (const policy::NamedCondition& condition : policy_.conditions) check_depth(condition);
        for (const policy::Rule& rule : policy_.rules) check_rule(rule);
        check_undo();
        check_duplicates_told();
    }

  private:
    const policy::Role& role(const std::string& name) const {
        return *policy::find_role(policy_, name);
    }
    int line() const { return lines_.cases.at(rule_->name)[index_]; }
    std::string where() const {
        if (rule_->cases.size() == 1) return rule_->name;
        return fmt::format("{}, case {}", rule_->name, index_ + 1);
    }
    bool acknowledged(std::string_view code) {
        return std::binary_search(rule_->acknowledge.begin(), rule_->acknowledge.end(), code);
    }
    void refuse(std::string sentence) {
        problems_.add(line(), fmt::format("{}: {}", where(), sentence));
    }
    void ask(std::string_view code, const std::string& sentence) {
        if (acknowledged(code)) return;
        refuse(fmt::format("{}, or write acknowledge: [{}]", sentence, code));
    }
    void warn(std::string sentence) {
        warnings_.add(line(), fmt::format("{}: {}", where(), sentence));
    }

    void check_role(const policy::Role& role);
    void check_depth(const policy::NamedCondition& condition);
    int depth(const Condition& condition, int limit) const;
    void check_rule(const policy::Rule& rule);
    void check_acknowledged();
    void check_case(const policy::Case& found);
    void check_bound(const policy::Case& found);
    void check_order(const policy::Case& found);
    void check_steps(const policy::Case& found);
    void check_sides(const policy::Case& found);
    void check_patterns(const policy::Case& found);
    void check_none(const policy::Case& found, const policy::Pattern& none);
    void check_words(const policy::Case& found, const policy::Pattern& pattern);
    void check_null(const policy::Pattern& pattern);
    void check_reach(const policy::Case& found);
    void check_repeats(const policy::Case& found);
    void check_undo();
    bool undoes(const policy::Case& one, const policy::Case& other);
    void check_duplicates_told();

    const policy::Policy& policy_;
    const PolicyLines& lines_;
    Problems& problems_;
    Problems& warnings_;
    const policy::Rule* rule_ = nullptr;
    std::size_t index_ = 0;
    std::size_t states_ = 0;  ///< gone through in the search for rules that undo each other
};

void PolicyChecks::check_role(const policy::Role& role) {
    const int at = lines_.roles.at(role.name);
    if (role.several && role.reference) {
        problems_.add(at, fmt::format("roles.{}: a reference is looked up by its name, which is "
                                      "unique; leave several: true out",
                                      role.name));
    }
    const bool rows = role.kind == policy::Kind::kRow;
    const bool simple = role.key.op == policy::Key::Op::kField;
    if (!rows && !simple) {
        warnings_.add(at, fmt::format("roles.{}: the key {} is neither a name, nor one label or "
                                      "tag: each live read lists the whole selection (list_scan)",
                                      role.name, policy::key_text(role.key)));
    }
}

int PolicyChecks::depth(const Condition& condition, int limit) const {
    int deepest = 0;
    each_test(condition, [&](const policy::Test& test) {
        if (test.op != Op::kIs || limit == 0) return;
        for (const policy::NamedCondition& named : policy_.conditions) {
            if (named.name != test.values.front()) continue;
            int inner = 0;
            for (const auto& line : named.lines) {
                for (const policy::Pattern& pattern : line.when) {
                    inner = std::max(inner, depth(pattern.condition, limit - 1));
                }
            }
            deepest = std::max(deepest, inner + 1);
        }
    });
    return deepest;
}

void PolicyChecks::check_depth(const policy::NamedCondition& condition) {
    for (const auto& line : condition.lines) {
        for (const policy::Pattern& pattern : line.when) {
            if (depth(pattern.condition, kDeepest + 1) < kDeepest) continue;
            problems_.add(1, fmt::format("conditions.{}: conditions that use others are more than "
                                         "{} deep; put the result into a view or a label",
                                         condition.name, kDeepest));
            return;
        }
    }
}

void PolicyChecks::check_rule(const policy::Rule& rule) {
    rule_ = &rule;
    for (index_ = 0; index_ < rule.cases.size(); ++index_) check_case(rule.cases[index_]);
    index_ = 0;
    check_acknowledged();
}

void PolicyChecks::check_acknowledged() {
    for (const std::string& code : rule_->acknowledge) {
        if (std::find(codes().begin(), codes().end(), code) == codes().end()) {
            refuse(fmt::format("acknowledge: '{}' is not a known code; {}", code,
                               did_you_mean(code, codes())));
        }
    }
}

void PolicyChecks::check_case(const policy::Case& found) {
    if (found.duplicates) {
        if (found.acts()) refuse("it is unknown which of two claims is right; write do: report");
        return;
    }
    check_bound(found);
    check_order(found);
    check_steps(found);
    check_sides(found);
    check_patterns(found);
    check_reach(found);
    check_repeats(found);
}

/// Whatever a text, a deadline or a test asks of another object: a pattern must bind that one.
void PolicyChecks::check_bound(const policy::Case& found) {
    std::set<std::string> bound;
    std::set<std::string> absent;
    for (const policy::Pattern& pattern : found.when) {
        (pattern.quantifier == Quantifier::kNone ? absent : bound).insert(pattern.role);
    }
    std::set<std::string> told;
    const auto wants = [&](const std::string& name, std::string_view what) {
        if (name.empty() || bound.count(name) > 0 || !told.insert(name).second) return;
        refuse(absent.count(name) > 0
                   ? fmt::format("{} needs an object of {}, and `{}: none` binds none", what, name,
                                 name)
                   : fmt::format("{} needs an object of {}, and `when` does not name {}; write {}: "
                                 "one",
                                 what, name, name, name));
    };
    for (const policy::Pattern& pattern : found.when) {
        for (const std::string& name : leans_on(pattern)) wants(name, "when." + pattern.role);
    }
    if (found.past) {
        wants(found.past->from.role, "past");
        if (const auto* field = std::get_if<policy::FieldRef>(&found.past->length)) {
            wants(field->role, "past");
        }
    }
    const auto text = [&](const policy::Text& of) {
        for (const policy::Piece& piece : of) wants(piece.field.role, "do");
    };
    for (const policy::Step& step : found.steps) {
        text(step.name);
        for (const policy::Assigned& set : step.sets) text(set.value.value_or(policy::Text{}));
        for (const policy::FieldRef& read : step.reads) wants(read.role, "do");
        if (step.verb == Verb::kUpdate) wants(step.role, "update");
    }
}

/// Objects are bound one after the other, each by those before it.
void PolicyChecks::check_order(const policy::Case& found) {
    std::set<std::string> open;
    for (const policy::Pattern& pattern : found.when) open.insert(pattern.role);
    for (bool moved = true; moved && !open.empty();) {
        moved = false;
        for (const policy::Pattern& pattern : found.when) {
            if (open.count(pattern.role) == 0) continue;
            const std::set<std::string> needs = leans_on(pattern);
            const bool free = std::none_of(needs.begin(), needs.end(),
                                           [&](const auto& name) { return open.count(name) > 0; });
            if (!free) continue;
            open.erase(pattern.role);
            moved = true;
        }
    }
    if (open.empty()) return;
    refuse(fmt::format("{} refer to each other; write one of them without the others' fields",
                       enumerate({open.begin(), open.end()})));
}

void PolicyChecks::check_steps(const policy::Case& found) {
    if (found.steps.empty()) return;
    const std::size_t last = found.steps.size() - 1;
    for (std::size_t i = 0; i < found.steps.size(); ++i) {
        const policy::Step& step = found.steps[i];
        const bool takes = policy::takes_away(step.verb);
        const bool fits = found.steps.size() == 1 ||
                          (i == 0     ? takes || step.verb == Verb::kVerify
                           : i < last ? step.verb == Verb::kDelete
                                      : step.verb == Verb::kDelete || step.verb == Verb::kUpdate);
        if (!fits) {
            refuse(
                fmt::format("step {} is {}; a list is: delete, verify or stop first, deletes "
                            "between, an update or a delete last",
                            i + 1, policy::name_of(step.verb)));
        }
        if (step.verb == Verb::kReport || step.role.empty()) continue;
        const policy::Role& target = role(step.role);
        const bool seen = std::any_of(found.when.begin(), found.when.end(),
                                      [&](const auto& each) { return each.role == step.role; });
        const bool by_name = target.key.op == policy::Key::Op::kField && target.key.text == "name";
        if (!seen && takes && !by_name) {
            ask("unseen_step",
                fmt::format(
                    "it would {} {} that `when` does not read, by their key {}; name {} in `when`",
                    policy::name_of(step.verb), step.role, policy::key_text(target.key),
                    step.role));
        }
        const bool rows = target.kind == policy::Kind::kRow || target.kind == policy::Kind::kEc2;
        if (step.verb == Verb::kDelete && rows && !acknowledged("irreversible")) {
            warn(
                fmt::format("what it deletes from {} does not come back; it asks for an approval "
                            "each time unless the rule says acknowledge: [irreversible]",
                            step.role));
        }
    }
}

/// A rule that takes away needs another side's word, and time in which that could come.
void PolicyChecks::check_sides(const policy::Case& found) {
    const bool takes = found.takes_away();
    std::set<std::string> sides;
    for (const policy::Pattern& pattern : found.when) {
        if (!role(pattern.role).reference) sides.insert(pattern.role);
    }
    if (takes && sides.size() == 1) {
        ask("deletes_all", fmt::format("it removes {} without reading another side: it would "
                                       "remove everything that the source shows; add a side",
                                       *sides.begin()));
    }
    if (found.rests_on_none() && (takes || found.writes()) && rule_->create_window == Millis{0}) {
        ask("no_window",
            "without a create_window, what is just being written counts as missing; write "
            "create_window: 30s");
    }
    if (takes && !found.past && rule_->grace == Millis{0}) {
        ask("no_grace",
            "with grace: 0s it removes what is wrong for a moment only; write grace: 30s");
    }
    if (!rule_->since_first_seen) return;
    for (const policy::Step& step : found.steps) {
        if (step.verb != Verb::kDelete) continue;
        for (const policy::Pattern& pattern : found.when) {
            if (pattern.role != step.role) continue;
            each_test(pattern.condition, [&](const policy::Test& test) {
                const policy::Role& of = role(pattern.role);
                if (policy::find_field(of, test.field) == nullptr) return;
                ask("blind_seen",
                    fmt::format("since: first_seen counts from when the object was first seen, but "
                                "it is deleted because of {}, which changes: the other side may "
                                "describe an earlier state; leave `since` out",
                                test.field));
            });
        }
    }
}

void PolicyChecks::check_patterns(const policy::Case& found) {
    const bool takes = found.takes_away();
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
        if (takes && rows && pattern.quantifier == Quantifier::kNone && found.ask_while.empty() &&
            of.key.op != policy::Key::Op::kLiteral && !acknowledged("keyless")) {
            warn(
                fmt::format("a row of {} whose key is NULL may own what this removes (keyless); "
                            "count such rows and write ask_while, or acknowledge: [keyless]",
                            pattern.role));
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
    each_values(of, {&of.live, &none.condition}, [&](const Values& values) {
        narrow = narrow || (certainty(of.live, of, values) == Certainty::kYes &&
                            certainty(none.condition, of, values) == Certainty::kNo);
    });
    if (narrow) {
        ask("none_narrow",
            fmt::format("when.{}: `none` asks for more than `live`, so it ignores some {} that "
                        "claim the subject; ask for no more than `live` does",
                        none.role, none.role));
    }
}

/// A list of words that may be incomplete, where one that is missing does harm.
void PolicyChecks::check_words(const policy::Case& found, const policy::Pattern& pattern) {
    const policy::Role& of = role(pattern.role);
    const bool none = pattern.quantifier == Quantifier::kNone;
    const bool touched =
        std::any_of(found.steps.begin(), found.steps.end(), [&](const policy::Step& step) {
            return step.role == pattern.role &&
                   (policy::takes_away(step.verb) || step.verb == Verb::kUpdate);
        });
    const bool matters = found.acts() && (none || touched);
    if (!matters || of.reference) return;
    each_test(pattern.condition, [&](const policy::Test& test) {
        const policy::Field* field = policy::find_field(of, test.field);
        if (field == nullptr || field->type != policy::Field::Type::kText) return;
        if (!field->words.empty() || test.op != Op::kIn || test.negated == none) return;
        ask("open_words",
            fmt::format("when.{}.{} {} {}, and nothing lists the other values: a new one counts as "
                        "{}; write {}: [every value] under roles.{}.fields",
                        pattern.role, test.field, test.negated ? "is not" : "is",
                        enumerate(test.values, "or"), none ? "none" : "found", test.field,
                        pattern.role));
    });
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

/// Can it ever find something?
void PolicyChecks::check_reach(const policy::Case& found) {
    for (const policy::Pattern& pattern : found.when) {
        if (pattern.quantifier == Quantifier::kNone) continue;
        bool possible = false;
        const policy::Role& of = role(pattern.role);
        const bool small = each_values(of, {&pattern.condition}, [&](const Values& values) {
            possible = possible || certainty(pattern.condition, of, values) != Certainty::kNo;
        });
        if (small && !possible) {
            refuse(
                fmt::format("when.{} is never true: its tests exclude each other", pattern.role));
            return;
        }
    }
    for (std::size_t i = 0; i < index_; ++i) {
        const policy::Case& before = rule_->cases[i];
        if (before.past || before.duplicates) continue;
        bool reached = false;
        const bool small = each_world(policy_, {&before, &found}, [&](const World& world) {
            reached = reached || (certainty(policy_, found, world) != Certainty::kNo &&
                                  certainty(policy_, before, world) != Certainty::kYes);
        });
        if (small && !reached) {
            refuse(fmt::format("it is never reached: case {} covers it", i + 1));
            return;
        }
    }
}

/// Would it be found again once it is done?
void PolicyChecks::check_repeats(const policy::Case& found) {
    for (const policy::Step& step : found.steps) {
        if (step.verb != Verb::kUpdate) continue;
        bool again = false;
        each_world(policy_, {&found}, [&](const World& world) {
            again = again || (certainty(policy_, found, world) != Certainty::kNo &&
                              certainty(policy_, found, after(found, world)) == Certainty::kYes);
        });
        if (!again) continue;
        std::vector<std::string> sets;
        for (const policy::Assigned& set : step.sets) sets.push_back(set.field);
        refuse(
            fmt::format("it sets {} of {} and matches the same object again, for ever; set what "
                        "`when` asks for",
                        enumerate(sets), step.role));
        return;
    }
}

/// Does the other one bring back what this one changed, with nothing in between?
bool PolicyChecks::undoes(const policy::Case& one, const policy::Case& other) {
    const bool meet =
        std::any_of(one.steps.begin(), one.steps.end(), [&](const policy::Step& step) {
            return std::any_of(other.steps.begin(), other.steps.end(),
                               [&](const policy::Step& each) { return each.role == step.role; });
        });
    if (!meet || states_ > kMostStates) return false;
    bool undone = false;
    each_world(policy_, {&one, &other}, [&](const World& world) {
        ++states_;
        if (undone || certainty(policy_, one, world) != Certainty::kYes) return;
        const World between = after(one, world);
        if (certainty(policy_, other, between) != Certainty::kYes) return;
        const World back = after(other, between);
        undone = std::all_of(world.begin(), world.end(), [&](const auto& had) {
            const auto has = back.find(had.first);
            if (has == back.end()) return false;
            return std::all_of(had.second.begin(), had.second.end(), [&](const auto& value) {
                const auto now = has->second.find(value.first);
                return now != has->second.end() && now->second.kind == value.second.kind &&
                       now->second.constant == value.second.constant;
            });
        });
        undone = undone && back.size() == world.size();
    });
    return undone;
}

void PolicyChecks::check_undo() {
    const auto eager = [](const policy::Rule& rule, const policy::Case& found) {
        return found.acts() && !found.past && rule.requested.empty() && rule.backoff.empty();
    };
    for (const policy::Rule& rule : policy_.rules) {
        rule_ = &rule;
        for (index_ = 0; index_ < rule.cases.size(); ++index_) {
            const policy::Case& one = rule.cases[index_];
            if (!eager(rule, one)) continue;
            for (const policy::Rule& second : policy_.rules) {
                if (&second == &rule) continue;
                for (const policy::Case& other : second.cases) {
                    if (!eager(second, other) || !undoes(one, other)) continue;
                    refuse(fmt::format(
                        "{} undoes what it does, from the same state: they would alternate for "
                        "ever; let one of them require what the other excludes",
                        second.name));
                }
            }
        }
    }
}

void PolicyChecks::check_duplicates_told() {
    if (states_ > kMostStates) {
        warnings_.add(1,
                      "there are too many rules to compare each pair: some that undo each other "
                      "may not be found");
    }
    const bool told =
        std::any_of(policy_.rules.begin(), policy_.rules.end(), [](const policy::Rule& rule) {
            return std::any_of(rule.cases.begin(), rule.cases.end(),
                               [](const policy::Case& each) { return each.duplicates; });
        });
    const auto single =
        std::find_if(policy_.roles.begin(), policy_.roles.end(),
                     [](const policy::Role& role) { return !role.several && !role.reference; });
    if (told || single == policy_.roles.end()) return;
    warnings_.add(
        lines_.roles.at(single->name),
        fmt::format("roles.{}: two live objects with one key stop every rule, and no rule reports "
                    "them; write duplicate_claim: {{finds: …, when: duplicates, do: report}}",
                    single->name));
}

}  // namespace

void check_policy(const policy::Policy& policy, const PolicyLines& lines, Problems& problems,
                  Problems& warnings) {
    PolicyChecks(policy, lines, problems, warnings).run();
}

}  // namespace trueup::config
