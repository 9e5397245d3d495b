#include "apps/config/policy_checks.h"

#include "apps/config/policy_cycles.h"
#include "apps/config/policy_overlaps.h"
#include "apps/config/policy_states.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace trueup::config {

namespace {

using policy::Condition;
using policy::Op;
using policy::Quantifier;

const std::vector<std::string>& codes() {
    static const std::vector<std::string> kCodes{
        "blind_seen", "deletes_all", "irreversible", "keyless",    "no_grace",
        "no_story",   "no_window",   "none_narrow",  "open_words", "overlap",
        "recurring",  "some_hides",  "unseen_step"};
    return kCodes;
}

constexpr int kDeepest = 3;  // of conditions that name others

}  // namespace

void each_test(const Condition& condition, const std::function<void(const policy::Test&)>& visit) {
    if (condition.kind == Condition::Kind::kTest) visit(condition.test);
    for (const Condition& part : condition.parts) each_test(part, visit);
}

void PolicyChecks::run() {
    for (const policy::Role& role : policy_.roles) check_role(role);
    for (const policy::NamedCondition& condition : policy_.conditions) check_depth(condition);
    if (problems_.count() > 0) return;  // what is too deep takes too long
    for (const policy::Rule& rule : policy_.rules) check_rule(rule);
    check_cycles();
    check_overlaps();
    check_duplicates_told();
    check_used();
}

void PolicyChecks::check_role(const policy::Role& role) {
    const int at = lines_.roles.at(role.name);
    if (role.several && role.reference) {
        problems_.add(at, fmt::format("roles.{}: a reference is looked up by its name, which is "
                                      "unique; leave several: true out",
                                      role.name));
    }
    check_as_of(role, at);
    const bool rows = role.kind == policy::Kind::kRow;
    const bool simple = role.key.op == policy::Key::Op::kField;
    if (!rows && !simple) {
        warnings_.add(at, fmt::format("roles.{}: the key {} is neither a name, nor one label or "
                                      "tag: each live read lists the whole selection (list_scan)",
                                      role.name, policy::key_text(role.key)));
    }
}

/// Of what is filled from elsewhere: who says when that was.
void PolicyChecks::check_as_of(const policy::Role& role, int at) {
    const policy::Role* by = policy::find_role(policy_, role.as_of.role);
    if (role.as_of_field.empty() || by == nullptr) return;
    const std::string path = fmt::format("roles.{}.as_of", role.name);
    if (role.kind != policy::Kind::kRow) {
        problems_.add(
            at, fmt::format("{}: {} are watched where they are; leave it out", path, role.name));
    } else if (!by->reference || by->kind != policy::Kind::kRow || !by->as_of_field.empty()) {
        problems_.add(at, fmt::format("{}: {} is said by no reference; write {}: {{kind: row, "
                                      "reference: true, …}}, a table with a row for each that is "
                                      "filled",
                                      path, role.as_of_field, by->name));
    } else if (!policy::can_be_a_name(role.as_of_at)) {
        problems_.add(at, fmt::format("{}.at: '{}' is no name of a row of {}", path, role.as_of_at,
                                      by->name));
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

/// Codes that no check of a text asks for: those of the engine, the configuration and the stories.
void PolicyChecks::use_what_others_ask() {
    bool acts = false;
    bool deletes = false;
    for (const policy::Case& found : rule_->cases) {
        acts = acts || found.acts();
        for (const policy::Step& step : found.steps) {
            deletes = deletes ||
                      (policy::removes(step.verb) && policy::in_kubernetes(role(step.role).kind));
        }
    }
    if (acts) used_.emplace(rule_->name, "no_story");
    if (acts && rule_->backoff.empty() && rule_->requested.empty()) {
        used_.emplace(rule_->name, policy::kMayRecur);
    }
    if (deletes) used_.emplace(rule_->name, policy::kIrreversible);
}

/// What acknowledges nothing today would be silent about what it comes to mean tomorrow.
void PolicyChecks::check_used() {
    if (problems_.count() > 0) return;  // not all was asked
    for (const policy::Rule& rule : policy_.rules) {
        rule_ = &rule;
        index_ = 0;
        use_what_others_ask();
        for (const std::string& code : rule.acknowledge) {
            if (used_.contains({rule.name, code})) continue;
            warn(fmt::format("acknowledge: nothing here asks for {}; leave it out", code));
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
    check_half_done(found);
    check_ending(found);
    check_sides(found);
    check_patterns(found);
    check_reach(found);
    check_asks(found);
}

/// Can it be true of an object that counts? One without a key may be anybody's as long as it is
/// live, and is nobody's else.
bool PolicyChecks::counts_some(const policy::Pattern& pattern) const {
    const policy::Role& of = role(pattern.role);
    if (pattern.quantifier == Quantifier::kNone || of.key.op != policy::Key::Op::kField)
        return true;
    bool some = false;
    const bool small =
        each_values(policy_, of, {&pattern.condition, &of.live}, [&](const Values& values) {
            const auto key = values.find(of.key.text);
            const bool keyless = key != values.end() && key->second.kind == ValueClass::Kind::kNull;
            some =
                some || (certainty(policy_, pattern.condition, of, values) != Certainty::kNo &&
                         (!keyless || certainty(policy_, of.live, of, values) != Certainty::kNo));
        });
    return some || !small;
}

/// A brake that never holds looks like one that does.
void PolicyChecks::check_asks(const policy::Case& found) {
    for (const policy::Count& count : policy_.counts) {
        if (std::find(found.ask_while.begin(), found.ask_while.end(), count.name) ==
            found.ask_while.end()) {
            continue;
        }
        const policy::Pattern* vain = nullptr;
        const bool counts =
            std::any_of(count.subjects.begin(), count.subjects.end(), [&](const auto& subject) {
                const auto some = [this](const auto& each) { return counts_some(each); };
                const auto none = std::find_if_not(subject.begin(), subject.end(), some);
                if (none != subject.end()) vain = &*none;
                return none == subject.end();
            });
        if (counts || vain == nullptr) continue;
        const std::string key = policy::key_text(role(vain->role).key);
        refuse(
            fmt::format("it asks while {0} is not 0, and it always is 0: what has no {1} counts "
                        "where it may be live, and `live` of {2} excludes that; write a `live` "
                        "of {2} that does not look at {1}",
                        count.name, key, vain->role));
    }
}

/// Can it ever find something?
void PolicyChecks::check_reach(const policy::Case& found) {
    for (const policy::Pattern& pattern : found.when) {
        if (pattern.quantifier == Quantifier::kNone) continue;
        bool possible = false;
        const policy::Role& of = role(pattern.role);
        const bool small =
            each_values(policy_, of, {&pattern.condition}, [&](const Values& values) {
                possible =
                    possible || certainty(policy_, pattern.condition, of, values) != Certainty::kNo;
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

/// Do rules find again what they did themselves, with nothing in between?
void PolicyChecks::check_cycles() {
    all_compared_ = each_cycle(policy_, [&](const Cycle& cycle) {
        rule_ = &policy_.rules[cycle.front().rule];
        index_ = cycle.front().index;
        const policy::Case& found = rule_->cases[index_];
        if (cycle.size() == 1) {
            std::vector<std::string> sets;
            std::string role;
            for (const policy::Step& step : found.steps) {
                if (policy::makes(step.verb)) {
                    return refuse(
                        fmt::format("it makes {} and matches again, for ever; ask that "
                                    "there is none",
                                    step.role));
                }
                if (!policy::sets(step.verb)) continue;
                role = step.role;
                for (const policy::Assigned& set : step.sets) sets.push_back(set.field);
            }
            return refuse(
                fmt::format("it sets {} of {} and matches the same object again, for ever; set "
                            "what `when` asks for",
                            enumerate(sets), role));
        }
        std::vector<std::string> others;
        for (std::size_t i = 1; i < cycle.size(); ++i) {
            const std::string& name = policy_.rules[cycle[i].rule].name;
            if (std::find(others.begin(), others.end(), name) == others.end()) {
                others.push_back(name);
            }
        }
        refuse(
            fmt::format("{} {} what it does, from the same state: they would alternate for "
                        "ever; let one of them require what {}",
                        enumerate(others), others.size() == 1 ? "undoes" : "undo",
                        others.size() == 1 ? "the other excludes" : "another one excludes"));
    });
}

/// Do two rules begin with one object, each in its own way?
void PolicyChecks::check_overlaps() {
    if (problems_.count() > 0) return;  // nobody reads warnings then
    for (const Overlap& overlap : overlaps(policy_)) {
        rule_ = &policy_.rules[overlap.rule];
        index_ = overlap.index;
        const policy::Rule& second = policy_.rules[overlap.other];
        if (overlap.role.empty()) continue;
        const std::string& other = second.name;
        used_.emplace(other, "overlap");
        if (acknowledged("overlap") || second.acknowledges("overlap")) continue;
        warn(
            fmt::format("{} may be found of the same subject, and each changes {} in its own way: "
                        "the first command wins (overlap); let one of them exclude what the other "
                        "asks for, or write acknowledge: [overlap]",
                        other, overlap.role));
    }
}

void PolicyChecks::check_duplicates_told() {
    if (!all_compared_) {
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

void check_policy(const policy::Policy& policy, const PolicyLines& lines, Problems& problems,
                  Problems& warnings) {
    PolicyChecks(policy, lines, problems, warnings).run();
}

}  // namespace trueup::config
