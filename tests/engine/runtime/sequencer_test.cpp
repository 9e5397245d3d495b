// Proves design §5: the sequencer merges the input topics, says of each item which one it read
// before, and goes back when the fold misses one.
#include "engine/runtime/sequencer.h"

#include "engine/codec/limits.h"
#include "tests/support/keys.h"
#include "tests/support/memory_log.h"

#include <gtest/gtest.h>

#include <map>

namespace trueup::runtime {
namespace {

using trueup::testing::MemoryLog;

class SequencerTest : public ::testing::Test {
  protected:
    void put(Topic topic, const std::string& value, std::int32_t index = 0) {
        ASSERT_TRUE(ports::append_now(log_, {topic, PartitionNumber(index)}, {{"k", value}}).ok());
    }
    /// `pods:-1<0 rows:-1<0`, as the record that `gather` fills will be read.
    std::string gathered(std::size_t max_bytes = 1 << 20) {
        codec::JournalRecordBuilder record;
        const auto more = sequencer_.gather(record, max_bytes);
        EXPECT_TRUE(more.ok());
        more_ = more.ok() && *more;
        bytes_ = record.take();
        JournalView view;
        EXPECT_TRUE(codec::decode_journal(bytes_, kFirstOffset, log_.now(), view).ok());
        std::string text;
        for (const ItemView& item : view.items) {
            if (!text.empty()) text += ' ';
            text += name_of(item.topic);
            text += ':' + std::to_string(item.prev_offset.value()) + '<' +
                    std::to_string(item.offset.value());
            EXPECT_EQ(item.append_time, log_.now());
        }
        return text;
    }

    MemoryLog log_;
    Sequencer sequencer_{log_, PartitionNumber(0), trueup::testing::test_keys()};
    std::string bytes_;
    bool more_ = false;
};

TEST_F(SequencerTest, MergesTheTopicsInTheirFixedOrder) {
    put(Topic::kOutcomes, "o");
    put(Topic::kChangesRows, "r");
    put(Topic::kChangesPods, "p1");
    put(Topic::kChangesPods, "p2");
    put(Topic::kChangesPods, "another shard's", 1);
    put(Topic::kFindings, "not an input");
    EXPECT_EQ(gathered(), "changes.pods:-1<0 changes.pods:0<1 changes.rows:-1<0 outcomes:-1<0");
    EXPECT_TRUE(more_);
    EXPECT_EQ(gathered(), "");
    EXPECT_FALSE(more_);
    put(Topic::kChangesRows, "r2");
    EXPECT_EQ(gathered(), "changes.rows:0<1");
}

TEST_F(SequencerTest, PrevOffsetIsWhatThisReaderReadBefore_Details3) {
    put(Topic::kChangesPods, "a");
    log_.skip_offsets({Topic::kChangesPods, PartitionNumber(0)}, 5);  // as Kafka does
    put(Topic::kChangesPods, "b");
    EXPECT_EQ(gathered(), "changes.pods:-1<0 changes.pods:0<6");
    Sequencer another(log_, PartitionNumber(0), trueup::testing::test_keys());
    core::Meta meta;
    meta.last[static_cast<std::size_t>(Topic::kChangesPods)] = kFirstOffset;
    another.resume(meta);
    codec::JournalRecordBuilder record;
    ASSERT_TRUE(another.gather(record, 1 << 20).ok());
    EXPECT_EQ(record.count(), 1U);
}

TEST_F(SequencerTest, KeepsRecordsWithinTheirSizeAndLosesNothingByIt) {
    for (int i = 0; i < 10; ++i) put(Topic::kChangesPods, std::string(1'000, 'x'));
    put(Topic::kChangesRows, "r");
    std::map<Topic, Offset> last{{Topic::kChangesPods, kNoOffset},
                                 {Topic::kChangesRows, kNoOffset}};
    int records = 0;
    do {
        gathered(3'000);
        EXPECT_LE(bytes_.size(), 3'000U);
        JournalView view;
        ASSERT_TRUE(codec::decode_journal(bytes_, kFirstOffset, log_.now(), view).ok());
        for (const ItemView& item : view.items) {
            EXPECT_EQ(item.prev_offset, last[item.topic]);
            last[item.topic] = item.offset;
        }
        ++records;
        EXPECT_EQ(last[Topic::kChangesRows], kFirstOffset) << "the rows waited for all the pods";
    } while (more_ && records < 100);
    EXPECT_EQ(last[Topic::kChangesPods], Offset(9));
    EXPECT_GE(records, 5);
}

TEST_F(SequencerTest, OneItemLargerThanARecordStillGoesAlone) {
    put(Topic::kChangesPods, std::string(5'000, 'x'));
    put(Topic::kChangesPods, "y");
    EXPECT_EQ(gathered(1'000), "changes.pods:-1<0");
    EXPECT_EQ(gathered(1'000), "changes.pods:0<1");
}

// Was: "journal record at offset 28: is larger than 4 MiB", for ever.
TEST_F(SequencerTest, AnItemThatIsTooLargeIsCutSoThatTheJournalCanBeRead) {
    put(Topic::kChangesPods, std::string(5'000'000, 'x'));
    put(Topic::kChangesPods, "y");
    EXPECT_EQ(gathered(), "changes.pods:-1<0 changes.pods:0<1");
    EXPECT_LT(bytes_.size(), codec::kMaxItemBytes + 1'000);
    JournalView view;
    ASSERT_TRUE(codec::decode_journal(bytes_, kFirstOffset, log_.now(), view).ok());
    const auto* parked = std::get_if<Undecodable>(&view.items[0].body);
    ASSERT_NE(parked, nullptr);
    EXPECT_EQ(parked->reason, "the change is larger than 256 KiB");
}

TEST_F(SequencerTest, GoesBackBehindWhatTheFoldAccepted) {
    for (int i = 0; i < 5; ++i) put(Topic::kChangesPods, "p");
    gathered();
    ASSERT_TRUE(sequencer_.rewind({Topic::kChangesPods, Offset(2)}).ok());
    EXPECT_EQ(gathered(), "changes.pods:2<3 changes.pods:3<4");
    EXPECT_EQ(sequencer_.rewinds(), 1U);
    // The same gap once more, while it is ahead of nothing: no second rewind.
    ASSERT_TRUE(sequencer_.rewind({Topic::kChangesPods, Offset(4)}).ok());
    EXPECT_EQ(sequencer_.rewinds(), 1U);
}

TEST_F(SequencerTest, AGapThatRetentionTookStopsIt_C11) {
    for (int i = 0; i < 5; ++i) put(Topic::kChangesPods, "p");
    gathered();
    ASSERT_TRUE(log_.truncate({Topic::kChangesPods, PartitionNumber(0)}, Offset(4)).ok());
    const Status rewound = sequencer_.rewind({Topic::kChangesPods, Offset(1)});
    ASSERT_FALSE(rewound.ok());
    EXPECT_EQ(rewound.error().next, Next::kStop);
    EXPECT_NE(rewound.error().what.find("changes.pods lost the records from 2 to 3"),
              std::string::npos)
        << rewound.error().what;
    // What is still there may be rewound to.
    EXPECT_TRUE(sequencer_.rewind({Topic::kChangesPods, Offset(3)}).ok());
}

TEST_F(SequencerTest, InputThatRetentionTookBeforeItWasReadStopsIt_C11) {
    for (int i = 0; i < 5; ++i) put(Topic::kChangesPods, "p");
    ASSERT_TRUE(log_.truncate({Topic::kChangesPods, PartitionNumber(0)}, Offset(4)).ok());
    codec::JournalRecordBuilder record;
    const auto more = sequencer_.gather(record, 1 << 20);
    ASSERT_FALSE(more.ok());
    EXPECT_EQ(more.error().next, Next::kStop);
    EXPECT_FALSE(more.error().what.empty());
}

TEST_F(SequencerTest, AReadThatFailedIsMadeUpFor) {
    put(Topic::kChangesPods, "p");
    log_.fail_reads(1);
    codec::JournalRecordBuilder record;
    const auto more = sequencer_.gather(record, 1 << 20);
    ASSERT_FALSE(more.ok());
    EXPECT_EQ(more.error().next, Next::kRetry);
    EXPECT_EQ(gathered(), "changes.pods:-1<0");
}

}  // namespace
}  // namespace trueup::runtime
