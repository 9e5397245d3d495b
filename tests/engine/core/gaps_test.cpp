// Proves what becomes of lost, doubled and unreadable items (design §5; C3, C4, C11).
#include "engine/codec/change_codec.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

namespace trueup::testing {
namespace {

TEST(Gaps, AnItemBehindALostOneIsNotFoldedAndReported_C3) {
    JournalScript s = observed_world();
    const Offset last = s.last_offset(Topic::kChangesPods);
    s.lose_next(1);
    s.pod({.name = "wrapper-1", .uid = "lost", .version = 11});
    s.pod({.name = "wrapper-2", .uid = "behind", .version = 12});
    EXPECT_EQ(s.subject("wrapper-2"), nullptr);
    EXPECT_EQ(s.last().gaps, (std::vector<core::Gap>{{Topic::kChangesPods, last}}));
    EXPECT_EQ(s.counted().gaps, 1U);
    EXPECT_TRUE(s.state().halted.empty());
    EXPECT_TRUE(s.source("pods").known) << "a gap of the journal is no hole of the source";
}

TEST(Gaps, TheRefillFoldsBothInOrder_C3) {
    JournalScript s = observed_world();
    s.lose_next(1);
    s.pod({.name = "wrapper-1", .uid = "lost", .version = 11});
    s.pod({.name = "wrapper-2", .uid = "behind", .version = 12});
    const core::Gap gap = s.last().gaps.front();
    s.again(gap.topic, gap.last);
    EXPECT_TRUE(s.last().gaps.empty());
    EXPECT_TRUE(s.facet("wrapper-1", "lost")->present());
    EXPECT_TRUE(s.facet("wrapper-2", "behind")->present());
    EXPECT_EQ(s.counted().holes, 0U);
    EXPECT_EQ(s.counted().duplicates, 0U);
}

TEST(Gaps, ManyItemsBehindOneGapAreOneReportPerTopic) {
    JournalScript s = observed_world();
    s.lose_next(2);
    s.pod({.name = "wrapper-1", .uid = "lost", .version = 11});
    s.row({.pk = "1", .name = "wrapper-1"});
    s.together([&] {
        s.pod({.name = "wrapper-2", .uid = "b", .version = 12});
        s.pod({.name = "wrapper-3", .uid = "c", .version = 13});
        s.row({.pk = "2", .name = "wrapper-2"});
    });
    EXPECT_EQ(s.last().gaps.size(), 2U);
    EXPECT_EQ(s.counted().gaps, 3U);
}

TEST(Gaps, TheOtherTopicsGoOn) {
    JournalScript s = observed_world();
    s.lose_next(1);
    s.pod({.name = "wrapper-1", .uid = "lost", .version = 11});
    s.together([&] {
        s.pod({.name = "wrapper-2", .uid = "behind", .version = 12});
        s.row({.pk = "2", .name = "wrapper-2"});
    });
    EXPECT_NE(s.facet("wrapper-2", "public.instances/2"), nullptr);
    EXPECT_EQ(s.facet("wrapper-2", "behind"), nullptr);
}

TEST(Gaps, ADoubledAppendChangesNothing_C3) {
    JournalScript s = observed_world();
    s.together([&] {
        s.pod({.name = "wrapper-1", .uid = "a", .version = 11});
        s.pod_gone("wrapper-1", "a", 12);
        s.pod({.name = "wrapper-1", .uid = "b", .version = 13});
    });
    s.news();
    core::Meta before = s.meta();
    s.repeat_last();
    EXPECT_EQ(s.counted().duplicates, 3U);
    before.counters.duplicates = 3;
    before.applied = next(before.applied);
    EXPECT_EQ(s.meta(), before);
    EXPECT_EQ(s.news(), "");
}

TEST(Gaps, TwoSequencersOnOneShardDoNoHarm_C4) {
    JournalScript s = observed_world();
    const Offset last = s.last_offset(Topic::kChangesPods);
    s.lose_next(3);
    s.pod({.name = "wrapper-1", .uid = "a", .version = 11});
    s.pod({.name = "wrapper-1", .uid = "a", .version = 12, .phase = "Failed"});
    s.pod({.name = "wrapper-2", .uid = "b", .version = 13});
    s.again(Topic::kChangesPods, next(last));        // one is ahead: a gap
    s.again(Topic::kChangesPods, last);              // the other one is not
    s.again(Topic::kChangesPods, further(last, 2));  // the first one, late
    s.again(Topic::kChangesPods, last);
    EXPECT_EQ(s.counted().gaps, 2U);
    EXPECT_EQ(s.counted().duplicates, 1U + 3U);
    EXPECT_EQ(s.facet("wrapper-1", "a")->version, (Version{12, 0}));
    EXPECT_TRUE(s.facet("wrapper-2", "b")->present());
    EXPECT_EQ(s.counted().repeated_seq, 0U);
}

// Design §5: a gap halts nothing.
TEST(Gaps, TheRestOfTheJournalGoesOn) {
    JournalScript s = quiet_world();
    s.lose_next(1);
    s.raw(Topic::kOutcomes, "");
    s.raw(Topic::kOutcomes, "");
    EXPECT_EQ(s.state().halted, "");
}

TEST(Parked, BytesThatAreNoChangeAreKeptAndTheStreamGoesOn_G14) {
    JournalScript s = observed_world();
    s.raw(Topic::kChangesPods, "\xff\xff");
    ASSERT_EQ(s.last().parked.size(), 1U);
    const core::Parked& item = s.last().parked.front();
    EXPECT_EQ(item.topic, Topic::kChangesPods);
    EXPECT_EQ(item.offset, s.last_offset(Topic::kChangesPods));
    EXPECT_EQ(item.bytes, "\xff\xff");
    EXPECT_EQ(item.reason, "the bytes are not a change");
    EXPECT_EQ(s.counted().parked, 1U);
    s.pod({.name = "wrapper-1", .uid = "a", .version = 11});
    EXPECT_TRUE(s.facet("wrapper-1", "a")->present());
}

TEST(Parked, ARemoveThatNamesNoSubjectIsKept) {
    JournalScript s = observed_world();
    ChangeView gone;
    gone.kind = ChangeKind::kRemove;
    gone.object_id = "a";
    gone.version = {12, 0};
    s.change("pods", gone);
    ASSERT_EQ(s.last().parked.size(), 1U);
    EXPECT_EQ(s.last().parked.front().reason, "a remove without subject_key");
    EXPECT_TRUE(s.source("pods").known) << "it was counted, so there is no hole";
    s.pod({.name = "wrapper-1", .uid = "a", .version = 11});
    EXPECT_EQ(s.counted().holes, 0U);
}

TEST(Parked, AnExecutorsHeartbeatIsNot) {
    JournalScript s = observed_world();
    s.raw(Topic::kOutcomes, "");
    EXPECT_TRUE(s.last().parked.empty());
    EXPECT_EQ(s.counted().parked, 0U);
}

TEST(Parked, AnOutcomeThatCannotBeReadIsKept) {
    JournalScript s = observed_world();
    s.raw(Topic::kOutcomes, "rubbish");
    EXPECT_EQ(s.last().parked.size(), 1U);
}

TEST(Parked, MarkersAndOwnersAreNoFacts) {
    JournalScript s = observed_world();
    ChangeView marker;
    marker.kind = ChangeKind::kMarker;
    marker.nonce = "n";
    s.change("pods", marker);
    EXPECT_TRUE(s.last().parked.empty());
    EXPECT_EQ(s.meta().subjects, 0U);
}

}  // namespace
}  // namespace trueup::testing
