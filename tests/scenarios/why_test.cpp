// Holds what `trueup why` tells (engine/core/why.h) against the stories of this folder: it says
// what the evaluator and the fold say, and the one fact that it names is the one that decides.
#include "engine/core/draft.h"
#include "engine/core/witness.h"
#include "policies/shipped.h"
#include "stories/replay.h"
#include "tests/scenarios/moments.h"
#include "tests/scenarios/shipped_stories.h"

#include <gtest/gtest.h>

#include <iostream>
#include <random>
#include <tuple>

namespace trueup::testing {
namespace {

struct Told {
    stories::Story story;
    Shared<policy::Policy> policy;
};

const std::vector<Told>& shipped_stories() {
    static const std::vector<Told> kStories = [] {
        std::vector<Told> all;
        for (const std::string& name : policies::shipped_names()) {
            for (stories::Story& story : stories::read_stories(name)) {
                all.push_back({std::move(story), policies::shipped(name)});
            }
        }
        return all;
    }();
    return kStories;
}

/// Every subject of every story behind every record.
template <typename Visit>
void walk(Visit&& visit) {
    for (const Told& story : shipped_stories()) {
        const std::string& path = story.story.path;
        stories::Replay replay;
        for (const stories::Recorded& record : stories::play(story.story, story.policy).records) {
            replay.fold(record);
            if (replay.state().plan == nullptr) continue;
            std::vector<std::string> keys;
            replay.state().subjects.each_cached(
                [&](const Subject& subject) { keys.push_back(subject.key); });
            std::sort(keys.begin(), keys.end());
            for (const std::string& key : keys) visit(replay.state(), key, path, record.offset);
        }
    }
}

std::string where(const std::string& path, Offset offset, const std::string& key) {
    return path + ", behind record " + std::to_string(offset.value()) + ", " + key;
}

struct Watched {
    std::size_t judged = 0;
    std::size_t other = 0;
};
Watched watched;

Verdict judge_watched(const core::Judgement& on) {
    const Verdict verdict = core::judge(on);
    core::Witness witness(on);
    ++watched.judged;
    if (core::verdict_of(on, core::decide(on, &witness)) != verdict) ++watched.other;
    return verdict;
}

TEST(Why, WhoLooksChangesNoVerdict) {
    watched = {};
    for (const Told& each : shipped_stories()) {
        const std::string& path = each.story.path;
        EXPECT_EQ(stories::play(each.story, each.policy, {.judge = judge_watched}).flaws(path),
                  stories::play(each.story, each.policy).flaws(path));
    }
    EXPECT_EQ(watched.other, 0U);
    EXPECT_GT(watched.judged, 1'000U);
}

/// By the evaluator as the fold calls it, without anybody who looks.
const Subject kNobody;
Verdict unwatched(core::State& state, const Subject& subject, std::string_view rule) {
    core::Facts facts;
    core::look_at(*state.plan, subject, state.meta.settings, state.meta.sources, facts);
    const bool sweeping = std::any_of(state.meta.sweeps.begin(), state.meta.sweeps.end(),
                                      [](const core::Sweep& sweep) {
                                          return sweep.what == core::Sweep::What::kEpoch ||
                                                 sweep.what == core::Sweep::What::kPolicy;
                                      });
    const core::References beside{
        state.meta.sources,
        state.meta.broker_now,
        state.meta.watched_since,
        state.meta.tallies,
        sweeping,
        [&state](SourceId source, std::string_view name) -> const Subject& {
            const auto* entry = state.subjects.find("!" + state.meta.sources[source].name + "/" +
                                                    std::string(name));
            return entry == nullptr ? kNobody : entry->subject;
        }};
    const RuleNumber number = state.plan->rule(rule);
    if (state.meta.settings.rules[number.value()].mode == Mode::kOff) return Verdict::healthy();
    return core::judge(
        {*state.plan, subject, facts, beside, state.meta.settings, number, state.meta.now});
}

TEST(Why, TheTraceOfEveryRuleEndsAsItsVerdict) {
    std::size_t told = 0;
    walk([&](core::State& state, const std::string& key, const std::string& path, Offset offset) {
        const auto look = core::look_at(state, key);
        if (!look) return;
        for (const RuleTrace& trace : look->why) {
            ++told;
            const Verdict verdict = unwatched(state, look->subject, trace.rule);
            ASSERT_EQ(trace.kind, verdict.kind) << where(path, offset, key) << " " << trace.rule;
            ASSERT_EQ(trace.object_id, verdict.object_id) << where(path, offset, key);
            const StageAnswer* stop = trace.stop();
            if (stop == nullptr) {
                ASSERT_EQ(trace.kind, Verdict::Kind::kAct) << where(path, offset, key);
                continue;
            }
            ASSERT_TRUE(trace.kind != Verdict::Kind::kAct || stop->stage >= Stage::kUnderWay)
                << where(path, offset, key) << " " << trace.rule;
            ASSERT_FALSE(stop->facts.empty())
                << where(path, offset, key) << " " << trace.rule << " stops at "
                << name_of(stop->stage) << " and says not why";
            if (stop->stage <= Stage::kCount) {
                ASSERT_EQ(trace.reason, verdict.reason) << where(path, offset, key) << trace.rule;
            }
        }
    });
    EXPECT_GT(told, 10'000U);
}

// What a finding waits for is decided by the fold as it goes; what the trace says is asked later.
TEST(Why, WhatHoldsAFindingIsWhereItsTraceStops) {
    std::size_t held = 0;
    walk([&](core::State& state, const std::string& key, const std::string& path, Offset offset) {
        const auto look = core::look_at(state, key);
        if (!look || look->subject.ending || !state.meta.sweeps.empty()) return;
        for (const Finding& finding : look->subject.findings) {
            if (finding.command || finding.dismissed || finding.emit_again > state.meta.now) {
                continue;
            }
            const std::string& name = state.plan->rules[finding.rule.value()].name;
            const auto trace =
                std::find_if(look->why.begin(), look->why.end(),
                             [&](const RuleTrace& each) { return each.rule == name; });
            ASSERT_NE(trace, look->why.end());
            ++held;
            // That a source falls silent is no record's news: who asks is told first.
            if (trace->stop() != nullptr && trace->stop()->stage == Stage::kHeard) continue;
            EXPECT_EQ(name_of(trace->reason), name_of(finding.reason))
                << where(path, offset, key) << " " << name;
        }
    });
    EXPECT_GT(held, 500U);
}

// ---------------------------------------------------------------- the one fact that decides

/// What an operator would call another answer.
using Said = std::tuple<Verdict::Kind, Reason, std::string, bool>;
Said said(const RuleTrace& trace) {
    const StageAnswer* stop = trace.stop();
    return {trace.kind, trace.reason, trace.object_id,
            stop == nullptr || stop->stage == Stage::kUnderWay};
}

/// Where it stopped and by which facts, without what was read of them.
using Place = std::tuple<Stage, std::size_t, std::string>;
Place place(const RuleTrace& trace) {
    const StageAnswer* stop = trace.stop();
    if (stop == nullptr) return {Stage::kAct, 0, {}};
    std::string what = stop->asked;
    for (const DecidingFact& fact : stop->facts) {
        if (fact.answer == DecidingFact::Answer::kYes) continue;
        // Of several sources of a role one is heard after the other.
        const bool source = fact.kind == DecidingFact::Kind::kSource;
        what += "; " + std::string(name_of(fact.kind)) + " " + (source ? fact.source : fact.role) +
                " " + fact.name + " " + fact.asked;
    }
    return {stop->stage, stop->of_case, what};
}

/// The facts that the trace names as those that decide: of where it stopped; of what was found, and
/// is only reported or done, those that it was found by.
std::vector<DecidingFact> deciding(const RuleTrace& trace) {
    const StageAnswer* stop = trace.stop();
    const bool found = stop == nullptr || stop->stage == Stage::kSteps;
    std::vector<DecidingFact> facts;
    if (!found || trace.kind == Verdict::Kind::kHealthy) {
        for (const DecidingFact& fact : stop->facts) {
            if (fact.answer != DecidingFact::Answer::kYes) facts.push_back(fact);
        }
        return facts;
    }
    const std::size_t of_case = trace.stages.back().of_case;
    for (const StageAnswer& each : trace.stages) {
        const bool pattern = each.stage == Stage::kPattern || each.stage == Stage::kKeyless;
        if (!pattern || (stop != nullptr && each.of_case != stop->of_case)) continue;
        if (stop == nullptr && of_case != 0 && each.of_case != of_case) continue;
        for (const DecidingFact& fact : each.facts) {
            if (fact.answer == DecidingFact::Answer::kYes) facts.push_back(fact);
        }
    }
    return facts;
}

std::string told(const DecidingFact& fact) {
    return std::string(name_of(fact.kind)) + " " + fact.source + " " + fact.object + " " +
           fact.name + " = " +
           (fact.read == DecidingFact::Read::kText ? fact.value : std::string(name_of(fact.read))) +
           " (" + fact.asked + ")";
}

struct Hop {
    bool other = false;  ///< another answer
    bool moved = false;  ///< the same, and it stops elsewhere
};

/// Changes this one fact in every way that there is until the answer is another one; else leaves
/// one that moves it on.
Hop hop(Moment& moment, const DecidingFact& fact, const Pool& pool, const RuleTrace& before,
        std::mt19937_64& random) {
    Change change(moment, fact, pool);
    std::vector<std::size_t> on;
    for (std::size_t i = 0; change.make(i); ++i) {
        const RuleTrace after = moment.trace();
        if (said(after) != said(before)) return {true, false};
        if (place(after) != place(before)) on.push_back(i);
        moment.restore();
    }
    moment.restore();
    if (on.empty()) return {};
    change.make(on[random() % on.size()]);
    moment.settle();
    return {false, true};
}

constexpr std::size_t kHops = 8;
constexpr std::size_t kOfAKind = 6;

struct Draw {
    std::unique_ptr<Moment> moment;
    std::string from;
};

/// Some moments of every kind of answer: of a policy's rule, where it stopped and why.
std::vector<Draw> draw(std::mt19937_64& random, Pool& pool) {
    using Shape = std::tuple<std::string, std::string, Said, Place>;
    std::map<Shape, std::pair<std::size_t, std::vector<Draw>>> shapes;
    walk([&](core::State& state, const std::string& key, const std::string& path, Offset offset) {
        const auto look = core::look_at(state, key);
        if (!look) return;
        for (const Facet& facet : look->subject.facets) {
            if (facet.present()) pool[pool_of(state, facet.source)].insert(facet.object);
        }
        for (const RuleTrace& trace : look->why) {
            Said what = said(trace);
            std::get<2>(what).clear();
            auto& [seen, kept] =
                shapes[{state.meta.settings.policy, trace.rule, what, place(trace)}];
            const Stage stage = std::get<0>(place(trace));
            // Which rules judge what has no key stands in the policy, and is no fact.
            const bool keyless = look->subject.reference() && stage == Stage::kAsked;
            const bool unable =
                !state.plan->rules[state.plan->rule(trace.rule).value()].unable.empty();
            const std::size_t most = keyless || unable ? 0 : stage <= Stage::kCount ? kOfAKind : 2;
            const std::size_t slot = kept.size() < most ? kept.size() : random() % (seen + 1);
            ++seen;
            if (slot >= most) continue;
            if (slot == kept.size()) kept.emplace_back();
            kept[slot] = {std::make_unique<Moment>(state, key, trace.rule),
                          where(path, offset, key) + " " + trace.rule};
        }
    });
    std::vector<Draw> all;
    for (auto& [shape, found] : shapes) {
        for (Draw& each : found.second) all.push_back(std::move(each));
    }
    std::shuffle(all.begin(), all.end(), random);
    return all;
}

TEST(Why, TheOneFactThatItNamesIsTheOneThatDecides) {
    const char* fixed = std::getenv("TRUEUP_SEED");
    const std::uint64_t seed = fixed != nullptr ? std::stoull(fixed) : std::random_device{}();
    std::cout << "seed " << seed << std::endl;
    std::mt19937_64 random(seed);
    Pool pool;
    const std::vector<Draw> drawn = draw(random, pool);
    std::size_t at_once = 0;
    std::size_t lost = 0;
    std::map<std::size_t, std::size_t> hops;
    std::map<std::string, std::size_t> stages;
    for (const Draw& each : drawn) {
        if (at_once >= 200) break;
        Moment& moment = *each.moment;
        std::string path;
        std::size_t made = 0;
        for (bool other = false;; ++made) {
            const RuleTrace before = moment.trace();
            const std::vector<DecidingFact> facts = deciding(before);
            ASSERT_FALSE(facts.empty())
                << each.from << ": " << before.verdict() << " " << name_of(before.reason) << " at "
                << name_of(std::get<0>(place(before))) << std::get<2>(place(before)) << path;
            const DecidingFact& fact = facts[random() % facts.size()];
            path += "\n    " + std::string(before.verdict()) + " " +
                    std::string(name_of(before.reason)) + " at " +
                    std::string(name_of(std::get<0>(place(before)))) + " " +
                    std::get<2>(place(before)) + ": " + told(fact);
            const Hop hopped = hop(moment, fact, pool, before, random);
            if (made == 0 && hopped.other) {
                ++at_once;
                ++stages[std::string(name_of(std::get<0>(place(before))))];
            }
            other = hopped.other;
            if (other) break;
            if (!hopped.moved) {
                ADD_FAILURE() << each.from << ": nothing comes of changing it" << path;
                break;
            }
            // Of many facts at once the walk, which is blind, may change one back.
            if (made == kHops && ++lost > 5) ADD_FAILURE() << each.from << ": no end" << path;
            if (made == kHops) break;
        }
        ++hops[made + 1];
    }
    for (const auto& [count, times] : hops) {
        std::cout << times << " answers changed with the change of " << count << " facts\n";
    }
    for (const auto& [stage, times] : stages) std::cout << "  " << times << " at " << stage << "\n";
    EXPECT_GE(at_once, 200U);
}

}  // namespace
}  // namespace trueup::testing
