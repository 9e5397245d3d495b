// Properties of the evaluation of any policy, over random ones. What is learnt of a value that was
// not known turns no verdict over: what acted acts, what was healthy is healthy. And the masks
// leave out no case that has anything to say.
#include "tests/scenarios/both_readers.h"
#include "tests/scenarios/tell_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <random>

namespace trueup::testing {
namespace {

using Kind = Verdict::Kind;

Saying saying_of(const Facet& facet) {
    Saying saying;
    facet.fields().each([&](const Field& field) {
        Said& said = saying[std::string(field.name)];
        said.kind = field.unchanged ? Said::Kind::kUnsent
                    : field.value   ? Said::Kind::kText
                                    : Said::Kind::kNull;
        said.text = field.value.value_or("");
    });
    return saying;
}

class Properties : public ::testing::Test {
  protected:
    /// `visit` for worlds of random policies; a sentence that it returns is a failure.
    using Visit = std::function<std::string(RandomWorld& world, naive::Dice& dice)>;
    void over_all(std::size_t usual, const Visit& visit) {
        const std::size_t policies = policies_ = as_told("TRUEUP_RANDOM_POLICIES", usual);
        const std::size_t first = as_told("TRUEUP_RANDOM_SEED", std::random_device{}());
        std::cout << policies << " policies from seed " << first << std::endl;
        for (std::size_t seed = first; seed < first + policies; ++seed) {
            text_ = naive::random_policy(seed);
            RandomWorlds worlds(text_, seed);
            settings_ = worlds.settings();
            values_ = &worlds.values();
            const Result<core::Plan> plan = core::compile(text_, settings_);
            ASSERT_TRUE(plan) << plan.error().what;
            plan_ = *plan;
            naive::Dice dice(seed);
            for (int i = 0; i < 8; ++i) {
                RandomWorld world = worlds.draw();
                const std::string flaw = visit(world, dice);
                ASSERT_EQ(flaw, "") << "seed " << seed << ", world " << i << '\n'
                                    << told(text_, settings_, world);
            }
        }
    }

    naive::Judged judge(const RandomWorld& world, std::size_t rule) const;

    /// All that the field could say.
    std::vector<Said> possible(const std::string& role, const std::string& field) const {
        std::vector<Said> all{{Said::Kind::kNull, {}}, {Said::Kind::kNotThere, {}}};
        std::vector<std::string> texts = values_->of(role, field);
        texts.insert(texts.end(),
                     {"", " ", "odd", "x", "x-1", "y", "5", "10", "true", "false", "eu", "us", "up",
                      "2025-11-20 18:57:48+00", "2026-11-25 08:00:00+00"});
        for (std::string& each : texts) all.push_back({Said::Kind::kText, std::move(each)});
        return all;
    }

    /// Is it told otherwise than by a value: a standing that only its unusual word says, or a veto?
    bool standing(const policy::Role& role, const std::string& field) const {
        return field == "hold" || (policy::find_field(role, field) == nullptr &&
                                   (field == "deleting" || field == "in_scope"));
    }

    /// The values of one object are forgotten one by one; what the rule says of that it says of
    /// whatever the value is. Empty, or which one turns it over.
    std::string learn(RandomWorld& world, Facet& facet, std::size_t rule);

    policy::Policy text_;
    Settings settings_;
    core::Plan plan_;
    const Values* values_ = nullptr;
    std::size_t policies_ = 0;
    std::size_t rested_ = 0;   ///< verdicts that changed when a value was forgotten
    std::size_t learned_ = 0;  ///< that did not, and were tried with every value
};

naive::Judged Properties::judge(const RandomWorld& world, std::size_t rule) const {
    const core::Decision decision = Looked(plan_, settings_, world).decide(rule);
    naive::Judged judged;
    judged.kind = decision.kind;
    judged.reason = decision.reason;
    if (decision.about != nullptr) judged.object_id = decision.about->object_id;
    return judged;
}

std::string Properties::learn(RandomWorld& world, Facet& facet, std::size_t rule) {
    const policy::Role& role = text_.roles[settings_.sources[facet.source].role];
    const std::string before = facet.object;
    const Saying saying = saying_of(facet);
    for (const auto& [field, said] : saying) {
        if (standing(role, field)) continue;
        Saying changed = saying;
        changed[field] = {Said::Kind::kUnsent, {}};
        facet.object = encoded(changed);
        const naive::Judged unknown = judge(world, rule);
        if (unknown.kind != Kind::kAct && unknown.kind != Kind::kHealthy) {
            ++rested_;
            continue;
        }
        ++learned_;
        for (const Said& each : possible(role.name, field)) {
            changed[field] = each;
            facet.object = encoded(changed);
            const naive::Judged known = judge(world, rule);
            const bool same = unknown.kind != Kind::kAct || known.object_id == unknown.object_id;
            if (known.kind == unknown.kind && same) continue;
            return text_.rules[rule].name + " says `" + naive::told(unknown) +
                   "` without knowing " + role.name + '.' + field + " of " + facet.object_id +
                   ", and `" + naive::told(known) + "` of '" + each.text + "' (" +
                   std::to_string(static_cast<int>(each.kind)) + ')';
        }
    }
    facet.object = before;
    return {};
}

TEST_F(Properties, WhatActsWithAValueUnknownActsWithAnyAndNothingHealthyIsFound) {
    over_all(250, [&](RandomWorld& world, naive::Dice& dice) -> std::string {
        for (std::size_t rule = 0; rule < text_.rules.size(); ++rule) {
            const Kind kind = judge(world, rule).kind;
            // Most are healthy.
            if (kind != Kind::kAct && (kind != Kind::kHealthy || !dice.chance(20))) continue;
            for (Facet& facet : world.subject.facets) {
                if (!facet.present()) continue;
                if (std::string flaw = learn(world, facet, rule); !flaw.empty()) return flaw;
            }
            for (auto& [name, reference] : world.references) {
                for (Facet& facet : reference.facets) {
                    if (!facet.present() || !dice.chance(3)) continue;
                    if (std::string flaw = learn(world, facet, rule); !flaw.empty()) return flaw;
                }
            }
        }
        return {};
    });
    std::cout << rested_ << " verdicts rested on a value, " << learned_ << " did not" << std::endl;
    EXPECT_GT(rested_, policies_);
    EXPECT_GT(learned_, policies_ * 20);
}

TEST_F(Properties, AMaskLeavesOutOnlyCasesThatAreHealthy) {
    std::size_t left_out = 0;
    over_all(700, [&](RandomWorld& world, naive::Dice& /*dice*/) -> std::string {
        const Looked looked(plan_, settings_, world);
        core::Facts open = looked.facts();
        for (std::size_t bit = 0; bit < Bits::kMost; ++bit) open.may.set(bit);
        open.word.is = {};
        for (std::size_t rule = 0; rule < text_.rules.size(); ++rule) {
            for (const core::PlanCase& each : plan_.rules[rule].cases) {
                if (!looked.facts().fit(each.mask)) ++left_out;
            }
            const core::Judgement on = looked.on(rule);
            const core::Decision slow = core::decide(
                {on.plan, on.subject, open, on.references, on.settings, on.self, on.now});
            const core::Decision fast = looked.decide(rule);
            if (slow.kind == fast.kind && slow.reason == fast.reason && slow.about == fast.about &&
                slow.wait == fast.wait) {
                continue;
            }
            return text_.rules[rule].name + " is more than healthy by its conditions alone";
        }
        return {};
    });
    std::cout << left_out << " cases left out" << std::endl;
    EXPECT_GT(left_out, policies_ * 10);
}

}  // namespace
}  // namespace trueup::testing
