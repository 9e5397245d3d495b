// Proves that a text is compiled or refused with a sentence, whatever a journal says (core/plan.h),
// and what follows from it for the live look.
#include "engine/core/plan.h"

#include "engine/core/facts.h"
#include "engine/model/object_builder.h"
#include "policies/shipped.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

namespace trueup::core {
namespace {

using policy::Condition;
using policy::Op;
using policy::Policy;

/// What is said of graph-instances once it was changed like this; empty: it is compiled.
std::string refusal(const std::function<void(Policy&)>& change) {
    Settings settings = policies::usual_settings("graph-instances", Mode::kOff);
    Policy text = *settings.text;
    change(text);
    for (const policy::Rule& rule : text.rules) {
        const auto known = [&](const RuleSettings& each) { return each.rule == rule.name; };
        if (std::none_of(settings.rules.begin(), settings.rules.end(), known)) {
            settings.rules.push_back({rule.name, Mode::kOff});
        }
    }
    const Result<Plan> plan = compile(text, settings);
    return plan ? std::string() : plan.error().what;
}

Condition test_of(policy::Test test) {
    Condition condition;
    condition.kind = Condition::Kind::kTest;
    condition.test = std::move(test);
    return condition;
}

/// Of its first rule: `pods: one`.
Condition& asked(Policy& text) { return text.rules[0].cases[0].when[0].condition; }

policy::NamedCondition named(const std::string& name, const std::string& other) {
    policy::NamedCondition condition;
    condition.name = name;
    condition.about = "pods";
    auto& line = condition.lines.emplace_back();
    auto& pattern = line.when.emplace_back();
    pattern.role = "pods";
    if (!other.empty()) pattern.condition = test_of({"", Op::kIs, false, {other}, {}});
    return condition;
}

TEST(Plan, EveryShippedPolicyIsOne) {
    for (const std::string& name : policies::shipped_names()) {
        const Settings settings = policies::usual_settings(name, Mode::kOff);
        const Result<Plan> plan = compile(*settings.text, settings);
        EXPECT_TRUE(plan.ok()) << plan.error().what;
    }
}

TEST(Plan, NamesThatMeanNothingAreRefused) {
    EXPECT_EQ(refusal([](Policy&) {}), "");
    EXPECT_EQ(refusal([](Policy& text) { text.roles.push_back(text.roles[0]); }),
              "the policy has two roles 'pods'");
    EXPECT_EQ(refusal([](Policy& text) { text.roles.clear(); }),
              "the policy has 0 roles; this build has room for 1 to 16");
    EXPECT_EQ(refusal([](Policy& text) { text.rules[0].cases[0].when[0].role = "quanta"; }),
              "the policy has no role 'quanta'");
    EXPECT_EQ(refusal([](Policy& text) { text.rules[0].cases[0].ask_while = {"owls"}; }),
              "the policy has no count 'owls'");
    EXPECT_EQ(refusal([](Policy& text) { text.rules[0].requested = "hibernate"; }),
              "the policy has no request 'hibernate'");
}

TEST(Plan, TestsOfNothingAreRefused) {
    const auto with = [](const policy::Test& test) {
        return refusal([&](Policy& text) { asked(text) = test_of(test); });
    };
    EXPECT_EQ(with({"", Op::kIn, false, {"x"}, {}}), "a test of pods asks for no field");
    EXPECT_EQ(with({"phase", Op::kIn, false, {}, {}}),
              "a test of pods.phase compares with nothing");
    EXPECT_EQ(with({"phase", Op::kSame, false, {}, {}}),
              "a test of pods.phase compares with nothing");
    EXPECT_EQ(with({"phase", Op::kIn, false, {"b", "a"}, {}}),
              "the words of pods.phase do not ascend");
    EXPECT_EQ(with({"", Op::kIs, false, {"lost"}, {}}),
              "the policy has no condition 'lost' of pods above its use");
    EXPECT_EQ(with({"", Op::kIs, false, {}, {}}),
              "the policy has no condition '' of pods above its use");
}

TEST(Plan, ConditionsThatAskForOthersEndSomewhere) {
    const auto deep = [](int depth) {
        return refusal([&](Policy& text) {
            for (int i = 0; i < depth; ++i) {
                text.conditions.push_back(
                    named("c" + std::to_string(i), i == 0 ? "" : "c" + std::to_string(i - 1)));
            }
            asked(text) = test_of({"", Op::kIs, false, {"c" + std::to_string(depth - 1)}, {}});
        });
    };
    EXPECT_EQ(deep(4), "");
    EXPECT_EQ(deep(5), "the condition c4 asks for others 5 deep; this build goes 4 deep");
    EXPECT_EQ(refusal([](Policy& text) { text.conditions = {named("round", "round")}; }),
              "the policy has no condition 'round' of pods above its use");
}

TEST(Plan, WhatNoPatternBindsIsNeitherADeadlineNorWritten) {
    EXPECT_EQ(refusal([](Policy& text) {
                  text.rules[0].cases[0].past = policy::Deadline{{"rows", "created_at"}, Millis(1)};
              }),
              "no pattern binds rows, which a deadline begins at");
    EXPECT_EQ(refusal([](Policy& text) {
                  text.rules[0].cases[0].steps = {text.rules[1].cases[0].steps[0]};
              }),
              "no pattern binds rows, which is to be written");
}

TEST(Plan, ARuleLeansOnNobodyWhoIsNotThere) {
    EXPECT_EQ(refusal([](Policy& text) {
                  policy::Pattern pattern;
                  pattern.role = "services";
                  pattern.quantifier = policy::Quantifier::kNone;
                  text.rules[0].cases[0].when.push_back(pattern);
              }),
              "a rule asks for services, and no source has any");
}

// Symptom: of the words `01` and `1` only the first one was counted, whatever the object said.
TEST(Plan, ANumberThatIsTwoOfTheWordsCountsForBoth) {
    const Settings settings = policies::usual_settings("graph-instances", Mode::kOff);
    Policy text = *settings.text;
    const Role pods = policies::role_number(text, "pods");
    const auto counted_as = [&](const std::string& phase) {
        const Result<Plan> plan = compile(text, settings);
        EXPECT_TRUE(plan.ok()) << plan.error().what;
        Subject subject;
        Facet& pod = subject.facets.emplace_back();
        const auto plays = [&](const SourceSettings& source) { return source.role == pods; };
        pod.source = static_cast<SourceId>(
            std::find_if(settings.sources.begin(), settings.sources.end(), plays) -
            settings.sources.begin());
        pod.absence = Absence::kPresent;
        pod.object = ObjectBuilder().add("phase", phase).take();
        Word word;
        const Tally tally = tally_of(*plan, subject, settings, word);
        std::vector<std::string> words;
        for (std::size_t i = 0; i < plan->tallies.size(); ++i) {
            if (plan->tallies[i].name == "wrapper_pods" && tally[i] > 0) {
                words.push_back(plan->tallies[i].value);
            }
        }
        return words;
    };
    EXPECT_EQ(counted_as("Running"), (std::vector<std::string>{"Running"}));
    for (policy::Field& field : text.roles[pods].fields) {
        if (field.name != "phase") continue;
        field.type = policy::Field::Type::kNumber;
        field.words = {"01", "1", "2"};
    }
    EXPECT_EQ(counted_as("1"), (std::vector<std::string>{"01", "1"}));
    EXPECT_EQ(counted_as("2"), (std::vector<std::string>{"2"}));
}

TEST(Plan, MoreThanThereIsRoomForIsRefused) {
    EXPECT_EQ(refusal([](Policy& text) {
                  for (int i = 0; i < 250; ++i) {
                      text.rules.push_back(text.rules[0]);
                      text.rules.back().name += std::to_string(i);
                  }
              }),
              "the policy has 0 conditions and 261 rules; this build has room for 64 and 254");
    EXPECT_EQ(refusal([](Policy& text) {
                  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) {
                      text.counts.push_back(text.counts[0]);
                      text.counts.back().name = name;
                  }
              }),
              "the policy counts 17 things; this build has room for 16");
    EXPECT_EQ(refusal([](Policy& text) { text.rules[0].cases[0].ask_while = {"wrapper_pods"}; }),
              "a rule asks while wrapper_pods, which has many numbers");
}

TEST(Plan, ALiveLookAsksForTheKeyAndForWhatMayBeItByItself) {
    Settings settings = policies::usual_settings("graph-instances", Mode::kOff);
    Policy text = *settings.text;
    EXPECT_EQ(compile(text, settings)->roles[1].keys,
              (std::vector<std::string>{"key", "pod_name"}));
    text.roles[1].key = *policy::parse_key("'wrapper-' || url_slug");
    EXPECT_EQ(compile(text, settings)->roles[1].keys, std::vector<std::string>{"key"});
    text.roles[1].also = {"pod_name"};
    EXPECT_EQ(compile(text, settings)->roles[1].keys,
              (std::vector<std::string>{"key", "pod_name"}));
}

/// Why the rule of graph-instances must be off once it was changed like this; empty: it need not.
std::string unable(const std::string& rule, const std::function<void(policy::Rule&)>& change) {
    const Settings settings = policies::usual_settings("graph-instances", Mode::kOff);
    Policy text = *settings.text;
    for (policy::Rule& each : text.rules) {
        if (each.name == rule) change(each);
    }
    const Result<Plan> plan = compile(text, settings);
    return plan ? plan->rules[plan->rule(rule).value()].unable : plan.error().what;
}

// Symptom (had it been taken): the jobs of a policy that said `orphan` took their pods with them.
TEST(Plan, ADeletionThatCannotBeSentAsItIsMeantIsOff) {
    const auto sent_as = [](const std::string& propagation) {
        return unable("orphaned_pod", [&](policy::Rule& rule) {
            rule.cases[0].steps[0].propagation = propagation;
        });
    };
    EXPECT_EQ(sent_as("background"), "");
    EXPECT_EQ(sent_as("orphan"), "nothing in this build can delete pods with propagation orphan");
}

// Each verb on each kind of object by what the table says, and by nothing else.
TEST(Plan, WhatNoActionSaysIsOff) {
    using policy::Verb;
    const auto able = [](Verb verb) {
        return unable("orphaned_pod",
                      [&](policy::Rule& rule) { rule.cases[0].steps[0].verb = verb; });
    };
    EXPECT_EQ(able(Verb::kDelete), "");
    EXPECT_EQ(able(Verb::kRetract), "nothing in this build can retract pods");
    EXPECT_EQ(able(Verb::kStop), "nothing in this build can stop pods");
    EXPECT_EQ(able(Verb::kFollow), "nothing in this build can follow pods");
    EXPECT_EQ(able(Verb::kVerify), "nothing in this build can verify pods");
}

// Symptom: what a row was to be told of its pod was null by the time when the pod was gone.
TEST(Plan, WhatAnEndingWritesIsKnownWhenItIsWritten) {
    const auto writes = [](const policy::FieldRef& field) {
        return unable("ttl_expired", [&](policy::Rule& rule) {
            policy::Piece piece;
            piece.kind = policy::Piece::Kind::kField;
            piece.field = field;
            rule.cases[0].steps.back().sets.push_back({"error_message", policy::Text{piece}});
        });
    };
    EXPECT_EQ(writes({"rows", "pod_name"}), "");
    EXPECT_EQ(writes({"pods", "name"}),
              "nothing in this build knows pods any more when it sets error_message of rows on the "
              "way to an end");
}

}  // namespace
}  // namespace trueup::core
