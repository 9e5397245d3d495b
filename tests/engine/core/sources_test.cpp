// Proves ownership, density and progress of sources (design §4.2 to §4.4; S12).
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

namespace trueup::testing {
namespace {

TEST(Sources, AHoleMakesItUnknownUntilTheNextEpoch) {
    JournalScript s = quiet_world();
    s.hole("rows");
    s.alive("rows");
    EXPECT_FALSE(s.source("rows").known);
    EXPECT_TRUE(s.source("rows").hole);
    EXPECT_EQ(s.source("rows").complete_as_of, BrokerTime{});
    EXPECT_EQ(s.counted().holes, 1U);
    EXPECT_EQ(s.last().wants_epoch, std::vector<SourceId>{1});
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(300s);
    EXPECT_EQ(s.news(), "");
    s.rows_listed(30, {});
    EXPECT_TRUE(s.source("rows").known);
    EXPECT_FALSE(s.source("rows").hole);
    EXPECT_TRUE(s.last().wants_epoch.empty());
    s.quiet_until(360s);
    EXPECT_EQ(s.news(),
              "300s suspected orphaned_pod wrapper-7 a: grace\n"
              "360s commanded orphaned_pod wrapper-7 a\n"
              "360s delete_pod wrapper-7 a\n");
}

/// Settings that say by what rows are read.
Settings mapped(std::uint64_t mapping) {
    Settings settings = graph_settings();
    settings.sources[1].mapping = mapping;
    return settings;
}

/// A new owner of the source, which reads it by that.
void own(JournalScript& s, const std::string& source, std::uint64_t mapping) {
    s.own(source);
    ChangeView word;
    word.kind = ChangeKind::kAlive;
    word.mapping = mapping;
    s.change(source, word);
}
void own_rows(JournalScript& s, std::uint64_t mapping) { own(s, "rows", mapping); }

// A connector that was started before the key changed listed every row under a name by which nobody
// looks for it, and pods of rows that were there were deleted.
TEST(Sources, WhatIsReadByAnotherMappingIsNotTaken) {
    JournalScript s(mapped(7));
    s.known("pods");
    own_rows(s, 6);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.rows_listed(20, {{.pk = "7", .name = "7", .version = 12}});
    s.quiet_until(300s);
    EXPECT_TRUE(s.source("rows").misread);
    EXPECT_FALSE(s.source("rows").known);
    EXPECT_EQ(s.source("rows").population, 0U) << "nothing is filed where it does not belong";
    EXPECT_TRUE(s.last().wants_epoch.empty()) << "another list of it would not help";
    EXPECT_EQ(s.news(), "");
}

TEST(Sources, AnOwnerThatReadsByTheSettingsIsBelievedAgain) {
    JournalScript s(mapped(7));
    s.known("pods");
    own_rows(s, 6);
    s.rows_listed(20, {});
    own_rows(s, 7);
    EXPECT_FALSE(s.source("rows").misread);
    EXPECT_FALSE(s.source("rows").known);
    s.rows_listed(30, {{.pk = "7", .name = "wrapper-7", .version = 12}});
    EXPECT_TRUE(s.source("rows").known);
    EXPECT_EQ(s.source("rows").quarantine, core::Quarantine::kNone);
}

TEST(Sources, WhatWasReadRightlyIsNotOnceTheSettingsSayOtherwise) {
    JournalScript s(mapped(7));
    s.known("pods");
    own_rows(s, 7);
    s.rows_listed(20, {{.pk = "7", .name = "wrapper-7", .version = 12}});
    EXPECT_TRUE(s.source("rows").known);
    s.put_in_force(mapped(8));
    EXPECT_TRUE(s.source("rows").misread);
    EXPECT_FALSE(s.source("rows").known);
    s.row_gone("wrapper-7", "7", 30);
    EXPECT_TRUE(s.facet("wrapper-7", "public.instances/7")->present()) << "nothing of it is taken";
    s.put_in_force(mapped(7));
    EXPECT_FALSE(s.source("rows").misread);
    EXPECT_TRUE(s.source("rows").hole) << "what it told meanwhile was not taken";
    EXPECT_EQ(s.last().wants_epoch, std::vector<SourceId>{1});
    s.rows_listed(40, {{.pk = "8", .name = "wrapper-8", .version = 31}});
    EXPECT_TRUE(s.source("rows").known);
    EXPECT_FALSE(s.facet("wrapper-7", "public.instances/7")->present());
}

// What says it not, as a connector of before this or a source of one's own, is taken as ever.
TEST(Sources, WhoDoesNotSayByWhatItReadsIsBelieved) {
    JournalScript s(mapped(7));
    s.known("pods");
    s.known("rows");
    EXPECT_TRUE(s.source("rows").known);
    JournalScript t(mapped(0));
    t.known("pods");
    own_rows(t, 6);
    t.rows_listed(20, {});
    EXPECT_TRUE(t.source("rows").known);
}

// Who went back in time says so once. Of pods whose rows a restore had lost nothing said that they
// had been there, and they were deleted.
TEST(Sources, WhatWentBackInTimeWhileItWasMisreadIsNotForgotten) {
    for (const bool told : {true, false}) {
        JournalScript s(mapped(7));
        s.known("pods");
        own_rows(s, 7);
        s.rows_listed(20, {{.pk = "7", .name = "wrapper-7", .version = 12}});
        own_rows(s, 6);
        s.row({.pk = "7", .name = "7", .version = 500});
        EXPECT_EQ(s.source("rows").newest, 500U);
        if (told) {
            s.begin("rows", 510, true);
            s.end("rows");
        }
        own_rows(s, 7);
        s.rows_listed(told ? 520 : 300, {{.pk = "7", .name = "wrapper-7", .version = 12}});
        EXPECT_TRUE(s.source("rows").known) << told;
        EXPECT_EQ(s.source("rows").quarantine, core::Quarantine::kRewound) << told;
    }
}

// A hole of before asked for one list after the other, of which none could be taken.
TEST(Sources, OfWhatIsMisreadNoListIsAskedFor) {
    Settings settings = two_clusters();
    settings.sources.back().mapping = 7;
    JournalScript s(settings);
    s.all_known();
    own(s, "west", 6);
    s.hole("west");
    s.alive("west");
    EXPECT_TRUE(s.source("west").misread);
    EXPECT_TRUE(s.source("west").hole);
    EXPECT_TRUE(s.last().wants_epoch.empty());
    settings.sources.pop_back();
    s.put_in_force(settings);
    EXPECT_FALSE(s.source("west").misread);
    EXPECT_FALSE(s.source("west").hole) << "nobody reads it any more";
    EXPECT_TRUE(s.last().wants_epoch.empty());
}

TEST(Sources, NobodyCanVouchForWhatIsReadByAnotherMapping) {
    JournalScript s(mapped(7));
    s.known("pods");
    own_rows(s, 6);
    Request request;
    request.kind = RequestKind::kRelease;
    request.scope.source = "rows";
    s.request(request);
    EXPECT_FALSE(s.answered().granted);
    EXPECT_EQ(s.answered().sentence,
              "the connector of rows reads it by another configuration than this engine has; start "
              "anew whichever of the two has the older one");
}

TEST(Sources, AnEpochThatWasOpenAtTheHoleIsVoid) {
    JournalScript s = quiet_world();
    s.begin("rows", 20);
    EXPECT_TRUE(s.source("rows").open.has_value());
    s.hole("rows", 3);
    s.alive("rows");
    EXPECT_FALSE(s.source("rows").open.has_value());
    s.end("rows");
    EXPECT_FALSE(s.source("rows").known);
    s.begin("rows", 21);
    EXPECT_TRUE(s.last().wants_epoch.empty()) << "one is under way";
    s.end("rows");
    EXPECT_TRUE(s.source("rows").known);
}

TEST(Sources, AHoleDuringTheGraceHoldsTheFinding) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(120s);
    s.hole("rows");
    s.quiet_until(200s);
    EXPECT_EQ(s.news(),
              "100s suspected orphaned_pod wrapper-7 a: grace\n"
              "160s suspected orphaned_pod wrapper-7 a: not_synced\n");
}

TEST(Sources, ALowerTokenIsDroppedAndCounted) {
    JournalScript s = quiet_world();
    const Owner former = s.owner("pods");
    s.own("pods");
    const Owner present = s.owner("pods");
    s.owner("pods") = former;
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    EXPECT_EQ(s.counted().foreign_tokens, 1U);
    EXPECT_EQ(s.subject("wrapper-7"), nullptr);
    EXPECT_EQ(s.source("pods").incarnation, present.token);
    EXPECT_EQ(s.source("pods").next_seq, present.next_seq);
}

TEST(Sources, TwoConnectorsThatRunAtOnceCannotHurtEachOther_S12) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.news();
    Owner first = s.owner("rows");
    s.own("rows");
    s.rows_listed(60, {{.pk = "7", .name = "wrapper-7", .version = 60}});
    Owner second = s.owner("rows");
    // The first one read an older world and goes on as if it were alone.
    for (int round = 0; round < 10; ++round) {
        s.owner("rows") = first;
        s.row_gone("wrapper-7", "7", 61 + static_cast<std::uint64_t>(round));
        s.rows_listed(70, {});
        s.progress("rows");
        first = s.owner("rows");
        s.owner("rows") = second;
        s.progress("rows");
        second = s.owner("rows");
        s.progress("pods");
        s.at(s.now() + 10s);
    }
    EXPECT_EQ(s.counted().foreign_tokens, 40U);
    EXPECT_EQ(s.news(), "");
    EXPECT_TRUE(s.facet("wrapper-7", "public.instances/7")->present());
}

TEST(Sources, ANewOwnerStartsUnknownAndNotFresh) {
    JournalScript s = quiet_world();
    ASSERT_EQ(s.source("pods").complete_as_of, broker(100s));
    s.own("pods");
    EXPECT_FALSE(s.source("pods").known);
    EXPECT_EQ(s.source("pods").complete_as_of, BrokerTime{});
    s.progress("pods");
    EXPECT_EQ(s.source("pods").complete_as_of, BrokerTime{})
        << "progress counts after the owner's own first epoch";
    s.pods_listed(20, {});
    EXPECT_EQ(s.source("pods").complete_as_of, BrokerTime{});
    s.progress("pods");
    EXPECT_EQ(s.source("pods").complete_as_of, broker(100s));
}

TEST(Sources, ANewOwnerWhoseFirstRecordsAreMissingHasAHole) {
    JournalScript s = quiet_world();
    s.owner("pods") = {Offset(1'000), 5, 0, 0};
    s.alive("pods");
    EXPECT_EQ(s.source("pods").incarnation, Offset(1'000));
    EXPECT_TRUE(s.source("pods").hole);
}

TEST(Sources, ProgressFromTheFutureIsIgnored) {
    JournalScript s = quiet_world();
    s.progress("pods", 100s + 1ms);
    EXPECT_EQ(s.source("pods").complete_as_of, broker(100s));
}

TEST(Sources, ProgressNeverGoesBack) {
    JournalScript s = quiet_world();
    s.progress("pods", 90s);
    EXPECT_EQ(s.source("pods").complete_as_of, broker(100s));
    EXPECT_EQ(to_millis(s.source("pods").source_clock), to_millis(broker(90s)));
}

TEST(Sources, AnAppendThatCameTwiceIsFoldedOnce) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    --s.owner("pods").next_seq;
    s.pod({.name = "wrapper-7", .uid = "b", .version = 12});
    EXPECT_EQ(s.counted().repeated_seq, 1U);
    EXPECT_EQ(s.facet("wrapper-7", "b"), nullptr);
    EXPECT_TRUE(s.source("pods").known);
}

// Symptom: before the first owner came, changes without any token were believed.
TEST(Sources, AChangeWithoutATokenIsNobodys) {
    JournalScript s;
    s.known("rows");
    s.begin("pods", 10);  // nobody owns the pods
    s.pod({.name = "wrapper-7", .uid = "a", .version = 5, .listed = true});
    s.end("pods");
    EXPECT_FALSE(s.source("pods").known);
    EXPECT_EQ(s.subject("wrapper-7"), nullptr);
    EXPECT_EQ(s.counted().foreign_tokens, 3U);
}

TEST(Sources, ASourceThatNobodyNamedIsParked) {
    JournalScript s = quiet_world();
    s.owner("pods");
    Settings more = graph_settings();
    more.sources.push_back({"spare", Topic::kChangesPods});
    JournalScript other(more);
    other.own("spare");
    EXPECT_TRUE(other.parked().empty());
    // The same bytes where nobody knows that source.
    s.append(std::string(other.records().back().bytes));
    EXPECT_TRUE(s.parked().empty()) << "offsets 0 and 1 are duplicates here";
    JournalScript fresh;
    fresh.append(std::string(other.records().back().bytes));
    ASSERT_EQ(fresh.parked().size(), 1U);
    EXPECT_EQ(fresh.parked().front().reason, "no source 'spare' writes this topic");
    EXPECT_EQ(fresh.parked().front().topic, Topic::kChangesPods);
    EXPECT_EQ(fresh.parked().front().offset, Offset(1));
}

TEST(Sources, ASourceThatWritesToAnotherTopicIsParked) {
    Settings swapped = graph_settings();
    swapped.sources = {{"pods", Topic::kChangesRows}, {"rows", Topic::kChangesPods}};
    JournalScript other(swapped);
    other.known("pods");
    JournalScript s;
    s.append(std::string(other.records().back().bytes));
    EXPECT_EQ(s.parked().size(), 3U) << "its start is no news, the other three are";
    EXPECT_FALSE(s.source("pods").known);
}

// Design §4.4: what freshness compares is the broker's time, not the source's.
TEST(Sources, ASourceWhoseClockIsBehindIsFreshAllTheSame) {
    JournalScript s = quiet_world();
    s.owner("rows").clock = -50s;
    s.at(105s).progress("rows");
    EXPECT_EQ(s.source("rows").complete_as_of, broker(105s));
}

// Design §4.4 (1): the proof reaches up to its marker, however long it was under way.
TEST(Sources, WhatCameBehindTheMarkerIsNotProven) {
    JournalScript s = quiet_world();
    s.at(105s).progress("rows", 101s);
    EXPECT_EQ(s.source("rows").complete_as_of, broker(101s));
}

// Design §2: a facet is what a source said of one object.
TEST(Sources, ASecondPodOfThatNameHidesNone) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.pod({.name = "wrapper-7", .uid = "b", .version = 12});
    EXPECT_NE(s.facet("wrapper-7", "a"), nullptr);
}

}  // namespace
}  // namespace trueup::testing
