// Proves docs/adr/0027 (C11): a journal that lost its tail and grew another one is noticed by
// whoever folded the tail that was lost, at its start and while it runs, and by nobody else.
#include "engine/runtime/continuity.h"
#include "tests/engine/runtime/shard_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trueup::runtime::testing {
namespace {

constexpr ports::Partition kJournal{Topic::kJournal, PartitionNumber(0)};

class Lineages : public ::testing::Test {
  protected:
    /// Appends a record without items, whose writer names this one as the last that it folded.
    void append(std::optional<RecordMark> folded) {
        codec::JournalRecordBuilder record;
        if (folded) record.set_folded(*folded);
        ASSERT_TRUE(ports::append_now(fixture_.log, kJournal, {{{}, record.take()}}).ok());
    }
    Offset end() { return fixture_.log.describe(kJournal)->next_offset; }
    static Offset applied(const Shard& shard) { return shard.state().meta.applied; }
    static RecordMark last(const Shard& shard) {
        return {shard.state().meta.applied, shard.state().meta.record};
    }
    /// Steps until there is an error or nothing to do.
    static Status fold_all(Shard& shard) {
        for (;;) {
            const Result<bool> busy = shard.step();
            if (!busy) return busy.error();
            if (!*busy) return Done{};
        }
    }

    ShardFixture fixture_;
};

/// A journal, and an engine that has folded all of it and leads no more.
class ALostTail : public Lineages {
  protected:
    void SetUp() override {
        first_ = fixture_.open();
        fixture_.settle(*first_);
        fixture_.all_known({pod("wrapper-a", "uid-a", 5)}, {row("wrapper-a", "1", 5)});
        fixture_.live(*first_, Millis{12'000});
        late_ = fixture_.follow(other_);
        fixture_.settle(*late_);
        folded_ = applied(*late_);
        ASSERT_GT(folded_, Offset(10));
    }

    /// The journal loses its last records; an engine that never saw them goes on from there.
    void grow_another(std::int64_t lost) {
        fixture_.log.lose_from(kJournal, further(end(), -lost));
        projections::MemoryStore rows;
        auto next = fixture_.open(&rows);
        fixture_.settle(*next);
        while (end() <= further(folded_, 3)) fixture_.live(*next, Millis{2'000});
    }

    std::uint64_t mark_of(Offset offset) {
        const StoredRecord record =
            fixture_.log.records(kJournal)[static_cast<std::size_t>(offset.value())];
        return codec::record_digest(record.value, record.append_time);
    }

    void expect_noticed() {
        const Status folded = fold_all(*late_);
        ASSERT_FALSE(folded.ok());
        EXPECT_EQ(folded.error().next, Next::kStop);
        EXPECT_EQ(applied(*late_), folded_) << "noticed at the first record";
    }

    projections::MemoryStore other_;
    std::unique_ptr<Shard> first_;
    std::unique_ptr<Shard> late_;
    Offset folded_;
};

TEST_F(ALostTail, StopsAnEngineThatReadsOnInTheNextOne_C11) {
    // Brokers lost the last records of a journal and took others in their place; an engine that had
    // not looked meanwhile folded on as if nothing had happened, over facts that nobody had stated.
    grow_another(4);
    expect_noticed();
    const std::string why = late_->status().refused;
    EXPECT_NE(why.find("is not the one that the rows were made from"), std::string::npos) << why;
    EXPECT_NE(why.find("move the shard's projection folder away"), std::string::npos) << why;
}

TEST_F(ALostTail, OfOneRecordStopsItToo_C11) {
    grow_another(1);
    expect_noticed();
}

TEST_F(ALostTail, IsNoticedThoughTheNextRecordNamesOneFromBeforeIt_C11) {
    // Of two appends under way the second names no more than the first: behind a record that was
    // lost, such a pair was taken for what follows it, and with it all that came after.
    const RecordMark before{previous(folded_), mark_of(previous(folded_))};
    fixture_.log.lose_from(kJournal, folded_);
    fixture_.pass(Millis{1'500});
    append(before);
    append(before);
    expect_noticed();
}

TEST_F(ALostTail, IsAskedForAgainWhileTheJournalCannotBeRead) {
    grow_another(4);
    fixture_.log.fail_read(2);  // the first one brings the records
    const Status unsure = fold_all(*late_);
    ASSERT_FALSE(unsure.ok());
    EXPECT_EQ(unsure.error().next, Next::kRetry);
    EXPECT_EQ(applied(*late_), folded_) << "folded while in doubt";
    expect_noticed();
}

TEST_F(ALostTail, IsNoticedAtTheStartThoughTheNextOneIsOfTheSameMoment_C11) {
    // Rows and journal were compared by the time of one record: a tail that grew again within the
    // same millisecond, or of which a broker's clock said so, was taken for the one that was lost.
    ASSERT_TRUE(late_->stop().ok());
    const BrokerTime then = fixture_.log.records(kJournal).back().append_time;
    fixture_.log.lose_from(kJournal, folded_);
    fixture_.log.set_now(then);
    append(RecordMark{previous(folded_), 1});
    ASSERT_EQ(fixture_.log.records(kJournal).back().append_time, then);
    const auto opened = Shard::open(fixture_.settings, fixture_.log, other_, fixture_.clock);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().next, Next::kStop);
}

TEST_F(Lineages, ABrokersClockThatWentBackMakesNoOtherJournal) {
    // The time of the last record was compared with the latest time of all: after a fail-over to a
    // broker whose clock was behind, a sound journal was refused.
    append(std::nullopt);
    const StoredRecord only = fixture_.log.records(kJournal).back();
    core::Meta rows;
    rows.applied = only.offset;
    rows.record = codec::record_digest(only.value, only.append_time);
    rows.broker_now = only.append_time + Millis{700};
    EXPECT_TRUE(check_continuity(fixture_.log, PartitionNumber(0), rows).ok());
}

// Rows of the build before, which know the time of their last record and no digest, were taken for
// those of any journal.
TEST_F(Lineages, RowsThatKnowNoDigestAreHeldAgainstTheirTime) {
    append(std::nullopt);
    const StoredRecord only = fixture_.log.records(kJournal).back();
    core::Meta rows;
    rows.applied = only.offset;
    rows.broker_now = only.append_time;
    EXPECT_TRUE(check_continuity(fixture_.log, PartitionNumber(0), rows).ok());
    rows.broker_now = only.append_time + Millis{1};
    const Status other = check_continuity(fixture_.log, PartitionNumber(0), rows);
    ASSERT_FALSE(other.ok());
    EXPECT_EQ(other.error().next, Next::kStop);
}

// The way out of a journal whose beginning was cut is a checkpoint from just before it. A record of
// two that were under way names one that is gone: the engine stopped, and advised that checkpoint.
TEST_F(Lineages, WhatIsGoneFromTheJournalIsNoQuestion) {
    auto shard = fixture_.open();
    fixture_.settle(*shard);
    fixture_.live(*shard, Millis{20'000}, Millis{1'000});
    const core::Meta rows = shard->state().meta;
    append(RecordMark{previous(rows.applied), 7});
    const StoredRecord follows = fixture_.log.records(kJournal).back();
    ASSERT_EQ(follows.offset, next(rows.applied));
    JournalView view;
    ASSERT_TRUE(
        codec::decode_journal(follows.value, follows.offset, follows.append_time, view).ok());
    Lineage lineage(fixture_.log, PartitionNumber(0));
    lineage.resume(rows);
    ASSERT_TRUE(fixture_.log.truncate({Topic::kJournal, PartitionNumber(0)}, follows.offset).ok());
    EXPECT_TRUE(lineage.admit(view).ok());
}

// With six appends under way each record of a backlog had the one before it read again, each time
// by a stream of its own: gigabytes of what was fetched ahead for them.
TEST_F(Lineages, AWriterWithAllItsAppendsUnderWayCostsNoLook) {
    const std::size_t under_way = 2 * runtime::ShardSettings{}.in_flight;
    const auto mark = [](std::size_t n) {
        return RecordMark{Offset(static_cast<std::int64_t>(n)), 100 + n};
    };
    Lineage lineage(fixture_.log, PartitionNumber(0));
    core::Meta rows;
    rows.applied = mark(0).offset;
    rows.record = mark(0).digest;
    lineage.resume(rows);
    const std::uint64_t reads = fixture_.log.reads();
    for (std::size_t n = 1; n < 100; ++n) {
        JournalView view;
        view.offset = mark(n).offset;
        view.digest = mark(n).digest;
        view.folded = mark(n - std::min(n, under_way));
        EXPECT_TRUE(lineage.admit(view).ok());
        lineage.folded(view);
    }
    EXPECT_EQ(fixture_.log.reads(), reads);
}

TEST_F(Lineages, WhoWasMistakenOrLateStopsNobody) {
    auto shard = fixture_.open();
    fixture_.settle(*shard);
    const RecordMark early = last(*shard);
    fixture_.live(*shard, Millis{80'000}, Millis{1'000});
    ASSERT_GT(applied(*shard), further(early.offset, Lineage::kKept));
    append(early);                                     // long under way
    append(RecordMark{previous(applied(*shard)), 1});  // of another history
    append(RecordMark{further(applied(*shard), 1'000'000), 1});
    append(std::nullopt);  // of a build that names none
    const Offset all = end();
    fixture_.settle(*shard);
    EXPECT_GE(next(applied(*shard)), all);
    EXPECT_TRUE(shard->status().refused.empty()) << shard->status().refused;
}

TEST_F(Lineages, WhatComesInOrderCostsNoLook) {
    auto shard = fixture_.open();
    fixture_.settle(*shard);
    fixture_.live(*shard, Millis{20'000}, Millis{1'000});
    for (int pair = 0; pair < 20; ++pair) {  // two under way at once, as under load
        fixture_.pass(Millis{100});
        const RecordMark folded = last(*shard);
        append(folded);
        append(folded);
        fixture_.settle(*shard);
    }
    projections::MemoryStore rows;
    auto follower = fixture_.follow(rows);
    const std::uint64_t before = fixture_.log.reads();
    ASSERT_TRUE(fold_all(*follower).ok());
    EXPECT_EQ(fixture_.log.reads() - before, 2U) << "one page, and the end";
}

TEST_F(Lineages, EachRecordNamesTheOneThatItsWriterFoldedLast) {
    auto shard = fixture_.open();
    fixture_.settle(*shard);
    fixture_.live(*shard, Millis{20'000}, Millis{1'000});
    std::vector<RecordMark> marks;
    for (const StoredRecord& record : fixture_.log.records(kJournal)) {
        JournalView view;
        ASSERT_TRUE(
            codec::decode_journal(record.value, record.offset, record.append_time, view).ok());
        ASSERT_EQ(view.folded.has_value(), record.offset > kFirstOffset);
        if (view.folded) {
            ASSERT_LT(view.folded->offset, record.offset);
            EXPECT_EQ(*view.folded, marks[static_cast<std::size_t>(view.folded->offset.value())]);
        }
        marks.push_back({view.offset, view.digest});
    }
    EXPECT_GT(marks.size(), 5U);
}

}  // namespace
}  // namespace trueup::runtime::testing
