// Proves docs/adr/0056: an object is created once, whoever else has the command, and never beside
// or over another one.
#include "tests/executors/execution_fixture.h"

#include <gtest/gtest.h>

namespace trueup::executors::testing {
namespace {

/// Row 7 wants the worker wrapper-a, and there is none.
Command create_worker(std::uint64_t id = 1) {
    Command command = delete_orphan(id);
    command.rule = "missing_worker";
    command.draft.target = {"pods", "wrapper-a", "wrapper-a", ""};
    command.draft.action = {};
    command.draft.action.kind = Action::Kind::kCreateObject;
    command.draft.action.sets = {
        {"metadata", R"({"labels":{"role":"worker"},"annotations":{"a":"b"}})", false, true},
        {"spec", R"({"containers":[{"name":"main","image":"w:1"}]})", false, true}};
    command.draft.read_set = {
        {Predicate::Kind::kNone, "pods", "", "name", "wrapper-a"},
        {Predicate::Kind::kField, "rows", "public.instances/7", "status", "running"},
        {Predicate::Kind::kNoVeto, "rows", "public.instances/7", "", std::nullopt},
    };
    return command;
}

class CreateObject : public ::testing::Test {
  protected:
    CreateObject() {
        fixture.row_without_pod();
        source().selector = *ports::Selector::parse("role=worker");
    }
    PodSource& source() { return fixture.context.sources.pods.at("pods"); }

    ExecutionFixture fixture;
};

using Calls = std::vector<std::string>;

TEST_F(CreateObject, LooksForTheNameThenPostsTheWholeObject) {
    const Outcome outcome = fixture.run(create_worker());
    EXPECT_EQ(outcome.kind, OutcomeKind::kDone) << outcome.detail;
    EXPECT_EQ(fixture.database.calls, Calls{"SELECT pk=7"});
    EXPECT_EQ(fixture.cluster.calls, (Calls{"GET wrapper-a", "POST wrapper-a"}));
    EXPECT_EQ(fixture.cluster.last_body,
              R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"wrapper-a",)"
              R"("namespace":"graph","annotations":{"trueup.io/command":)"
              R"("00000000000000000000000000000001","trueup.io/created-as":"graph/wrapper-a",)"
              R"("a":"b"},"labels":{"role":"worker"}},)"
              R"("spec":{"containers":[{"name":"main","image":"w:1"}]}})");
}

TEST_F(CreateObject, OfTwoDeliveriesOneCreates) {
    EXPECT_EQ(fixture.run(create_worker()).kind, OutcomeKind::kDone);
    const Outcome again = fixture.run(create_worker());
    EXPECT_EQ(again.kind, OutcomeKind::kAlreadyDone) << again.detail;
    EXPECT_EQ(fixture.cluster.effects, 1U);
    EXPECT_EQ(fixture.cluster.count("POST"), 1U);
}

TEST_F(CreateObject, TwoThatLookAtOnceCreateOne) {
    // The other executor is faster by a moment: this one gets a 409, and looks again.
    fixture.cluster.before_create = [this] {
        fixture.cluster.before_create = nullptr;
        fixture.cluster.pods["wrapper-a"] = {.annotation = "trueup.io/command",
                                             .says = "00000000000000000000000000000001"};
    };
    const Outcome outcome = fixture.run(create_worker());
    EXPECT_EQ(outcome.kind, OutcomeKind::kAlreadyDone) << outcome.detail;
    EXPECT_EQ(fixture.cluster.calls, (Calls{"GET wrapper-a", "POST wrapper-a", "GET wrapper-a"}));
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

TEST_F(CreateObject, WhatSomebodyElseMadeIsLeftAlone) {
    fixture.cluster.pods["wrapper-a"] = {};
    EXPECT_EQ(fixture.run(create_worker()).detail, "there is one of that name now: uid uid-a");
    // One that another command made is another one, too.
    fixture.cluster.pods.clear();
    EXPECT_EQ(fixture.run(create_worker(9)).kind, OutcomeKind::kDone);
    const Outcome second = fixture.run(create_worker());
    EXPECT_EQ(second.kind, OutcomeKind::kRefused);
    EXPECT_EQ(fixture.cluster.effects, 1U);
    // It came between the look and the POST.
    fixture.cluster.pods.clear();
    fixture.cluster.before_create = [this] { fixture.cluster.pods["wrapper-a"] = {}; };
    EXPECT_EQ(fixture.run(create_worker()).detail, "there is one of that name now: uid uid-a");
    EXPECT_EQ(fixture.cluster.effects, 1U);
}

TEST_F(CreateObject, RefusesWhatNobodyWantsAnyMore) {
    fixture.database.rows["7"].columns["status"] = "failed";
    const Outcome outcome = fixture.run(create_worker());
    EXPECT_EQ(outcome.kind, OutcomeKind::kRefused);
    EXPECT_TRUE(fixture.cluster.calls.empty());
}

TEST_F(CreateObject, ALookThatFailedIsNoAbsence) {
    fixture.cluster.upset_gets = {{.status = 404, .body = "<html>not found</html>"}};
    const Outcome outcome = fixture.run(create_worker());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(outcome.retryable);
    EXPECT_EQ(fixture.cluster.count("POST"), 0U);
}

TEST_F(CreateObject, APostWithoutAnAnswerIsReadBack) {
    fixture.cluster.upset_creates = {{.carried_out = true}};
    const Outcome outcome = fixture.run(create_worker());
    EXPECT_EQ(outcome.kind, OutcomeKind::kDone) << outcome.detail;
    EXPECT_TRUE(says(outcome, "read back")) << outcome.detail;
    EXPECT_EQ(fixture.cluster.effects, 1U);
}

// A second object was made by one command, where somebody had deleted the first one before it was
// read back.
TEST_F(CreateObject, WhatIsNotThereAfterAPostWithoutAnAnswerIsNotPostedAgain) {
    // The page of a proxy does not say that anything was done, either.
    for (const Upset& upset : {Upset{.carried_out = false}, Upset{.status = 200, .body = "<html>"},
                               Upset{.status = 504}}) {
        fixture.cluster.upset_creates = {upset};
        const std::size_t before = fixture.cluster.count("POST");
        const Outcome lost = fixture.run(create_worker());
        EXPECT_EQ(lost.kind, OutcomeKind::kFailed);
        EXPECT_TRUE(lost.retryable);
        EXPECT_TRUE(says(lost, "there is none of that name")) << lost.detail;
        EXPECT_EQ(fixture.cluster.count("POST"), before + 1);
    }
}

TEST_F(CreateObject, AServersRefusalIsSaid) {
    for (const int status : {400, 422}) {
        fixture.cluster.upset_creates = {
            {.status = status,
             .body = R"({"kind":"Status","message":"spec.containers[0].image: Required value"})"}};
        const Outcome invalid = fixture.run(create_worker());
        EXPECT_EQ(invalid.kind, OutcomeKind::kFailed);
        EXPECT_FALSE(invalid.retryable);
        EXPECT_TRUE(says(invalid, "spec.containers[0].image: Required value")) << invalid.detail;
    }
    fixture.cluster.upset_creates = {
        {.status = 403,
         .body = R"({"kind":"Status","message":"User \"x\" cannot create resource \"pods\""})"}};
    const Outcome forbidden = fixture.run(create_worker());
    EXPECT_TRUE(says(forbidden, "grant the executor's account the verb create"))
        << forbidden.detail;
    EXPECT_EQ(fixture.cluster.effects, 0U);
}

TEST_F(CreateObject, AQuotaIsNoMissingRight) {
    // It was said to grant a verb that the account had, and somebody did.
    fixture.cluster.upset_creates = {
        {.status = 403,
         .body =
             R"({"kind":"Status","message":"pods \"w\" is forbidden: exceeded quota: small"})"}};
    const Outcome outcome = fixture.run(create_worker());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_FALSE(outcome.retryable);
    EXPECT_TRUE(says(outcome, "exceeded quota: small")) << outcome.detail;
    EXPECT_FALSE(says(outcome, "grant")) << outcome.detail;
}

TEST_F(CreateObject, WhatItsSourceWouldNotShowIsNotCreated) {
    source().selector = *ports::Selector::parse("role=worker,zone in (a, b)");
    const Outcome outcome = fixture.run(create_worker());
    EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
    EXPECT_TRUE(says(outcome, "its labels are not those by which source pods selects"))
        << outcome.detail;
    EXPECT_TRUE(fixture.cluster.calls.empty());
}

TEST_F(CreateObject, AnotherResourceSaysItsKind) {
    source().resource = {"/apis/lab.example/v1", "", "boxes", true};
    Command command = create_worker();
    command.draft.action.sets.insert(command.draft.action.sets.begin(),
                                     {"kind", R"("Box")", false, true});
    fixture.cluster.upset_gets = {
        {.status = 404,
         .body = R"({"kind":"Status","code":404,"reason":"NotFound","details":{"name":)"
                 R"("wrapper-a","kind":"boxes"},"message":"boxes \"wrapper-a\" not found"})"}};
    fixture.run(command);
    EXPECT_TRUE(fixture.cluster.last_body.starts_with(
        R"({"apiVersion":"lab.example/v1","metadata":{"name":"wrapper-a","annotations":{)"))
        << fixture.cluster.last_body;
    EXPECT_NE(fixture.cluster.last_body.find(R"(,"kind":"Box",)"), std::string::npos);
}

/// No build of ours orders these; a command may come from another one.
TEST_F(CreateObject, WhatIsNoObjectIsNotEvenLookedFor) {
    const std::vector<std::vector<Assignment>> unfit{
        {},
        {{"metadata", "[]", false, true}},
        {{"spec", "{", false, true}},
        {{"spec", std::nullopt}},
        {{"apiVersion", R"("v2")", false, true}},
        {{"metadata", R"({"labels":{"role":"worker"}})", false, true},
         {"data", '"' + std::string(300'000, 'x') + '"', false, true}},
    };
    for (const std::vector<Assignment>& sets : unfit) {
        Command command = create_worker();
        command.draft.action.sets = sets;
        const Outcome outcome = fixture.run(command);
        EXPECT_EQ(outcome.kind, OutcomeKind::kFailed) << outcome.detail;
    }
    Command command = create_worker();
    command.draft.read_set.erase(command.draft.read_set.begin());
    EXPECT_TRUE(says(fixture.run(command), "does not say of which name there must be none"));
    EXPECT_TRUE(fixture.cluster.calls.empty());
}

}  // namespace
}  // namespace trueup::executors::testing
