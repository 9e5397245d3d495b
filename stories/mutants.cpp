#include "stories/mutants.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trueup::stories {

namespace {

using policy::Condition;
using policy::Op;
using policy::Pattern;
using policy::Quantifier;

std::string word_of(Quantifier quantifier) {
    switch (quantifier) {
        case Quantifier::kOne:
            return "one";
        case Quantifier::kNone:
            return "none";
        case Quantifier::kSome:
            return "some";
        case Quantifier::kSurplus:
            return "surplus";
    }
    return {};
}

/// What is a comparison's nearest neighbour, and the two words.
struct Swapped {
    Op from;
    Op to;
    const char* change;
};
constexpr std::array<Swapped, 6> kSwapped{{{Op::kOver, Op::kAtLeast, "`over` becomes `at_least`"},
                                           {Op::kAtLeast, Op::kOver, "`at_least` becomes `over`"},
                                           {Op::kUnder, Op::kAtMost, "`under` becomes `at_most`"},
                                           {Op::kAtMost, Op::kUnder, "`at_most` becomes `under`"},
                                           {Op::kBefore, Op::kAfter, "`before` becomes `after`"},
                                           {Op::kAfter, Op::kBefore, "`after` becomes `before`"}}};

/// Changes one thing after the other in place, keeps a copy of the whole, and puts it back. What is
/// put back has moved: no reference into a list outlives a change of the list.
class Mutator {
  public:
    explicit Mutator(const policy::Policy& policy) : sound_(policy), work_(policy) {}

    std::vector<Mutant> run() {
        const policy::Policy usual;
        change(work_.stale_after, "stale_after", "is left out",
               [&](Millis& time) { time = usual.stale_after; });
        for (policy::Role& role : work_.roles) mutate(role);
        for (policy::NamedCondition& condition : work_.conditions) mutate(condition);
        for (policy::Count& count : work_.counts) mutate(count);
        for (auto& [name, owner] : work_.requests) leave_out(owner, "requests." + name + ".owner");
        if (work_.ledger) mutate(*work_.ledger);
        for (policy::Rule& rule : work_.rules) mutate(rule);
        return std::move(made_);
    }

  private:
    /// Notes what the policy is with `node` changed. `node` is a part of work_.
    template <typename Node, typename Change>
    void change(Node& node, const std::string& place, const std::string& what, Change how) {
        Node kept = node;
        how(node);
        if (!(work_ == sound_))
            made_.push_back({rule_, place, what, work_, place.ends_with(".mode")});
        node = std::move(kept);
    }
    template <typename Node>
    void leave_out(Node& node, const std::string& place) {
        change(node, place, "is left out", [](Node& each) { each = Node{}; });
    }
    template <typename Node>
    void leave_out_each(std::vector<Node>& nodes, const std::string& place) {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            change(nodes, place + numbered(i, nodes.size()), "is left out",
                   [i](std::vector<Node>& all) { erase(all, i); });
        }
    }
    template <typename Node>
    static void erase(std::vector<Node>& all, std::size_t i) {
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    }
    static std::string numbered(std::size_t i, std::size_t of) {
        return of == 1 ? "" : "[" + std::to_string(i) + "]";
    }
    static std::string field_of(const Condition& condition) {
        const policy::Test& test = condition.test;
        if (test.op == Op::kIs) return test.negated ? ".is_not" : ".is";
        return "." + test.field;
    }

    void mutate(policy::Role& role) {
        const std::string place = "roles." + role.name;
        change(role.several, place + ".several", "is left out", [](bool& on) { on = false; });
        leave_out(role.scope, place + ".scope");
        leave_out(role.as_of_field, place + ".as_of");
        for (policy::Field& field : role.fields) {
            const std::string at = place + ".fields." + field.name;
            words(field.words, at);
            leave_out(field.required, at + ".required");
            leave_out(field.null_unequal, at + ".null");
            leave_out(field.blank_is_value, at + ".blank");
        }
        mutate(role.live, place + ".live");
    }

    void mutate(policy::NamedCondition& condition) {
        using Line = policy::NamedCondition::Line;
        const std::string place = "conditions." + condition.name + ".first";
        if (condition.lines.size() > 1) leave_out_each(condition.lines, place);
        for (std::size_t i = 0; i < condition.lines.size(); ++i) {
            Line& line = condition.lines[i];
            const std::string at = place + "[" + std::to_string(i) + "]";
            change(line.then, at + ".then", "says the contrary", [](Line::Then& then) {
                then = then == Line::Then::kFalse ? Line::Then::kTrue : Line::Then::kFalse;
            });
            about_ = condition.about;  // it is asked of one object, whatever the quantifier
            mutate(line.when, at + ".if", 0);
            about_.clear();
        }
    }

    void mutate(policy::Count& count) {
        const std::string place = "counts." + count.name;
        leave_out(count.by, place + ".by");
        leave_out(count.reason, place + ".reason");
        mutate(count.objects, place + ".objects." + count.role);
        if (count.subjects.size() > 1) leave_out_each(count.subjects, place + ".subjects");
        for (std::size_t i = 0; i < count.subjects.size(); ++i) {
            counting_ = true;  // there `one` is `some`
            mutate(count.subjects[i], place + ".subjects" + numbered(i, count.subjects.size()), 1);
            counting_ = false;
        }
    }

    void mutate(policy::Ledger& ledger) {
        leave_out(ledger.of.field, "ledger.of");
        mutate(ledger.belongs, "ledger.belongs");
        mutate(ledger.failed, "ledger.failed");
        mutate(ledger.succeeded, "ledger.succeeded");
        leave_out(ledger.gone_failed, "ledger.gone");
        leave_out(ledger.known, "ledger.known");
    }

    void mutate(policy::Rule& rule) {
        rule_ = rule.name;
        const std::string place = "rules." + rule.name;
        change(rule.off, place + ".mode", rule.off ? "is left out" : "is off",
               [](bool& off) { off = !off; });
        time(rule.grace, place + ".grace");
        time(rule.create_window, place + ".create_window");
        // A report leans on nobody, so that it asks nobody for how long.
        const bool acts = std::any_of(rule.cases.begin(), rule.cases.end(),
                                      [](const policy::Case& each) { return each.acts(); });
        if (rule.since_first_seen || acts) {
            change(rule.since_first_seen, place + ".since",
                   rule.since_first_seen ? "is left out" : "is first_seen",
                   [](bool& since) { since = !since; });
        }
        leave_out(rule.keyless, place + ".keyless");
        leave_out(rule.requested, place + ".requested");
        leave_out_each(rule.backoff, place + ".backoff");
        if (rule.cases.size() > 1) leave_out_each(rule.cases, place + ".cases");
        for (std::size_t i = 0; i < rule.cases.size(); ++i) {
            const bool several = rule.cases.size() > 1;
            mutate(rule.cases[i], several ? place + ".cases[" + std::to_string(i) + "]" : place);
        }
        rule_.clear();
    }

    void time(Millis& time, const std::string& place) {
        leave_out(time, place);
        change(time, place, "is twice as long", [](Millis& length) { length *= 2; });
    }

    void mutate(policy::Case& found, const std::string& place) {
        mutate(found.when, place + ".when", 1);
        leave_out(found.past, place + ".past");
        if (found.past) {
            change(found.past->length, place + ".past", "has no length behind it",
                   [](auto& length) { length = Millis{0}; });
        }
        leave_out_each(found.ask_while, place + ".ask_while");
        mutate(found.steps, place + ".do");
    }

    void mutate(std::vector<policy::Step>& steps, const std::string& place) {
        const bool reports = steps.size() == 1 && !policy::acts(steps.front().verb);
        if (steps.size() > 1) leave_out_each(steps, place);
        if (!reports) {
            change(steps, place, "only reports",
                   [](std::vector<policy::Step>& all) { all.assign(1, policy::Step{}); });
        }
        for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
            change(steps, place + "[" + std::to_string(i) + "]", "comes after the next step",
                   [i](std::vector<policy::Step>& all) { std::swap(all[i], all[i + 1]); });
        }
        for (std::size_t i = 0; i < steps.size(); ++i) {
            policy::Step& step = steps[i];
            const std::string at = place + numbered(i, steps.size());
            for (std::size_t k = 0; k < step.sets.size(); ++k) {
                const std::string set = at + ".set." + step.sets[k].field;
                change(step.sets, set, "is left out",
                       [k](std::vector<policy::Assigned>& all) { erase(all, k); });
                change(step.sets[k].value, set, "is null",
                       [](std::optional<policy::Text>& value) { value.reset(); });
            }
            if (step.object) mutate(*step.object, at + ".object");
            leave_out(step.grace_period, at + ".grace_period");
            leave_out_each(step.reads, at + ".reads");
        }
    }

    void mutate(policy::Template& object, const std::string& place) {
        for (std::size_t i = 0; i < object.parts.size(); ++i) {
            const std::string& key = object.parts[i].key;
            std::string at = place;
            at += key.empty() ? '[' + std::to_string(i) + ']' : '.' + key;
            change(object.parts, at, "is left out",
                   [i](std::vector<policy::Template>& all) { erase(all, i); });
            mutate(object.parts[i], at);
        }
    }

    /// `least`: so many have to stay.
    void mutate(std::vector<Pattern>& patterns, const std::string& place, std::size_t least) {
        for (std::size_t i = 0; i < patterns.size(); ++i) {
            const std::string at = place + "." + patterns[i].role;
            if (patterns.size() > least) {
                change(patterns, at, "is left out",
                       [i](std::vector<Pattern>& all) { erase(all, i); });
            }
            mutate(patterns[i], at);
        }
    }

    void mutate(Pattern& pattern, const std::string& place) {
        const Quantifier was = pattern.quantifier;
        for (const Quantifier other : {Quantifier::kOne, Quantifier::kSome, Quantifier::kNone}) {
            if (other == was || pattern.role == about_) continue;
            if (counting_ && was != Quantifier::kNone && other == Quantifier::kOne) continue;
            if (counting_ && was == Quantifier::kOne && other == Quantifier::kSome) continue;
            change(pattern.quantifier, place,
                   "`" + word_of(was) + "` becomes `" + word_of(other) + "`",
                   [other](Quantifier& quantifier) { quantifier = other; });
        }
        leave_out(pattern.in, place + ".in");
        leave_out(pattern.named, place + ".named");
        leave_out_each(pattern.keep, place + ".keep");
        for (std::size_t i = 0; i < pattern.keep.size(); ++i) {
            mutate(pattern.keep[i].condition, place + ".keep" + numbered(i, pattern.keep.size()));
        }
        mutate(pattern.condition, place + "." + word_of(was));
    }

    void mutate(Condition& condition, const std::string& place) {
        if (condition.always()) return;
        if (condition.kind == Condition::Kind::kTest) {
            change(condition, place + field_of(condition), "is left out",
                   [](Condition& test) { test = Condition{}; });
        }
        inside(condition, place);
    }

    /// All but the whole.
    void inside(Condition& condition, const std::string& place) {
        if (condition.kind == Condition::Kind::kTest) {
            return mutate(condition.test, place + field_of(condition));
        }
        const bool any = condition.kind == Condition::Kind::kAny;
        const std::string at = any ? place + ".any" : place;
        for (std::size_t i = 0; i < condition.parts.size(); ++i) {
            Condition& part = condition.parts[i];
            const bool test = part.kind == Condition::Kind::kTest;
            change(condition.parts,
                   at + (test && !any ? field_of(part) : numbered(i, condition.parts.size())),
                   "is left out", [i](std::vector<Condition>& all) { erase(all, i); });
            inside(condition.parts[i], at);
        }
    }

    void mutate(policy::Test& test, const std::string& place) {
        change(test.negated, place, test.negated ? "`not` is left out" : "is asked with `not`",
               [](bool& negated) { negated = !negated; });
        if (test.op == Op::kIn && test.values.size() > 1) words(test.values, place);
        for (const Swapped& swapped : kSwapped) {
            if (swapped.from != test.op) continue;
            change(test.op, place, swapped.change, [&](Op& op) { op = swapped.to; });
        }
    }

    void words(std::vector<std::string>& words, const std::string& place) {
        for (std::size_t i = 0; i < words.size(); ++i) {
            change(words, place, "'" + words[i] + "' is left out",
                   [i](std::vector<std::string>& all) { erase(all, i); });
        }
    }

    const policy::Policy& sound_;
    policy::Policy work_;
    std::string rule_;
    bool counting_ = false;
    std::string about_;  ///< of the named condition in which it is
    std::vector<Mutant> made_;
};

}  // namespace

std::vector<Mutant> mutants_of(const policy::Policy& policy) { return Mutator(policy).run(); }

}  // namespace trueup::stories
