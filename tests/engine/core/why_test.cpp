// Proves engine/core/why.h stage by stage: where a rule stopped, and the fact that it names. That
// those facts decide is proven over all stories (tests/scenarios/why_test.cpp).
#include "engine/core/why.h"

#include "engine/core/look.h"
#include "engine/model/object_builder.h"
#include "policies/shipped.h"
#include "stories/player.h"
#include "stories/replay.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <sstream>

namespace trueup::testing {
namespace {

/// As policies/graph-instances/world.scn.
constexpr const char* kWorld =
    "rules off\nrule orphaned_pod enforce\nrule missing_pod enforce grace=0s\n"
    "rule status_drift enforce\ntable rows public.instances\nusual rows status=running\n"
    "usual pods phase=Running namespace=graphs\n";

/// What is told of one rule at the end of a story, whatever else came of it. The key begins with
/// the policy's name.
RuleTrace why(const std::string& story, const std::string& key, const std::string& rule) {
    const std::string policy = key.substr(0, key.find('/'));
    std::istringstream text((policy == "graph-instances" ? kWorld : "") + story + "=> nothing\n");
    const auto read = stories::Story::read(text, "story");
    EXPECT_TRUE(read.ok()) << read.error().what;
    stories::Replay replay;
    const stories::Telling told = stories::play(*read, policies::shipped(policy));
    EXPECT_EQ(told.unusable, "");
    for (const Recorded& record : told.records) replay.fold(record);
    const auto look = core::look_at(replay.state(), key);
    if (!look) return {};
    for (const RuleTrace& each : look->why) {
        if (each.rule == rule) return each;
    }
    return {};
}

std::string told(const DecidingFact& fact) {
    const std::string value =
        fact.read == DecidingFact::Read::kText ? fact.value : std::string(name_of(fact.read));
    std::string text(name_of(fact.kind));
    for (const std::string& part : {fact.source + "/" + fact.object, fact.name}) {
        if (part.size() > 1) text += " " + part;
    }
    return text + " = " + value + " | " + fact.asked;
}

/// `waits grace at grace: time grace = 20s | 60s`
std::string in_short(const RuleTrace& trace) {
    std::string text(trace.verdict());
    if (trace.reason != Reason::kNone) text += " " + std::string(name_of(trace.reason));
    const StageAnswer* stop = trace.stop();
    if (stop == nullptr) return text + " at act";
    text += " at " + std::string(name_of(stop->stage));
    if (!stop->asked.empty()) text += " " + stop->asked;
    for (const DecidingFact& fact : stop->facts) {
        if (fact.answer != DecidingFact::Answer::kYes) text += ": " + told(fact);
    }
    return text;
}

struct Case {
    const char* name;
    const char* story;
    const char* key;
    const char* rule;
    const char* told;
};

const std::string kQuiet = "0s known all\n100s quiet\n";

class WhyStage : public ::testing::TestWithParam<Case> {};

TEST_P(WhyStage, IsTheOneThatItStoppedAtAndSaysBecauseOfWhat) {
    const Case& one = GetParam();
    EXPECT_EQ(in_short(why(one.story, one.key, one.rule)), one.told);
}

constexpr const char* kWrapper = "graph-instances/wrapper-7";

const Case kCases[] = {
    {"off", "0s known all\n100s pod wrapper-7 uid=a\n", kWrapper, "ttl_expired",
     "healthy at asked: kept mode = off | observe, approve or enforce"},
    {"request",
     "0s rule termination_requested enforce\n0s known all\n100s row wrapper-7 pk=7 "
     "owner_username=alice\n",
     kWrapper, "termination_requested",
     "healthy at asked: kept request = nobody asked for it | a request"},
    {"none_false", "0s known all\n100s pod wrapper-7 uid=a\n100s row wrapper-7 pk=7\n110s quiet\n",
     kWrapper, "orphaned_pod",
     "healthy at pattern rows: none: object rows/public.instances/7 =  | none"},
    {"one_false", "0s known all\n100s row wrapper-7 pk=7 status=stopping\n110s quiet\n", kWrapper,
     "missing_pod",
     "healthy at pattern rows: one {status: [running, starting], pod_name: set}: field "
     "rows/public.instances/7 status = stopping | [running, starting]"},
    {"nobody", "0s known all\n100s row wrapper-7 pk=7\n110s quiet\n", kWrapper, "orphaned_pod",
     "healthy at pattern pods: one: no_object pods/ =  | an object of pods"},
    {"pod_came", "0s known all\n100s row wrapper-7 pk=7\n100s pod wrapper-7 uid=a\n110s quiet\n",
     kWrapper, "missing_pod", "healthy at pattern pods: none: object pods/a =  | none"},
    {"not_synced", "0s known pods\n100s pod wrapper-7 uid=a\n110s tick\n", kWrapper, "orphaned_pod",
     "abstains not_synced at known: source rows/ known = unknown | a complete list of what it has"},
    {"two_claims", "0s known all\n100s row wrapper-7 pk=7\n100s row wrapper-7 pk=8\n110s quiet\n",
     kWrapper, "missing_pod",
     "abstains duplicate_claim at known: claims = 2 | 1: object rows/public.instances/7 =  | the "
     "only one: object rows/public.instances/8 =  | the only one"},
    {"not_sent", "0s known all\n100s row wrapper-7 pk=7 status=unsent\n110s quiet\n", kWrapper,
     "missing_pod",
     "abstains incomplete at known: field rows/public.instances/7 status = not_sent | [running, "
     "starting]"},
    {"toast", "0s known all\n100s row wrapper-7 pk=7 pod_name=unsent\n110s quiet\n", kWrapper,
     "missing_pod",
     "abstains incomplete at known: field rows/public.instances/7 pod_name = not_sent | set"},
    {"report",
     "0s rule duplicate_claim enforce grace=0s\n0s known all\n100s row wrapper-7 pk=7\n"
     "100s row wrapper-7 pk=8\n110s quiet\n",
     kWrapper, "duplicate_claim",
     "waits report_only at steps: kept step = report | a step that does something"},
    {"veto", "0s known all\n100s pod wrapper-7 uid=a hold\n170s quiet\n", kWrapper, "orphaned_pod",
     "abstains veto at veto: field pods/a hold = true | no hold on it"},
    {"grace", "0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n120s quiet\n", kWrapper,
     "orphaned_pod", "waits grace at grace: time grace = 20s | 60s"},
    {"silent", "0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n110s quiet\n200s silent\n",
     kWrapper, "orphaned_pod",
     "waits stale at heard: source pods/ heard = silent | heard within 45s"},
    {"count",
     "0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n100s row wrapper-8 pk=8 pod_name=null\n"
     "170s quiet\n",
     kWrapper, "orphaned_pod",
     "acts uncorrelated_rows at approval: tally uncorrelated_rows = 1 | 0: kept approval = not "
     "given | of this command"},
    {"deadline",
     "0s rule ttl_expired enforce\n0s known all\n10s quiet\n10s pod wrapper-7 uid=a\n"
     "10s row wrapper-7 pk=7 created_at=-58m ttl=01:00:00\n100s quiet\n",
     kWrapper, "ttl_expired", "healthy at deadline: clock rows/ clock =  | past the deadline"},
    {"never",
     "0s rule ttl_expired enforce\n0s known all\n10s quiet\n10s pod wrapper-7 uid=a\n"
     "10s row wrapper-7 pk=7 created_at=-58m ttl=0\n100s quiet\n",
     kWrapper, "ttl_expired",
     "healthy at deadline: field rows/public.instances/7 ttl = 0 | how long it lasts"},
    {"backoff",
     "0s known all\n10s pod p-1 uid=uid-a name=etl-1 phase=Failed spec=v1\n"
     "10s wanted p-1 id=processors/1 name=etl-1 status=running versions=1 spec=v1\n"
     "15s quiet\n16s outcome p-1 done\n16s pod-gone p-1 uid=uid-a\n18s quiet\n"
     "19s outcome p-1 done\n19s pod p-1 uid=uid-b name=etl-1 phase=Failed spec=v1\n24s quiet\n"
     "25s outcome p-1 done\n25s pod-gone p-1 uid=uid-b\n26s quiet\n",
     "processors/p-1", "missing_pod", "waits backoff at backoff: time after failure 2 = 7s | 10s"},
    {"doubt",
     "0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n100s begin rows rewound\n"
     "100s end rows\n170s quiet\n",
     kWrapper, "orphaned_pod",
     "acts quarantine at doubt: source rows/ believed = it went back in time | an operator who "
     "vouches for it"},
    {"busy",
     "0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n100s row wrapper-7 pk=7\n140s quiet\n"
     "141s pod wrapper-7 uid=a phase=Failed\n145s quiet\n146s pod-gone wrapper-7 uid=a\n"
     "150s quiet\n",
     kWrapper, "missing_pod",
     "acts busy at busy: kept command = status_drift d2d1696247cb347224b37802af38e7f5 | no other "
     "command under way"},
    {"under_way", "0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n165s quiet\n", kWrapper,
     "orphaned_pod",
     "acts at under_way: kept pods/a command = 493db50082500b8a91c5d16ae5c36d74 | its outcome"},
    {"own_write",
     "0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n165s quiet\n"
     "166s outcome wrapper-7 done\n",
     kWrapper, "orphaned_pod",
     "abstains own_write at own_write: source pods/ heard =  | past our own last write"},
    {"dismissed",
     "0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n120s quiet\n120s dismiss wrapper-7\n"
     "130s quiet\n",
     kWrapper, "orphaned_pod",
     "waits dismissed at dismissed: kept finding = dismissed by an operator | one that is not "
     "dismissed"},
    {"hold",
     "0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n120s quiet\n120s hold wrapper-7\n"
     "170s quiet\n",
     kWrapper, "orphaned_pod",
     "acts hold at hold: kept hold = an operator holds the subject | no hold"},
    {"observe",
     "0s rule orphaned_pod observe\n0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n"
     "170s quiet\n",
     kWrapper, "orphaned_pod", "acts observed at mode: kept mode = observe | approve or enforce"},
    {"pause", "0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n120s pause\n170s quiet\n",
     kWrapper, "orphaned_pod", "acts paused at pause: kept pause = by operator | no pause"},
    {"refused",
     "0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n165s quiet\n"
     "166s outcome wrapper-7 refused\n300s quiet\n",
     kWrapper, "orphaned_pod",
     "acts refused at refused: kept pods/a refusal = a live look refused it | news since"},
    {"approve",
     "0s rule orphaned_pod approve\n0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n"
     "170s quiet\n",
     kWrapper, "orphaned_pod",
     "acts approval at approval: kept approval = not given | of this command"},
    {"retry",
     "0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n165s quiet\n"
     "166s outcome wrapper-7 failed\n235s quiet\n",
     kWrapper, "orphaned_pod", "acts failed at retry: time retry = tried 1 times | the next try"},
    {"budget",
     "0s rule orphaned_pod enforce grace=60s budget=1 percent=0\n0s known all\n100s quiet\n"
     "100s pod wrapper-6 uid=a\n101s pod wrapper-7 uid=b\n170s quiet\n",
     kWrapper, "orphaned_pod",
     "acts budget at budget: kept budget = spent | room in a window of 300s"},
};

INSTANTIATE_TEST_SUITE_P(Why, WhyStage, ::testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

RuleTrace of(JournalScript& script, const std::string& key, const std::string& rule) {
    const auto look = core::look_at(script.state(), key);
    for (const RuleTrace& each : look->why) {
        if (each.rule == rule) return each;
    }
    return {};
}

TEST(Why, OutsideEveryWindowItSaysWhenTheNextOneOpens) {
    Settings settings = graph_settings();
    settings.windows = {{0x7f, 0, 1}};  // the first minute of each day; this is 22:13
    JournalScript s = orphan_at(170s, settings);
    const RuleTrace trace = of(s, kWrapper, "orphaned_pod");
    EXPECT_EQ(in_short(trace), "acts window at window: time window = closed | open");
    ASSERT_TRUE(trace.again.has_value());
    EXPECT_LT(*trace.again, Millis(2h));
}

TEST(Why, AFullOutboxIsNamed) {
    Settings settings = graph_settings();
    settings.max_outbox = 0;
    JournalScript s = orphan_at(170s, settings);
    EXPECT_EQ(in_short(of(s, kWrapper, "orphaned_pod")),
              "acts outbox_full at outbox: kept outbox = 0 commands under way | under 0");
}

// Which rules report a row without a key is said of the row itself.
TEST(Why, AnObjectWithoutAKeyIsAskedOfItsOwnRoleOnly) {
    Settings settings = graph_settings();
    policies::rule_settings(settings, "untracked_record").mode = Mode::kObserve;
    JournalScript s(settings);
    s.all_known();
    s.seen({.source = "rows",
            .name = "!rows/public.instances/3",
            .id = "public.instances/3",
            .version = {.hi = 11},
            .object = ObjectBuilder()
                          .add_null("pod_name")
                          .add("status", "stopping")
                          .add_null("url_slug")
                          .take()});
    EXPECT_EQ(in_short(of(s, "!rows/public.instances/3", "orphaned_pod")),
              "healthy at asked: kept key = it cannot be told | a rule with keyless: report");
    const RuleTrace trace = of(s, "!rows/public.instances/3", "untracked_record");
    ASSERT_NE(trace.stop(), nullptr);
    EXPECT_EQ(trace.stop()->stage, Stage::kKeyless);
    EXPECT_EQ(trace.stop()->of_case, 2U) << "each of its cases was asked";
    ASSERT_EQ(trace.stop()->facts.size(), 1U);
    EXPECT_EQ(told(trace.stop()->facts[0]),
              "field rows/public.instances/3 status = stopping | [running, starting]");
}

// A pod that nobody doubts was told as what decides that two rows claim its name.
TEST(Why, OfTwoThatClaimANameTheyAloneDecide) {
    const std::string rows =
        "0s rule duplicate_claim observe\n0s known all\n100s row wrapper-7 pk=7\n"
        "100s row wrapper-7 pk=8\n";
    const RuleTrace trace =
        why(rows + "100s pod wrapper-7 uid=a\n110s quiet\n", kWrapper, "duplicate_claim");
    std::size_t facts = 0;
    for (const StageAnswer& stage : trace.stages) {
        if (stage.stage != Stage::kPattern) continue;
        for (const DecidingFact& fact : stage.facts) {
            EXPECT_EQ(fact.role, "rows") << told(fact);
            ++facts;
        }
    }
    EXPECT_GE(facts, 3U) << "each of the two, and that they are two";
}

// The value as it was read, and where it comes from: record and time of the object's last change.
TEST(Why, AFactSaysWhereItComesFrom) {
    const RuleTrace trace = why(kQuiet + "101s row wrapper-7 pk=7 status=stopping\n200s quiet\n",
                                kWrapper, "missing_pod");
    ASSERT_NE(trace.stop(), nullptr);
    const DecidingFact& fact = trace.stop()->facts.at(0);
    EXPECT_EQ(fact.role, "rows");
    EXPECT_EQ(fact.source, "rows");
    EXPECT_EQ(fact.object, "public.instances/7");
    EXPECT_EQ(fact.name, "status");
    EXPECT_EQ(fact.value, "stopping");
    EXPECT_EQ(fact.asked, "[running, starting]");
    EXPECT_EQ(fact.at, broker(101s));
    EXPECT_GT(fact.offset, kFirstOffset);
}

TEST(Why, AnUnknownSideSaysSinceWhen) {
    const RuleTrace trace =
        why("0s known all\n100s quiet\n100s pod wrapper-7 uid=a\n110s own rows\n"
            "150s silent\n",
            kWrapper, "orphaned_pod");
    ASSERT_NE(trace.stop(), nullptr);
    EXPECT_EQ(trace.reason, Reason::kNotSynced);
    const DecidingFact& fact = trace.stop()->facts.at(0);
    EXPECT_EQ(fact.source, "rows");
    EXPECT_EQ(fact.at, broker(110s));
}

TEST(Why, EachStageThatWasPassedIsToldInItsOrder) {
    const RuleTrace trace =
        why("0s rule orphaned_pod approve\n" + kQuiet + "100s pod wrapper-7 uid=a\n170s quiet\n",
            kWrapper, "orphaned_pod");
    std::string stages;
    for (const StageAnswer& each : trace.stages) {
        stages += std::string(name_of(each.stage)) + (each.stopped ? " stopped\n" : "\n");
    }
    EXPECT_EQ(stages,
              "asked\npattern\npattern\nknown\nsteps\nveto\nown_write\ngrace\nheard\nbackoff\n"
              "count\nhold\nmode\npause\nwindow\ndoubt\nrefused\napproval stopped\n");
    ASSERT_TRUE(trace.draft.has_value());
    EXPECT_EQ(trace.draft->target.object_id, "a");
}

}  // namespace
}  // namespace trueup::testing
