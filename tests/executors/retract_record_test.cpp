// Proves docs/adr/0058: what is retracted is what a command created, and nothing beside it goes.
#include "engine/model/verb.h"
#include "tests/executors/execution_fixture.h"

#include <gtest/gtest.h>

namespace trueup::executors::testing {
namespace {

constexpr const char* kMark = "trueup.io/command";

Command retract() {
    Command command = delete_orphan();
    command.draft.action = {};
    command.draft.action.kind = Action::Kind::kRetractRecord;
    return command;
}

struct RetractRecord : ::testing::Test {
    RetractRecord() {
        record().kind = "Note";
        record().annotation = kMark;
        record().says = "00000000000000000000000000000009";
        record().made_as = "graph/wrapper-a";
    }
    FakePod& record() { return fixture.cluster.pods["wrapper-a"]; }
    ExecutionFixture fixture;
};

TEST_F(RetractRecord, TakesBackWhatACommandCreatedAndLeavesWhatItOwns) {
    const Outcome outcome = fixture.run(retract());
    EXPECT_EQ(outcome.kind, OutcomeKind::kDone) << outcome.detail;
    EXPECT_EQ(fixture.database.calls, std::vector<std::string>{"SELECT key=wrapper-a"});
    EXPECT_EQ(fixture.cluster.calls,
              (std::vector<std::string>{"GET wrapper-a",
                                        "DELETE wrapper-a uid=uid-a rv=1 grace=its own orphan"}));
    const Outcome again = fixture.run(retract());
    EXPECT_EQ(again.kind, OutcomeKind::kAlreadyDone) << again.detail;
    EXPECT_EQ(fixture.cluster.effects, 1U);
}

TEST_F(RetractRecord, WhatNoCommandCreatedIsLeftAlone) {
    record().annotation = "example.org/note";
    const Outcome outcome = fixture.run(retract());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_EQ(outcome.detail,
              "it was not created by a command (no annotations trueup.io/command and "
              "trueup.io/created-as of its own), and only such are retracted");
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

// Controllers keep annotations of what they copy, and people do.
TEST_F(RetractRecord, ACopyOfWhatACommandCreatedIsAnotherOnes) {
    for (const char* as : {"", "graph/wrapper-b", "wrapper-a", "other/wrapper-a"}) {
        record().made_as = as;
        const Outcome outcome = fixture.run(retract());
        EXPECT_EQ(outcome.kind, OutcomeKind::kRefused) << as;
    }
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

TEST_F(RetractRecord, NoFieldOfAPolicyStandsForWhatSaysIt) {
    record().annotation.clear();
    record().made_as.clear();
    fixture.context.sources.pods.at("pods").paths = {
        *policy::FieldPath::parse("annotation.trueup.io/command", "metadata.name"),
        *policy::FieldPath::parse("annotation.trueup.io/created-as", "metadata.name")};
    EXPECT_EQ(fixture.run(retract()).kind, OutcomeKind::kRefused);
}

TEST_F(RetractRecord, WhatHasFinalizersIsMoreThanARecord) {
    record().finalizer = true;
    const Outcome outcome = fixture.run(retract());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_TRUE(says(outcome, "it has finalizers")) << outcome.detail;
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

TEST_F(RetractRecord, WhatBecomesMoreBetweenTheLookAndTheWriteIsLeftAlone) {
    fixture.cluster.before_delete = [this] {
        fixture.cluster.before_delete = nullptr;
        record().finalizer = true;
        ++record().version;
    };
    EXPECT_EQ(fixture.run(retract()).kind, OutcomeKind::kRefused);
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

TEST_F(RetractRecord, AHoldIsAVeto_S24) {
    fixture.context.sources.pods.at("pods").veto_label = kMark;
    record().says = "true";
    const Outcome outcome = fixture.run(retract());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_TRUE(says(outcome, "veto: ")) << outcome.detail;
}

TEST(DeleteObject, WhatItOwnsGoesOrStaysAsThePolicySays) {
    for (const std::string said : {"", "foreground", "orphan"}) {
        ExecutionFixture fixture;
        Command command = delete_orphan();
        command.draft.action = {};
        command.draft.action.kind = Action::Kind::kDeleteObject;
        command.draft.action.propagation = said;
        EXPECT_EQ(fixture.run(command).kind, OutcomeKind::kDone);
        EXPECT_EQ(fixture.cluster.calls.back(), "DELETE wrapper-a uid=uid-a rv=1 grace=its own" +
                                                    (said.empty() ? std::string() : ' ' + said));
    }
}

// A line in one table and not in the other would be a rule that acts, and commands that nobody
// carries out.
TEST(Verbs, WhatTheLanguageOffersToExecutorsTheyCarryOut) {
    for (const ActionLine& line : kActions) {
        bool offered = false;
        for (const policy::Use& use : policy::kUses) {
            offered = offered || (use.action == line.kind && !use.executors.empty());
        }
        EXPECT_EQ(offered, carried_out(line.kind)) << line.name;
    }
}

}  // namespace
}  // namespace trueup::executors::testing
