// Proves that a seed is a run: the same one each time, to the byte; and that the seeds that failed
// once are good. Its runs are judged by all oracles and look for no requirement by its number.
#include "simulation/run.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>

namespace trueup::simulation {
namespace {

std::string said(const Report& report) {
    std::string text;
    for (const Violation& violation : report.violations) {
        text += violation.oracle + ": " + violation.what + "\n";
    }
    return text;
}

TEST(Simulation, ASeedRepeatsARunToTheByte) {
    const Plan plan = *find_plan("standard");
    const Report once = run(7, plan);
    const Report again = run(7, plan);
    EXPECT_EQ(once.trace, again.trace);
    EXPECT_EQ(once.events, again.events);
    EXPECT_NE(once.trace, run(8, plan).trace);
}

TEST(Simulation, TheFirstSeedsOfEachPlanAreGood_C12) {
    for (const Plan& plan : plans()) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {  // hundreds without sanitizers
            const Report report = run(seed, plan);
            EXPECT_TRUE(report.good())
                << "trueup simulate --plan " << plan.name << " --seed " << seed << "\n"
                << said(report);
        }
    }
}

// Many commands are given and carried out, or the runs would prove little.
TEST(Simulation, SomethingHappensInARun) {
    const Report report = run(1, *find_plan("standard"));
    EXPECT_GT(report.records, 100U);
    EXPECT_GT(report.commands, 0U);
    EXPECT_GT(report.effects, 0U);
    EXPECT_GT(report.simulated, Millis{360'000});
}

/// What was ordered in a run, each once: the rule, what it does, to what.
std::set<std::string> ordered(std::uint64_t seed, const Plan& plan) {
    Trace trace("");
    const Report report = run(seed, plan, make_schedule(seed, plan), &trace);
    EXPECT_TRUE(report.good()) << said(report);
    std::set<std::string> orders;
    for (const std::string& line : trace.lines()) {
        const std::size_t at = line.find(" command ");
        if (at == std::string::npos) continue;
        const std::size_t begin = line.find(' ', at + 9) + 1;  // behind its id
        orders.insert(line.substr(begin, line.find(", emission ") - begin));
    }
    return orders;
}

// Everything goes wrong within half a minute, before anything is put right.
TEST(Simulation, ShardsTogetherDoWhatOneDoes_B2) {
    Plan plan = *find_plan("workload");
    plan.subjects = 40;
    plan.unrest = Millis{50'000};
    plan.workload_every = Millis{500};
    plan.budget = {100, 0, Millis{60'000}};
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        plan.shards = 1;
        const std::set<std::string> alone = ordered(seed, plan);
        EXPECT_GT(alone.size(), 5U);
        for (const std::int32_t shards : {2, 4, 8}) {
            plan.shards = shards;
            EXPECT_EQ(ordered(seed, plan), alone) << shards << " shards";
        }
    }
}

TEST(Simulation, PlansGoTogetherUnlessTheProductRefusesIt) {
    const std::optional<Plan> both = find_plan("rules+rewind");
    ASSERT_TRUE(both);
    EXPECT_TRUE(both->every_rule);
    EXPECT_EQ(both->with.size(), find_plan("rewind")->with.size());
    EXPECT_FALSE(find_plan("rules+shards"));
    EXPECT_FALSE(find_plan("rules+nothing"));
    std::set<std::string> names;
    for (const Plan& pair : pairs_of_plans()) names.insert(pair.name);
    EXPECT_EQ(names.count("standard+workload"), 1U);
    EXPECT_EQ(names.count("shards+rules"), 0U);
    EXPECT_EQ(names.size(), pairs_of_plans().size());
}

TEST(Simulation, AScheduleIsWrittenByTimesAndNames) {
    const Schedule schedule = make_schedule(1, *find_plan("standard"));
    ASSERT_FALSE(schedule.empty());
    for (std::size_t i = 1; i < schedule.size(); ++i) {
        EXPECT_GE(schedule[i].at, schedule[i - 1].at);
    }
    EXPECT_EQ(to_text({Millis{12'345}, find_act("crash"), 0xabcU}),
              "  12.345 crash 0000000000000abc");
    EXPECT_EQ(find_act("nothing of the kind"), nullptr);
    EXPECT_FALSE(find_plan("nothing of the kind"));
}

struct Seed {
    std::string plan;
    std::uint64_t seed = 0;
    std::string why;
};

std::vector<Seed> known_seeds() {
    std::vector<Seed> seeds;
    for (const auto& entry : std::filesystem::directory_iterator(TRUEUP_SEEDS)) {
        if (entry.path().extension() != ".seed") continue;
        std::ifstream file(entry.path());
        Seed seed;
        file >> seed.plan >> seed.seed;
        std::getline(file, seed.why);
        seeds.push_back(std::move(seed));
    }
    return seeds;
}

TEST(Simulation, WhatFailedOnceIsGood) {
    const std::vector<Seed> seeds = known_seeds();
    ASSERT_FALSE(seeds.empty());
    for (const Seed& known : seeds) {
        const std::optional<Plan> plan = find_plan(known.plan);
        ASSERT_TRUE(plan) << known.plan;
        const Report report = run(known.seed, *plan);
        EXPECT_TRUE(report.good()) << known.plan << " " << known.seed << known.why << "\n"
                                   << said(report);
    }
}

}  // namespace
}  // namespace trueup::simulation
