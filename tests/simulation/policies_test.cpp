// Policies that nobody wrote, in worlds that lie, crash and stall: what is ordered and done is what
// the text in force says of the world as it was, and at rest nothing is left that it finds (O22;
// docs/adr/0041). TRUEUP_DRAWN_RUNS and TRUEUP_DRAWN_SEED say how many and from which seed on;
// TRUEUP_DRAWN_ABOUT=wrapper-s7 tells what happened around that name.
#include "policies/shipped.h"
#include "simulation/run.h"
#include "tests/simulation/drawn_policy.h"
#include "tests/simulation/text_law.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trueup::simulation {
namespace {

std::size_t as_told(const char* variable, std::size_t usual) {
    const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): before any thread
    return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

/// The policies of a seed, with everything that a run of them needs.
struct Drawn {
    explicit Drawn(std::uint64_t seed, std::unique_ptr<TextLaw> by = std::make_unique<TextLaw>(),
                   const DrawnKinds& kinds = {})
        : texts(draw_policies(seed, 3, kinds)), law(std::move(by)) {
        for (const DrawnPolicy& each : texts) {
            other.settings.push_back(policies::usual_settings(each.policy, Mode::kEnforce));
        }
        if (kinds.creates) {
            plan.with.insert(plan.with.end(), {"undo-created", "undo-creations", "undo-creations"});
        }
        other.law = law.get();
        plan.policies = &other;
    }

    std::string told() const {
        std::string text;
        for (const DrawnPolicy& each : texts) text += each.yaml + "---\n";
        return text;
    }

    std::vector<DrawnPolicy> texts;
    std::unique_ptr<TextLaw> law;
    OtherPolicies other;
    Plan plan{
        .name = "drawn",
        .about = "policies that nobody wrote, one after the other",
        .rest = Millis{1'800'000},
        .workload_every = Millis{4'000},
        .settled_for = Millis{90'000},  // longer than the deadlines of their rules
        .with = {"scribble-row", "scribble-row", "scribble-row", "scribble-pod", "change-text",
                 "toctou", "late-executors"},
        // The law believes clocks, and of few objects an empty list cannot be told from a true one.
        .without = {"database-clock", "broker-clock", "empty-list", "false-lists", "dismiss"},
        .operators_every = Millis{12'000}};
};

/// Runs so many, unless somebody said how many; the texts of each say the same as what was done.
void carry_out(std::size_t usual, const DrawnKinds& kinds) {
    const std::size_t runs = as_told("TRUEUP_DRAWN_RUNS", usual);
    const std::size_t first = as_told("TRUEUP_DRAWN_SEED", 1);
    std::cout << runs << " runs from seed " << first << std::endl;
    const char* about = std::getenv("TRUEUP_DRAWN_ABOUT");  // NOLINT(concurrency-mt-unsafe)
    std::uint64_t commands = 0;
    std::uint64_t effects = 0;
    std::uint64_t races = 0;
    std::uint64_t texts = 0;
    for (std::size_t seed = first; seed < first + runs; ++seed) {
        Drawn drawn(seed, std::make_unique<TextLaw>(), kinds);
        Trace trace(about == nullptr ? "" : about);
        const Schedule schedule = make_schedule(seed, drawn.plan);
        const Report report = run(seed, drawn.plan, schedule, about == nullptr ? nullptr : &trace);
        for (const std::string& line : trace.lines()) std::cout << line << '\n';
        commands += report.commands;
        effects += report.effects;
        races += report.races;
        texts += drawn.law->changes();
        ASSERT_TRUE(report.good()) << "seed " << seed << ": " << report.violations.front().oracle
                                   << ": " << report.violations.front().what << '\n'
                                   << drawn.told();
    }
    std::cout << commands << " commands, " << effects << " effects, " << races << " races, "
              << texts << " texts in force" << std::endl;
    EXPECT_GT(effects, runs);
    EXPECT_GT(texts, 2 * runs);
}

// Few, since sanitizers take ten times as long; tools/check runs a hundred of each without them.
TEST(DrawnPolicies, AreCarriedOutAsTheirTextsSay) { carry_out(20, {}); }

TEST(DrawnPolicies, CreateWhatTheirTextsSay) { carry_out(15, {.creates = true}); }

/// Reads something else than what is in force: to it the engines err.
class Misled final : public TextLaw {
  public:
    using Reads = std::function<void(Settings& settings, policy::Policy& text)>;
    explicit Misled(Reads reads) : reads_(std::move(reads)) {}

    void in_force(const Settings& settings, SteadyTime since) override {
        Settings read = settings;
        policy::Policy text = *read.text;
        reads_(read, text);
        read.text = std::move(text);
        TextLaw::in_force(read, since);
    }

  private:
    Reads reads_;
};

void each_pattern(policy::Policy& text, const std::function<void(policy::Pattern&)>& visit) {
    for (policy::Rule& rule : text.rules) {
        for (policy::Case& found : rule.cases) {
            for (policy::Pattern& pattern : found.when) visit(pattern);
        }
    }
}

struct Misreading {
    const char* what;
    Misled::Reads reads;
    DrawnKinds kinds = {};
};

// An oracle that never says anything would pass the test above.
TEST(DrawnPolicies, WhoeverReadsThemOtherwiseIsNotAgreedWith) {
    using policy::Quantifier;
    const Misreading misreadings[] = {
        {"a grace is two minutes longer",
         [](Settings& settings, policy::Policy&) {
             for (RuleSettings& rule : settings.rules) rule.grace += Millis{120'000};
         }},
        {"an object that is there is none",
         [](Settings&, policy::Policy& text) {
             each_pattern(text, [](policy::Pattern& pattern) {
                 const bool one = pattern.quantifier == Quantifier::kOne;
                 if (one && pattern.role == "pods") pattern.quantifier = Quantifier::kNone;
             });
         }},
        {"what is none is one",
         [](Settings&, policy::Policy& text) {
             each_pattern(text, [](policy::Pattern& pattern) {
                 const bool none = pattern.quantifier == Quantifier::kNone;
                 if (none && pattern.role == "rows") pattern.quantifier = Quantifier::kOne;
             });
         }},
        {"a condition is another one",
         [](Settings&, policy::Policy& text) {
             each_pattern(text, [](policy::Pattern& pattern) {
                 policy::Condition& condition = pattern.condition;
                 for (policy::Condition& part : condition.parts) {
                     part.test.negated = !part.test.negated;
                 }
                 condition.test.negated = !condition.test.negated;
             });
         }},
        {"a rule is not there", [](Settings&, policy::Policy& text) { text.rules.pop_back(); }},
        {"what is deleted is written",
         [](Settings&, policy::Policy& text) {
             for (policy::Rule& rule : text.rules) {
                 for (policy::Case& found : rule.cases) {
                     for (policy::Step& step : found.steps) {
                         if (step.verb == policy::Verb::kDelete) step.verb = policy::Verb::kUpdate;
                     }
                 }
             }
         }},
        {"what is created is another one",
         [](Settings&, policy::Policy& text) {
             for (policy::Rule& rule : text.rules) {
                 for (policy::Case& found : rule.cases) {
                     if (found.steps.back().object) found.steps.back().object->parts.pop_back();
                 }
             }
         },
         {.creates = true}},
    };
    constexpr std::uint64_t kMost = 40;
    for (const Misreading& misreading : misreadings) {
        std::uint64_t seed = 1;
        std::string said;
        for (; seed <= kMost && said.empty(); ++seed) {
            Drawn drawn(seed, std::make_unique<Misled>(misreading.reads), misreading.kinds);
            drawn.plan.rest = Millis{600'000};
            const Report report = run(seed, drawn.plan);
            if (!report.good()) said = report.violations.front().oracle;
        }
        EXPECT_NE(said, "") << misreading.what << " was not noticed";
        std::cout << misreading.what << ": " << said << ", seed " << seed - 1 << std::endl;
    }
}

}  // namespace
}  // namespace trueup::simulation
