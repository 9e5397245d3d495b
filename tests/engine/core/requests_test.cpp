// Proves what operators ask of a shard (design §4.9, §4.15; G8, G25): each request is answered
// once, with a sentence, and what was answered is the same in every replay.
#include "engine/codec/request_codec.h"
#include "engine/model/intake.h"
#include "policies/shipped.h"
#include "stories/replay.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace trueup::testing {
namespace {

using stories::Replay;

Request request(RequestKind kind, std::string subject = {}) {
    Request made;
    made.kind = kind;
    if (!subject.empty()) made.scope.subject = "graph-instances/" + subject;
    return made;
}

Request approval(const JournalScript& s, std::string subject) {
    Request made = request(RequestKind::kApprove, std::move(subject));
    made.scope.finding_offset = s.records().back().offset;
    return made;
}

TEST(Requests, AnAnswerSaysWhoAskedAndWhatCameOfIt) {
    JournalScript s = approving_world();
    Request made = approval(s, "wrapper-7");
    made.issued_by = "olga";
    s.request(made);
    EXPECT_EQ(s.answered().by, "olga");
    EXPECT_EQ(s.answered().kind, RequestKind::kApprove);
    EXPECT_TRUE(s.answered().granted);
    EXPECT_EQ(s.answered().sentence, "1 finding approved");
}

TEST(Requests, AnApprovalIsSpentByItsCommand) {
    JournalScript s = approving_world();
    s.request(approval(s, "wrapper-7"));
    ASSERT_EQ(s.commands().size(), 1U);
    s.outcome(s.commands()[0], OutcomeKind::kFailed, true);
    s.quiet_until(200s);
    EXPECT_EQ(s.commands().size(), 1U) << "another try is another question";
    EXPECT_EQ(s.findings().back().reason, Reason::kApproval);
}

TEST(Requests, AnApprovalWithoutAnOffsetIsRefused) {
    JournalScript s = approving_world();
    s.request(request(RequestKind::kApprove, "wrapper-7"));
    EXPECT_FALSE(s.answered().granted);
    EXPECT_EQ(s.answered().sentence, "an approval must name the journal offset that you saw");
}

// One offset for all shards, each of which has a journal of its own, would have approved unseen
// what had changed in another one.
TEST(Requests, AnApprovalMaySayWhatWasSeenOfEachShard) {
    JournalScript s = approving_world();
    Request made = approval(s, "wrapper-7");
    made.seen = {kNoOffset, *std::exchange(made.scope.finding_offset, std::nullopt)};
    s.request(made);
    EXPECT_EQ(s.answered().sentence, "an approval must name the journal offset that you saw")
        << "of this one nothing was seen";
    std::swap(made.seen[0], made.seen[1]);
    s.request(made);
    EXPECT_EQ(s.answered().sentence, "1 finding approved");
}

// Symptom: an approval of one finding that was over by then, which named a reason as well, approved
// all that waited for that.
TEST(Requests, AnApprovalOfOneFindingIsNeverOneOfAll) {
    JournalScript s = approving_world();
    Request made = approval(s, {});
    made.scope.reason = "approval";
    made.scope.finding_id = FindingId({1, 2});
    s.request(made);
    EXPECT_FALSE(s.answered().granted);
    EXPECT_EQ(s.answered().sentence, "an approval of one finding must name its subject");
    s.quiet_until(200s);
    EXPECT_TRUE(s.commands().empty());
}

// Symptom: an approval that named an offset far ahead approved what nobody had seen yet, of one
// subject and of all.
TEST(Requests, AnApprovalOfWhatIsNotWrittenYetIsRefused) {
    JournalScript s = approving_world();
    for (const char* subject : {"wrapper-7", ""}) {
        Request made = approval(s, subject);
        if (*subject == '\0') made.scope.reason = "approval";
        made.scope.finding_offset = further(*made.scope.finding_offset, 1'000);
        s.request(made);
        EXPECT_FALSE(s.answered().granted) << subject;
        EXPECT_NE(s.answered().sentence.find("lies beyond the journal's end"), std::string::npos)
            << s.answered().sentence;
    }
    EXPECT_TRUE(s.commands().empty());
}

TEST(Requests, AnApprovalOfAnotherFindingIsRefused) {
    JournalScript s = approving_world();
    Request made = approval(s, "wrapper-7");
    made.scope.finding_id = FindingId({1, 2});
    s.request(made);
    EXPECT_FALSE(s.answered().granted);
    EXPECT_TRUE(s.commands().empty());
}

TEST(Requests, AForeignPolicyOrAnUnknownRuleIsRefused) {
    JournalScript s = approving_world();
    Request made = request(RequestKind::kPause);
    made.scope.policy = "processors";
    s.request(made);
    EXPECT_EQ(s.answered().sentence, "there is no policy 'processors'; write graph-instances");
    made.scope.policy.clear();
    made.scope.rule = "orphan";
    s.request(made);
    EXPECT_EQ(s.answered().sentence, "there is no rule 'orphan'; did you mean 'orphaned_pod'?");
    EXPECT_TRUE(s.meta().pauses.empty());
}

TEST(Requests, OneThatIsForgedIsKeptCountedAndNotAnswered) {
    JournalScript s = approving_world();
    Request made = request(RequestKind::kPause);
    made.id = RequestId({3, 3});
    made.issued_ms = to_millis(broker(s.now()));
    s.raw(Topic::kRequests, codec::encode_request(made));
    EXPECT_EQ(s.counted().unauthenticated, 1U);
    ASSERT_EQ(s.parked().size(), 1U);
    EXPECT_EQ(s.parked()[0].reason, "a request that is not signed with a known key");
    EXPECT_TRUE(s.meta().answered.empty());
}

TEST(Requests, OneFromTheFutureIsAsWrongAsAnOldOne) {
    JournalScript s = approving_world();
    Request made = request(RequestKind::kResume);
    made.issued_ms = to_millis(broker(s.now())) + 301'000;
    s.request(made);
    EXPECT_FALSE(s.answered().granted);
    EXPECT_NE(s.answered().sentence.find("set the clock"), std::string::npos);
}

// Symptom: a clock leapt an hour ahead and was set right, and for an hour every pause was refused
// as asked an hour before it arrived.
TEST(Requests, WhatOnlyRestrictsIsTakenWhateverItsAge) {
    for (const std::int64_t age : {3'600'000, -3'600'000}) {
        JournalScript s = approving_world();
        for (const RequestKind kind :
             {RequestKind::kPause, RequestKind::kHold, RequestKind::kDismiss}) {
            Request made = request(kind, "wrapper-7");
            made.issued_ms = to_millis(broker(s.now())) - age;
            s.request(made);
            EXPECT_TRUE(s.answered().granted) << name_of(kind) << ": " << s.answered().sentence;
        }
        EXPECT_EQ(s.meta().pauses.size(), 1U);
        EXPECT_TRUE(s.subject("wrapper-7")->held);
    }
}

TEST(Requests, WhatPermitsIsTakenInTimeOnly) {
    for (const RequestKind kind :
         {RequestKind::kApprove, RequestKind::kResume, RequestKind::kRelease,
          RequestKind::kTerminate, RequestKind::kRelist, RequestKind::kReconcile}) {
        JournalScript s = approving_world();
        Request made = request(kind, "wrapper-7");
        made.issued_ms = to_millis(broker(s.now())) - 301'000;
        s.request(made);
        EXPECT_FALSE(s.answered().granted) << name_of(kind);
        EXPECT_NE(s.answered().sentence.find("asked 301 s before"), std::string::npos);
    }
}

// What was recorded and is sent again stops at most what somebody has to let go again.
TEST(Requests, AnOldPauseThatIsSentAgainPausesAgainOnceItIsForgotten) {
    JournalScript s = approving_world();
    Request pause = request(RequestKind::kPause);
    pause.id = RequestId({9, 9});
    pause.issued_ms = to_millis(broker(s.now()));
    s.request(pause);
    s.request(request(RequestKind::kResume));
    s.request(pause);
    EXPECT_TRUE(s.meta().pauses.empty()) << "the same id";
    s.quiet_until(s.now() + kRemembered + 5s);
    s.request(pause);
    EXPECT_EQ(s.meta().pauses.size(), 1U);
}

// Symptom: a termination that was granted for a pod that never came was nobody's wish any more, and
// nobody was told.
TEST(Requests, ATerminationThatNothingCameOfIsToldSoADayLater) {
    Settings settings = graph_settings();
    policies::rule_settings(settings, "termination_requested").mode = Mode::kEnforce;
    policies::rule_settings(settings, "missing_pod").mode = Mode::kOff;
    JournalScript s(settings);
    s.all_known();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50, .status = "starting"});
    s.quiet_until(10s);
    Request end = request(RequestKind::kTerminate, "wrapper-7");
    end.role = "ops";
    s.request(end);
    ASSERT_TRUE(s.answered().granted) << s.answered().sentence;
    s.quiet_until(24h);
    ASSERT_TRUE(s.subject("wrapper-7")->request.has_value());
    s.news();
    s.quiet_until(24h + 20s);
    EXPECT_FALSE(s.subject("wrapper-7")->request.has_value());
    const std::string news = s.news();
    EXPECT_NE(news.find("resolved termination_requested wrapper-7 public.instances/7: expired"),
              std::string::npos)
        << news;
    EXPECT_TRUE(s.commands().empty());
}

// Symptom: the same, of an instance whose row nobody had heard of: it had come to no finding that
// could have been told of.
TEST(Requests, OneThatCameToNothingLapsesAndIsTold) {
    Settings settings = graph_settings();
    settings.max_clock_step = 48h;
    policies::rule_settings(settings, "termination_requested").mode = Mode::kEnforce;
    JournalScript s(settings);
    s.own("pods");
    s.pods_listed(10, {{.name = "wrapper-7", .uid = "a", .version = 5}});
    Request end = request(RequestKind::kTerminate, "wrapper-7");
    end.role = "ops";
    s.request(end);
    ASSERT_TRUE(s.answered().granted) << s.answered().sentence;
    s.news();
    s.at(24h - 1s).tick();
    EXPECT_EQ(s.news(), "");
    s.at(24h).tick();
    EXPECT_EQ(s.news(), "86400s resolved termination_requested wrapper-7 : expired\n");
    EXPECT_FALSE(s.subject("wrapper-7")->request.has_value());
}

// Symptom: 256 requests by anybody's token, and a pause of an operator stayed pending for ever.
TEST(Requests, AFloodOfOneCallerStopsNeitherABrakeNorAnotherCaller) {
    JournalScript s = approving_world();
    Request end = request(RequestKind::kTerminate, "wrapper-7");
    end.issued_by = "alice";
    end.role = "user";
    for (std::uint64_t i = 0; i < 300; ++i) {
        end.id = RequestId({7, i});
        s.request(end);
        EXPECT_EQ(s.answered().id, end.id) << "each is answered";
        EXPECT_FALSE(s.answered().granted);
    }
    EXPECT_EQ(s.answered().sentence,
              "'alice' has asked 256 times within ten minutes; wait a few minutes and ask again; "
              "pause, hold, disable and dismiss are always accepted");
    EXPECT_TRUE(s.parked().empty());
    Request word = request(RequestKind::kPause);
    word.issued_by = "olga";
    s.request(word);
    EXPECT_TRUE(s.answered().granted) << s.answered().sentence;
    EXPECT_EQ(s.meta().pauses.size(), 1U);
    word.kind = RequestKind::kResume;
    s.request(word);
    EXPECT_TRUE(s.answered().granted) << "another caller's: " << s.answered().sentence;
    word.issued_by = "alice";
    word.kind = RequestKind::kPause;
    s.request(word);
    EXPECT_TRUE(s.answered().granted) << "a brake, whoever asks: " << s.answered().sentence;
    s.quiet_until(s.now() + kRemembered + 5s);
    end.id = RequestId({7, 1'000});
    s.request(end);
    EXPECT_NE(s.answered().sentence.find("neither owns"), std::string::npos) << "ten minutes later";
}

TEST(Requests, WhatIsRememberedIsBoundedAndAFloodForgetsNobodyElsesWord) {
    JournalScript s = approving_world();
    Request pause = request(RequestKind::kPause);
    pause.id = RequestId({9, 9});
    pause.issued_by = "olga";
    pause.issued_ms = to_millis(broker(s.now()));
    s.request(pause);
    Request resume = request(RequestKind::kResume);
    resume.id = RequestId({9, 10});
    resume.issued_by = "olga";
    resume.issued_ms = pause.issued_ms;
    s.request(resume);
    s.together([&] {
        for (int i = 0; i < 2'000; ++i) {
            Request flood = request(i % 2 == 0 ? RequestKind::kHold : RequestKind::kReconcile, "w");
            flood.issued_by = "caller-" + std::to_string(i % 10);
            s.request(flood);
        }
    });
    EXPECT_EQ(s.meta().answered.size(), kMostRemembered);
    pause.id = RequestId({9, 11});
    s.request(pause);
    s.request(resume);
    EXPECT_EQ(s.meta().pauses.size(), 1U) << "the resume of before is known";
}

TEST(Requests, AHoldOfANameThatNeverCameIsForgottenWhenItIsReleased) {
    JournalScript s = quiet_world();
    const std::uint64_t subjects = s.meta().subjects;
    s.request(request(RequestKind::kHold, "wrapper-7"));
    s.quiet_until(200s);
    EXPECT_NE(s.subject("wrapper-7"), nullptr);
    s.request(request(RequestKind::kRelease, "wrapper-7"));
    EXPECT_TRUE(s.answered().granted) << s.answered().sentence;
    EXPECT_EQ(s.subject("wrapper-7"), nullptr);
    EXPECT_EQ(s.meta().subjects, subjects);
}

TEST(Requests, AHoldOfWhatCanBeNoSubjectIsRefused) {
    JournalScript s = quiet_world();
    for (const std::string& key :
         {std::string(), std::string("wrapper-7"), std::string("processors/wrapper-7"),
          std::string("graph-instances/"), "graph-instances/" + std::string(250, 'x')}) {
        Request made = request(RequestKind::kHold);
        made.scope.subject = key;
        s.request(made);
        EXPECT_EQ(s.answered().sentence,
                  "there is no subject '" + key +
                      "'; write policy/name, as in graph-instances/wrapper-7");
    }
    EXPECT_EQ(s.meta().holds, 0U);
}

TEST(Requests, HoldsAreBounded) {
    JournalScript s = quiet_world();
    s.together([&] {
        for (std::uint64_t i = 0; i < kMostHolds; ++i) {
            s.request(request(RequestKind::kHold, std::to_string(i)));
        }
    });
    EXPECT_EQ(s.meta().holds, kMostHolds);
    s.request(request(RequestKind::kHold, "wrapper-7"));
    EXPECT_FALSE(s.answered().granted);
    EXPECT_EQ(s.answered().sentence,
              "10000 subjects are on hold already; release some, or pause the rule instead");
    s.request(request(RequestKind::kHold, "17"));
    EXPECT_EQ(s.answered().sentence, "it is on hold already");
    s.request(request(RequestKind::kRelease, "17"));
    s.request(request(RequestKind::kHold, "wrapper-7"));
    EXPECT_TRUE(s.answered().granted);
}

// Symptom: executors followed what was said before a policy was in force, and the engine refused
// it.
TEST(Requests, APauseAndAHoldNeedNoPolicyInForce) {
    core::NoRows rows;
    core::State state(rows);
    codec::JournalRecordBuilder record;
    record.set_genesis({JournalId({1, 1}), 1, PartitionNumber(0)});
    auto say = [&, offset = kFirstOffset](Request made) mutable {
        made.id = RequestId({3, static_cast<std::uint64_t>(offset.value()) + 1});
        made.issued_ms = to_millis(broker(0s));
        record.add_item(Topic::kRequests, previous(offset), offset, broker(0s),
                        codec::encode_request(made), true);
        offset = next(offset);
    };
    say(request(RequestKind::kPause));
    say(request(RequestKind::kHold, "wrapper-7"));
    say(request(RequestKind::kReconcile));
    JournalView view;
    const std::string bytes = record.take();
    ASSERT_TRUE(codec::decode_journal(bytes, kFirstOffset, broker(0s), view).ok());
    core::FoldReport report;
    core::fold(state, view, report);
    EXPECT_EQ(state.meta.pauses.size(), 1U);
    EXPECT_EQ(state.meta.holds, 1U);
    EXPECT_EQ(state.meta.answered.back().sentence, "no policy is in force yet");
}

TEST(Requests, AHeldSubjectIsRememberedWhenEverythingElseOfItIsGone) {
    JournalScript s = approving_world();
    s.request(request(RequestKind::kHold, "wrapper-7"));
    s.pod_gone("wrapper-7", "a", 20);
    s.pods_listed(30, {{.name = "wrapper-8", .uid = "b", .version = 11}});
    s.pods_listed(31, {{.name = "wrapper-8", .uid = "b", .version = 11}});
    s.pods_listed(32, {{.name = "wrapper-8", .uid = "b", .version = 11}});
    ASSERT_NE(s.subject("wrapper-7"), nullptr);
    EXPECT_TRUE(s.subject("wrapper-7")->facets.empty());
    s.request(request(RequestKind::kRelease, "wrapper-7"));
    EXPECT_EQ(s.subject("wrapper-7"), nullptr);
}

TEST(Requests, AReleaseOfASourceThatIsNotInQuarantineIsRefused) {
    JournalScript s = approving_world();
    Request made = request(RequestKind::kRelease);
    made.scope.source = "pods";
    s.request(made);
    EXPECT_EQ(s.answered().sentence, "pods is not in quarantine");
    made.scope.source = "nodes";
    s.request(made);
    EXPECT_EQ(s.answered().sentence, "there is no source 'nodes'; did you mean 'pods'?");
}

TEST(Requests, AReleaseHoldsForOneEpochOnly) {
    JournalScript s = quiet_world();
    for (int i = 0; i < 20; ++i) {
        s.pod({.name = "wrapper-" + std::to_string(i), .uid = "u" + std::to_string(i)});
    }
    s.pods_listed(20, {});
    ASSERT_NE(s.source("pods").quarantined_at, 0U);
    Request made = request(RequestKind::kRelease);
    made.scope.source = "pods";
    s.request(made);
    s.pods_listed(30, {{.name = "wrapper-1", .uid = "u1"}});
    EXPECT_TRUE(s.source("pods").known);
    EXPECT_EQ(s.source("pods").population, 1U);
    s.pods_listed(40, {});
    EXPECT_FALSE(s.source("pods").known) << "the next drop is another question";
}

TEST(Requests, AResnapshotAsksTheSource) {
    JournalScript s = approving_world();
    Request made = request(RequestKind::kRelist);
    made.scope.source = "rows";
    s.request(made);
    EXPECT_EQ(s.last().wants_epoch, std::vector<SourceId>{1});
    made.scope.source.clear();
    s.request(made);
    EXPECT_EQ(s.last().wants_epoch, (std::vector<SourceId>{0, 1}));
}

// A relist of a source that does not exist was granted when another one was asked for just
// before.
TEST(Requests, AResnapshotOfAnUnknownSourceIsRefusedWhoeverElseIsAsked) {
    JournalScript s = approving_world();
    s.together([&] {
        Request made = request(RequestKind::kRelist);
        made.scope.source = "rows";
        s.request(made);
        made.scope.source = "rose";
        s.request(made);
    });
    EXPECT_FALSE(s.answered().granted);
    EXPECT_EQ(s.answered().sentence, "there is no source 'rose'; did you mean 'rows'?");
}

// An approval of what was dismissed said that it was approved, and nothing happened.
TEST(Requests, AnApprovalOfWhatWasDismissedIsRefused) {
    JournalScript s = approving_world();
    s.request(request(RequestKind::kDismiss, "wrapper-7"));
    s.request(approval(s, "wrapper-7"));
    EXPECT_FALSE(s.answered().granted);
    EXPECT_EQ(s.answered().sentence,
              "nothing about 'graph-instances/wrapper-7' waits for an approval");
}

TEST(Requests, AReplayGivesTheSameAnswersWithoutAnyKey) {
    JournalScript s = approving_world();
    s.request(approval(s, "wrapper-7"));
    s.request(request(RequestKind::kHold, "wrapper-8"));
    s.request(request(RequestKind::kResume));
    Replay replay;
    replay.fold(s.records(), 0, s.records().size());
    EXPECT_EQ(replay.meta().answered, s.meta().answered);
    EXPECT_EQ(replay.meta().answered.size(), 3U);
}

TEST(Pass, OneIsCompleteWhenEachSourceWasHeardPastItsStart_G14) {
    JournalScript s = quiet_world();
    const core::Pass before = s.meta().pass;
    s.request(request(RequestKind::kReconcile));
    EXPECT_TRUE(s.meta().pass.running);
    s.at(105s).progress("pods");
    EXPECT_TRUE(s.meta().pass.running) << "the rows were not heard";
    s.at(107s).progress("rows");
    EXPECT_FALSE(s.meta().pass.running);
    EXPECT_EQ(s.meta().pass.completed, before.completed + 1);
    EXPECT_EQ(s.meta().pass.millis, before.millis + 7'000);
}

TEST(Pass, OneRunsAtTheStartAndThenEveryInterval_G14) {
    JournalScript s = quiet_world();
    EXPECT_EQ(s.meta().pass.completed, 1U);
    s.quiet_until(1'000s);
    EXPECT_EQ(s.meta().pass.completed, 4U) << "at 300, 600 and 900 s";
}

TEST(Pass, ASilentSourceKeepsItOpen) {
    JournalScript s = quiet_world();
    s.request(request(RequestKind::kReconcile));
    s.silent_until(400s);
    EXPECT_TRUE(s.meta().pass.running);
    EXPECT_EQ(s.meta().pass.completed, 1U);
}

TEST(Pass, NoneRunsByItselfWhereTheIntervalIsZero_G14) {
    Settings settings = graph_settings();
    settings.reconcile_every = 0s;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(1'000s);
    EXPECT_EQ(s.meta().pass.completed, 0U);
}

/// Symptom: a section `services:` was taken out of the configuration, and no pass was ever complete
/// again: it waited for a source that nobody reads any more.
TEST(Pass, ASourceThatLeftTheConfigurationIsNotWaitedFor_G14) {
    Settings without = graph_settings();
    without.reconcile_every = 60s;
    Settings with = without;
    with.sources.push_back({"services",
                            Topic::kChangesResources,
                            policies::role_number(*with.text, "services"),
                            {},
                            0});
    JournalScript s(with);
    s.all_known();
    s.quiet_until(300s);
    const std::uint64_t before = s.meta().pass.completed;
    EXPECT_GE(before, 4U);
    s.put_in_force(without);
    for (Millis at = 305s; at <= 600s; at += 5s) {
        s.at(at).together([&] {
            s.progress("pods");
            s.progress("rows");
        });
    }
    EXPECT_GE(s.meta().pass.completed, before + 4);
}

// Who asked to end an instance had it counted in the middle of a record. What an epoch took from it
// behind that, in the same record, was not seen when it was judged.
TEST(Requests, WhatAnEpochTakesBehindARequestIsJudgedWithIt) {
    Settings settings = graph_settings();
    policies::rule_settings(settings, "termination_requested").mode = Mode::kEnforce;
    settings.sweep_step = 1;  // another one comes first
    JournalScript s(settings);
    s.all_known();
    s.together([&] {
        s.pod({.name = "wrapper-1", .uid = "z", .version = 10});
        s.row({.pk = "1", .name = "wrapper-1", .version = 50});
        s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
        s.row({.pk = "7", .name = "wrapper-7", .version = 51, .owner = "alice"});
    });
    s.quiet_until(100s);
    ASSERT_EQ(s.news(), "");
    s.together([&] {
        s.row({.pk = "7", .name = "wrapper-7", .version = 52, .owner = "bob"});
        Request request;
        request.kind = RequestKind::kTerminate;
        request.scope.subject = "graph-instances/wrapper-7";
        request.issued_by = "carol";
        request.role = "ops";
        s.request(request);
        s.pods_listed(20, {{.name = "wrapper-1", .uid = "z", .version = 10}});
        s.row({.pk = "7", .name = "wrapper-7", .version = 40, .owner = "bob"});  // an older word
    });
    ASSERT_TRUE(s.answered().granted);
    ASSERT_FALSE(s.facet("wrapper-7", "a")->present());
    EXPECT_EQ(s.news(),
              "100s suspected missing_pod wrapper-7 public.instances/7: awaiting_progress\n"
              "100s confirmed termination_requested wrapper-7 public.instances/7: "
              "no_object_yet\n");
}

}  // namespace
}  // namespace trueup::testing
