// Proves that the oracles of creations can fail: what they watch for is done on purpose.
#include "sandbox/world.h"
#include "simulation/instances.h"
#include "simulation/oracles.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace trueup::simulation {
namespace {

sandbox::WorldSettings world_settings() {
    sandbox::WorldSettings settings;
    settings.block_in_poll = false;
    return settings;
}

/// A world in which row `w` wants a pod, and executors that make whatever the test wants.
class CreationsTest : public ::testing::Test {
  protected:
    CreationsTest() {
        world_.observe([this](const std::vector<sandbox::Record>& act) { oracles_.act(act); });
        pk_ = row(kWanted);
    }

    std::string row(const std::string& status) {
        return world_.insert_row({{"pod_name", "w"}, {"url_slug", "slug"}, {"status", status}});
    }
    void say(const std::string& status) { world_.update_row(pk_, {{"status", status}}); }
    /// What is known by then, and will be what executors had read.
    void read() {
        for (const std::string& about :
             {std::string("pod/w"), std::string("key/w"), "row/" + pk_}) {
            known_[about] = {oracles_.moment(), scheduler_.steady_now()};
        }
    }
    Command command(std::uint64_t number) {
        Command made;
        made.id = CommandId({number, number});
        made.rule = kWantedRule;
        made.subject = "graph-instances/w";
        made.draft.target = {"pods", "w", "w", {}};
        made.draft.action.kind = Action::Kind::kCreateObject;
        made.draft.read_set = {
            {Predicate::Kind::kNone, "pods", {}, "name", "w"},
            {Predicate::Kind::kField, "rows", "public.instances/" + pk_, "status", kWanted}};
        return made;
    }
    void make(std::uint64_t number, const std::string& by = "executor-1",
              const std::string& slug = "slug") {
        const Command ordered = command(number);
        oracles_.ordered(ordered, by);
        const std::string word = by + ", call " + std::to_string(++calls_);
        oracles_.write_sent(made_target("w"), word, known_);
        oracles_.arrives(word);
        ports::CreateObject request;
        request.resource.name_space = "graph";
        request.name = "w";
        request.body = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"w","namespace":)"
                       R"("graph","labels":{"app":"w"},"annotations":{"trueup.io/command":")" +
                       to_hex(ordered.id) + R"(","example.com/of":")" + slug + R"("}},"spec":{}})";
        cluster_->create(calls_, request);
    }
    void tell_done(std::uint64_t number) {
        Outcome outcome;
        outcome.command_id = CommandId({number, number});
        outcome.kind = OutcomeKind::kDone;
        oracles_.ended(outcome);
    }
    using Names = std::set<std::string>;
    /// The oracles that were violated, each once.
    Names violated() const {
        Names names;
        for (const Violation& violation : oracles_.violations()) names.insert(violation.oracle);
        return names;
    }
    std::string said() const {
        return oracles_.violations().empty() ? "" : oracles_.violations().back().what;
    }

    Scheduler scheduler_{1};
    History history_{world_settings()};
    Oracles oracles_{scheduler_, history_};
    sandbox::World world_{1, scheduler_, world_settings()};
    std::unique_ptr<ports::Cluster> cluster_ = world_.cluster();
    std::string pk_;
    Knowledge known_;
    ports::CallId calls_ = 0;
};

TEST_F(CreationsTest, WhatARowWantsIsNoHarm) {
    read();
    make(1);
    EXPECT_EQ(violated(), Names{}) << said();
    EXPECT_EQ(oracles_.effects(), 1U);
}

TEST_F(CreationsTest, HarmIsWhatNoRowWantedWhenItsExecutorLooked) {
    say("hibernated");
    read();
    make(1);
    EXPECT_EQ(violated(), Names{"harm"});
    EXPECT_NE(said().find("its row wanted none"), std::string::npos) << said();
}

TEST_F(CreationsTest, HarmIsWhatNobodyHadLookedFor) {
    make(1);
    EXPECT_EQ(violated(), Names{"harm"});
    EXPECT_NE(said().find("had not looked for one of its name"), std::string::npos) << said();
}

TEST_F(CreationsTest, HarmIsARowThatWasNotLookedAt) {
    read();
    known_.erase("row/" + pk_);
    make(1);
    EXPECT_EQ(violated(), Names{"harm"});
}

TEST_F(CreationsTest, HarmIsWhatItsRowDidNotSay) {
    read();
    make(1, "executor-1", "another");
    EXPECT_EQ(violated(), Names{"harm"});
    EXPECT_NE(said().find("it says what its row did not"), std::string::npos) << said();
}

TEST_F(CreationsTest, HarmIsWhatAnotherRowClaims) {
    row("running");
    read();
    make(1);
    EXPECT_EQ(violated(), Names{"harm"});
    EXPECT_NE(said().find("another row claimed its name"), std::string::npos) << said();
}

// Whatever its executor looked at: what it saw may be a copy that nobody refreshes.
TEST_F(CreationsTest, HarmIsWhatNoRowHasWantedForLongerThanACheckTakes) {
    read();
    say("hibernated");
    scheduler_.run_until(Millis{5'000});
    for (auto& [about, look] : known_) look.at = scheduler_.steady_now();
    make(1);
    EXPECT_EQ(violated(), Names{}) << said();
    EXPECT_EQ(oracles_.races(), 1U);
    world_.delete_pod("w", 0);
    scheduler_.run_until(Millis{20'000});
    for (auto& [about, look] : known_) look.at = scheduler_.steady_now();
    make(2);
    EXPECT_EQ(violated(), Names{"harm"});
    EXPECT_NE(said().find("no row had wanted it for some time"), std::string::npos) << said();
}

TEST_F(CreationsTest, HarmIsWhatNoCommandNames) {
    read();
    oracles_.ordered(command(1), "executor-1");
    oracles_.write_sent(made_target("w"), "a word", known_);
    oracles_.arrives("a word");
    ports::CreateObject request;
    request.resource.name_space = "graph";
    request.name = "w";
    request.body = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"w","namespace":"graph",)"
                   R"("labels":{"app":"w"}},"spec":{}})";
    cluster_->create(++calls_, request);
    EXPECT_EQ(violated(), Names{"harm"});
}

TEST_F(CreationsTest, OnceIsOneCreationOfAnExecutorWhoeverUndidIt) {
    read();
    make(1);
    world_.delete_pod("w", 0);
    read();
    make(1, "executor-2");
    EXPECT_EQ(violated(), Names{}) << "the second cannot know of the first";
    EXPECT_EQ(oracles_.races(), 1U);
    world_.delete_pod("w", 0);
    read();
    make(1);
    EXPECT_EQ(violated(), Names{"once"});
}

TEST_F(CreationsTest, OnceIsOneCreationOfACommandThatIsKnownToBeDone) {
    read();
    make(1);
    tell_done(1);
    world_.delete_pod("w", 0);
    scheduler_.run_until(Millis{20'000});
    read();
    make(1, "executor-2");
    EXPECT_EQ(violated(), Names{"once"});
}

TEST_F(CreationsTest, NothingIsCreatedAgainstAHold) {
    read();
    oracles_.restraints().braked("graph-instances/w");
    scheduler_.run_until(Millis{10});
    make(1);
    EXPECT_EQ(violated(), Names{"brakes"});
}

TEST_F(CreationsTest, NothingIsOrderedWithinItsGrace) {
    scheduler_.run_until(kWantedFor - Millis{1});
    oracles_.given(command(1), scheduler_.steady_now());
    tell_done(1);
    EXPECT_EQ(violated(), Names{"evidence"});
    scheduler_.run_until(kWantedFor);
    oracles_.given(command(2), scheduler_.steady_now());
    EXPECT_EQ(oracles_.violations().size(), 1U) << said();
}

TEST_F(CreationsTest, NothingIsOrderedBesideWhatIsThere) {
    scheduler_.run_until(Millis{100'000});
    world_.create_pod("w", {{"app", "w"}}, "Running");
    scheduler_.run_until(Millis{200'000});
    oracles_.given(command(1), scheduler_.steady_now());
    EXPECT_EQ(violated(), Names{"evidence"});
}

TEST_F(CreationsTest, RepairedIsAWorldInWhichWhatIsWantedIsThere) {
    const auto judge = [this] {
        oracles_.repaired().judge_world([](const std::string&) { return std::string(); });
        return violated();
    };
    world_.create_pod("w", {{"app", "w"}}, "Pending");
    EXPECT_EQ(judge(), Names{}) << said();
    world_.delete_pod("w", 0);
    EXPECT_EQ(judge(), Names{"repaired"});
}

TEST_F(CreationsTest, TheThirdTimeForOneRowIsApproved) {
    std::vector<Command> all;
    std::map<CommandId, BrokerTime> known;
    for (std::uint64_t number = 1; number <= 3; ++number) {
        all.push_back(command(number));
        all.back().not_after = BrokerTime(Millis{60'000});
        scheduler_.run_until(scheduler_.since() + Millis{60'000});
        oracles_.given(all.back(), scheduler_.steady_now());
        tell_done(number);
        known.emplace(all.back().id, BrokerTime(Millis{60'000}));
    }
    oracles_.judge_recurring({all.begin(), all.begin() + 2}, known);
    EXPECT_EQ(violated(), Names{}) << said();
    oracles_.judge_recurring(all, known);
    EXPECT_EQ(violated(), Names{"recurring"});
}

}  // namespace
}  // namespace trueup::simulation
