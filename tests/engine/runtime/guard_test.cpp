// Proves that each guard of the runtime is needed: the test of its name fails without it
// (docs/guards.md; tests/guards/mutants.sh switches them off one by one).
#include "engine/codec/change_codec.h"
#include "engine/codec/journal_codec.h"
#include "engine/runtime/continuity.h"
#include "engine/runtime/sequencer.h"
#include "engine/runtime/source_task.h"
#include "tests/engine/runtime/scripted_connector.h"
#include "tests/engine/runtime/shard_fixture.h"
#include "tests/support/keys.h"
#include "tests/support/memory_log.h"

#include <gtest/gtest.h>

namespace trueup::runtime::testing {
namespace {

using trueup::testing::MemoryLog;

constexpr Topic kTopic = Topic::kChangesPods;

class Publisher {
  public:
    explicit Publisher(std::int32_t partitions = 1) : task_(settings(partitions), log, connector) {}

    Status step() { return task_.step(now_, Millis{0}); }
    void steps(int n) {
        for (int i = 0; i < n; ++i) ASSERT_TRUE(step().ok());
    }
    void pass(Millis by) {
        now_ += by;
        log.advance(by);
    }
    /// Records of that kind under the first token.
    std::size_t count(ChangeKind kind, std::int32_t partition = 0) {
        std::size_t n = 0;
        for (const auto& record : log.records({kTopic, PartitionNumber(partition)})) {
            const auto change = codec::decode_change(record.value);
            EXPECT_TRUE(change.ok());
            n += change.ok() && change->kind == kind && change->incarnation == kFirstOffset ? 1U
                                                                                            : 0U;
        }
        return n;
    }

    MemoryLog log;
    ScriptedConnector connector;

  private:
    static SourceTaskSettings settings(std::int32_t partitions) {
        SourceTaskSettings settings;
        settings.source = "pods";
        settings.topic = kTopic;
        settings.partitions = partitions;
        return settings;
    }
    SourceTask task_;
    SteadyTime now_{};
};

// Design §4.2.
TEST(Guard, Guard_lost_append_ends_it_NoProgressOverAHole) {
    Publisher publisher;
    publisher.steps(2);
    publisher.log.fail_next_append(false, kTopic);
    publisher.connector.say(pod("lost", "u", 5));
    publisher.steps(1);
    EXPECT_FALSE(publisher.step().ok());
    publisher.connector.say(progress(BrokerTime{}));
    publisher.pass(Millis{500});
    publisher.steps(3);
    EXPECT_EQ(publisher.count(ChangeKind::kProgress), 0U);
}

// Design §4.3: the token is broadcast.
TEST(Guard, Guard_owner_everywhere_AQuietPartitionLearnsOfItsNewOwner) {
    Publisher publisher(2);
    publisher.steps(2);
    for (const std::int32_t partition : {0, 1}) {
        EXPECT_EQ(publisher.count(ChangeKind::kOwner, partition), 1U);
    }
}

// Design §5.
TEST(Guard, Guard_rewind_to_gap_WhatTheFoldMissesIsAppendedAgain) {
    MemoryLog log;
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(ports::append_now(log, {kTopic, PartitionNumber(0)}, {{"k", "item"}}).ok());
    }
    Sequencer sequencer(log, PartitionNumber(0), trueup::testing::test_keys());
    codec::JournalRecordBuilder lost;
    ASSERT_TRUE(sequencer.gather(lost, 1U << 20U).ok());
    ASSERT_TRUE(sequencer.rewind({kTopic, Offset(2)}).ok());
    codec::JournalRecordBuilder record;
    ASSERT_TRUE(sequencer.gather(record, 1U << 20U).ok());
    EXPECT_EQ(record.count(), 2U);
}

// Design §4.16: rows go on only with the journal that they were made from.
TEST(Guard, Guard_same_journal_RowsOfATailThatWasLostAreNotFoldedOn) {
    const auto grow = [](MemoryLog& log, int records) {
        for (int i = 0; i < records; ++i) {
            codec::JournalRecordBuilder tick;
            ASSERT_TRUE(
                ports::append_now(log, {Topic::kJournal, PartitionNumber(0)}, {{{}, tick.take()}})
                    .ok());
        }
    };
    MemoryLog log;
    grow(log, 3);
    core::Meta rows;
    rows.applied = Offset(2);
    rows.record = codec::record_digest(log.records({Topic::kJournal, PartitionNumber(0)})[2].value,
                                       log.now());
    EXPECT_TRUE(check_continuity(log, PartitionNumber(0), rows).ok());
    MemoryLog grown_again;
    grow(grown_again, 2);
    grown_again.advance(Millis{1'000});
    grow(grown_again, 3);
    const Status refused = check_continuity(grown_again, PartitionNumber(0), rows);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().next, Next::kStop);
}

}  // namespace
}  // namespace trueup::runtime::testing
