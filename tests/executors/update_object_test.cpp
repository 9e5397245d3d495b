// Proves docs/adr/0050: fields of an object are set exactly, checked live, read back.
#include "tests/executors/execution_fixture.h"

#include <gtest/gtest.h>

namespace trueup::executors::testing {
namespace {

/// An owner is gone: suspend what was theirs.
Command suspend() {
    Command command = delete_orphan();
    command.draft.action = {};
    command.draft.action.kind = Action::Kind::kUpdateObject;
    command.draft.action.sets = {{"spec.suspended", "true", false, true},
                                 {"spec.reason", "owner of graph/wrapper-a is gone"}};
    command.draft.read_set = {
        {Predicate::Kind::kNone, "rows", "", "key", "wrapper-a"},
        {Predicate::Kind::kField, "pods", "uid-a", "phase", "Running"},
        {Predicate::Kind::kNoVeto, "pods", "uid-a", "", std::nullopt},
    };
    return command;
}

using Calls = std::vector<std::string>;

const std::string kPatch =
    "PATCH wrapper-a uid=uid-a rv=1 spec.suspended=true "
    "spec.reason=\"owner of graph/wrapper-a is gone\"";

TEST(UpdateObject, ChecksTheOtherSideThenGetsThenPatchesExactly) {
    ExecutionFixture fixture;
    const Outcome outcome = fixture.run(suspend());
    EXPECT_EQ(outcome.kind, OutcomeKind::kDone) << outcome.detail;
    EXPECT_EQ(fixture.database.calls, Calls{"SELECT key=wrapper-a"});
    EXPECT_EQ(fixture.cluster.calls, (Calls{"GET wrapper-a", kPatch}));
    EXPECT_EQ(fixture.cluster.pods.at("wrapper-a").spec.at("suspended"), "true");
    // A second delivery, or another executor's.
    const Outcome again = fixture.run(suspend());
    EXPECT_EQ(again.kind, OutcomeKind::kAlreadyDone) << again.detail;
    EXPECT_EQ(fixture.cluster.effects, 1U);
}

TEST(UpdateObject, AStatusIsWrittenByItsSubresource) {
    ExecutionFixture fixture;
    Command command = suspend();
    command.draft.action.kind = Action::Kind::kUpdateStatus;
    command.draft.action.sets = {{"status.replicas", "0", false, true}};
    EXPECT_EQ(fixture.run(command).kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.cluster.calls.back(),
              "PATCH wrapper-a/status uid=uid-a rv=1 status.replicas=0");
    // By the object itself the server passes it over without a word.
    ExecutionFixture other;
    command.draft.action.kind = Action::Kind::kUpdateObject;
    const Outcome outcome = other.run(command);
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_FALSE(outcome.retryable);
    EXPECT_TRUE(says(outcome, "a status is written with subresource: status")) << outcome.detail;
}

TEST(UpdateObject, WhatAServerDropsWasNotDone) {
    ExecutionFixture fixture;
    fixture.cluster.drops_spec = true;
    const Outcome outcome = fixture.run(suspend());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(says(outcome, "its schema may not have the field")) << outcome.detail;
}

TEST(UpdateObject, RefusesWhatIsNotMeantAnyMore) {
    ExecutionFixture recreated;
    recreated.cluster.pods["wrapper-a"].uid = "uid-b";
    EXPECT_EQ(recreated.run(suspend()).detail, "recreated: uid is now uid-b");
    ExecutionFixture gone;
    gone.cluster.pods.clear();
    EXPECT_EQ(gone.run(suspend()).detail, "it is gone");
    ExecutionFixture held;
    held.cluster.pods["wrapper-a"].label = "trueup.io/hold";
    EXPECT_EQ(held.run(suspend()).detail, "veto: trueup.io/hold is set on it");
    ExecutionFixture owned;
    owned.database.rows["7"].columns["pod_name"] = "wrapper-a";
    EXPECT_TRUE(says(owned.run(suspend()), "row 7 has it now"));
    ExecutionFixture changed;
    changed.cluster.pods["wrapper-a"].phase = "Failed";
    EXPECT_EQ(changed.run(suspend()).kind, OutcomeKind::kRefused);
    for (ExecutionFixture* each : {&recreated, &gone, &held, &owned, &changed}) {
        EXPECT_EQ(each->cluster.effects, 0U);
    }
}

// An object with fields of its own stood where a text was to be: a merge patch takes its place.
TEST(UpdateObject, WhatIsNoPlainValueIsNotWrittenOver) {
    ExecutionFixture fixture;
    fixture.cluster.pods["wrapper-a"].spec["reason"] = R"({"code":7})";
    const Outcome outcome = fixture.run(suspend());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_TRUE(says(outcome, "at spec.reason stands something else")) << outcome.detail;
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

TEST(UpdateObject, AChangeBetweenTheGetAndThePatchIsSeen) {
    ExecutionFixture fixture;
    fixture.cluster.before_patch = [&] {
        FakePod& pod = fixture.cluster.pods.at("wrapper-a");
        if (pod.version == 1) pod.label = "trueup.io/hold";
        ++pod.version;
    };
    const Outcome outcome = fixture.run(suspend());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_EQ(outcome.detail, "veto: trueup.io/hold is set on it");
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

TEST(UpdateObject, ThePodRecreatedBetweenTheGetAndThePatchIsLeftAlone) {
    ExecutionFixture fixture;
    fixture.cluster.before_patch = [&] { fixture.cluster.pods["wrapper-a"].uid = "uid-b"; };
    EXPECT_EQ(fixture.run(suspend()).detail, "recreated: uid is now uid-b");
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

TEST(UpdateObject, APatchWithoutAnAnswerIsReadBack) {
    for (const bool carried_out : {true, false}) {
        ExecutionFixture fixture;
        fixture.cluster.upset_patches = {{.carried_out = carried_out}};
        const Outcome outcome = fixture.run(suspend());
        EXPECT_EQ(outcome.kind, OutcomeKind::kDone) << outcome.detail;
        EXPECT_EQ(says(outcome, "read back"), carried_out) << outcome.detail;
        EXPECT_EQ(fixture.cluster.effects, 1U);
    }
}

TEST(UpdateObject, AServersRefusalIsSaid) {
    ExecutionFixture fixture;
    fixture.cluster.upset_patches = {{.status = 422}};
    const Outcome invalid = fixture.run(suspend());
    EXPECT_EQ(invalid.kind, OutcomeKind::kFailed);
    EXPECT_FALSE(invalid.retryable);
    fixture.cluster.upset_patches = {{.status = 403}};
    const Outcome forbidden = fixture.run(suspend());
    EXPECT_TRUE(says(forbidden, "grant the executor's account the verb patch")) << forbidden.detail;
    // The page of a proxy does not say that anything was done.
    fixture.cluster.upset_patches = {{.status = 200, .body = "<html>"}};
    EXPECT_EQ(fixture.run(suspend()).kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.cluster.effects, 1U);
}

TEST(UpdateObject, ATimeOfIssueIsWrittenOnce) {
    ExecutionFixture fixture;
    Command command = suspend();
    command.draft.action.sets = {{"spec.ended", "2026-01-01T00:00:00Z", true},
                                 {"spec.suspended", "true", false, true}};
    EXPECT_EQ(fixture.run(command).kind, OutcomeKind::kDone);
    command.draft.action.sets[0].value = "2026-01-01T00:01:00Z";
    EXPECT_EQ(fixture.run(command).kind, OutcomeKind::kAlreadyDone);
    EXPECT_EQ(fixture.cluster.pods.at("wrapper-a").spec.at("ended"), "\"2026-01-01T00:00:00Z\"");
}

TEST(UpdateObject, NullTakesAFieldOut) {
    ExecutionFixture fixture;
    fixture.cluster.pods["wrapper-a"].spec["reason"] = "\"old\"";
    Command command = suspend();
    command.draft.action.sets = {{"spec.reason", std::nullopt}};
    EXPECT_EQ(fixture.run(command).kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.cluster.pods.at("wrapper-a").spec.count("reason"), 0U);
    EXPECT_EQ(fixture.run(command).kind, OutcomeKind::kAlreadyDone);
}

// An object that had no `spec.tls` had an empty one once a name below it was taken out.
TEST(UpdateObject, WhatIsNotThereIsNotTakenOut) {
    ExecutionFixture fixture;
    Command command = suspend();
    command.draft.action.sets = {{"spec.tls.name", std::nullopt},
                                 {"spec.suspended", "true", false, true}};
    EXPECT_EQ(fixture.run(command).kind, OutcomeKind::kDone);
    EXPECT_EQ(fixture.cluster.calls.back(), "PATCH wrapper-a uid=uid-a rv=1 spec.suspended=true");
}

// A resource without the subresource answers as if there was no such object, and so for ever.
TEST(UpdateObject, AResourceWithoutTheSubresourceIsSaid) {
    ExecutionFixture fixture;
    Command command = suspend();
    command.draft.action.kind = Action::Kind::kUpdateStatus;
    command.draft.action.sets = {{"status.replicas", "0", false, true}};
    const Upset unknown{.status = 404, .body = FakeCluster::not_found("wrapper-a")};
    fixture.cluster.upset_patches = {unknown, unknown};
    const Outcome outcome = fixture.run(command);
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_FALSE(outcome.retryable);
    EXPECT_TRUE(says(outcome, "may have no subresource status")) << outcome.detail;
    EXPECT_EQ(fixture.cluster.count("PATCH"), 2U);
}

/// A policy's reader refuses all of these; a command may come from another build.
TEST(UpdateObject, WhatNoPatchMaySetIsNotEvenRead) {
    const std::vector<std::vector<Assignment>> unfit{
        {},
        {{"metadata.name", "x"}},
        {{"metadata.finalizers", std::nullopt}},
        {{"kind", "x"}},
        {{"status.conditions[type=Ready].status", "x"}},
        {{"spec.a", "x"}, {"spec.a.b", "y"}},
        {{"spec.replicas", "many", false, true}},
        {{"spec.replicas", "007", false, true}},
        {{"a path", "x"}},
        {{"spec.note", std::string(5'000, 'x')}},
        {{"spec.note", std::string("a\0b", 3)}},
    };
    for (const std::vector<Assignment>& sets : unfit) {
        ExecutionFixture fixture;
        Command command = suspend();
        command.draft.action.sets = sets;
        const Outcome outcome = fixture.run(command);
        EXPECT_EQ(outcome.kind, OutcomeKind::kFailed) << outcome.detail;
        EXPECT_TRUE(fixture.cluster.calls.empty());
    }
}

}  // namespace
}  // namespace trueup::executors::testing
