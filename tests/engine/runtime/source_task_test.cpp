// Proves design §4.2–4.4: incarnations, dense seq, epochs with counts, markers in order, and that
// nothing is reported over a hole.
#include "engine/runtime/source_task.h"

#include "engine/base/id.h"
#include "engine/codec/change_codec.h"
#include "engine/codec/limits.h"
#include "engine/model/object_builder.h"
#include "tests/engine/runtime/scripted_connector.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_log.h"
#include "tests/support/wrapped_log.h"

#include <gtest/gtest.h>

#include <set>

namespace trueup::runtime::testing {
namespace {

using trueup::testing::ManualClock;
using trueup::testing::MemoryLog;
using trueup::testing::StoredRecord;

constexpr Topic kTopic = Topic::kChangesPods;

class SourceTaskTest : public ::testing::Test {
  protected:
    void make(std::int32_t partitions = 1, std::size_t most_told = 1'000) {
        SourceTaskSettings settings;
        settings.most_told = most_told;
        settings.source = "pods";
        settings.topic = kTopic;
        settings.partitions = partitions;
        task_ = std::make_unique<SourceTask>(settings, log_, connector_);
    }
    Status step() { return task_->step(clock_.steady_now(), Millis{0}); }
    void steps(int n) {
        for (int i = 0; i < n; ++i) {
            const Status stepped = step();
            ASSERT_TRUE(stepped.ok()) << stepped.error().what;
        }
    }
    void pass(Millis by) {
        clock_.advance(by);
        log_.advance(by);
    }
    std::vector<StoredRecord> records(std::int32_t index = 0) {
        return log_.records({kTopic, PartitionNumber(index)});
    }
    /// `start@0 owner#1 upsert#2:a`, a word for each record.
    std::string said(std::int32_t index = 0, std::size_t from = 0) {
        std::string text;
        const std::vector<StoredRecord> all = records(index);
        for (std::size_t i = from; i < all.size(); ++i) {
            const auto change = codec::decode_change(all[i].value);
            EXPECT_TRUE(change.ok());
            if (!change) continue;
            if (!text.empty()) text += ' ';
            text += word(*change, all[i].offset);
        }
        return text;
    }

    MemoryLog log_;
    ManualClock clock_;
    ScriptedConnector connector_;
    std::unique_ptr<SourceTask> task_;

  private:
    static std::string word(const ChangeView& change, Offset offset) {
        const std::string seq = '#' + std::to_string(change.seq);
        switch (change.kind) {
            case ChangeKind::kIncarnationStart:
                EXPECT_EQ(change.incarnation, kNoOffset) << "the start itself bears no token";
                EXPECT_EQ(change.seq, 0U);
                EXPECT_FALSE(change.nonce.empty());
                return "start@" + std::to_string(offset.value());
            case ChangeKind::kOwner:
                return "owner/" + std::to_string(change.incarnation.value()) + seq;
            case ChangeKind::kUpsert: {
                std::string text = "upsert" + seq + ':' + std::string(change.object_id);
                if (change.epoch != 0) text += '!' + std::to_string(change.epoch);
                return text;
            }
            case ChangeKind::kSame:
                EXPECT_TRUE(change.object.empty());
                return "same" + seq + ':' + std::string(change.object_id) + '!' +
                       std::to_string(change.epoch) + '@' + std::to_string(change.version.hi) +
                       " of @" + std::to_string(change.base.hi);
            case ChangeKind::kRemove:
                return "remove" + seq + ':' + std::string(change.object_id);
            case ChangeKind::kSnapshotBegin:
                return "begin" + seq + '!' + std::to_string(change.epoch);
            case ChangeKind::kSnapshotEnd:
                return "end" + seq + '!' + std::to_string(change.epoch) + '=' +
                       std::to_string(change.count);
            case ChangeKind::kMarker:
                return "marker" + seq;
            case ChangeKind::kProgress:
                return "progress" + seq;
            case ChangeKind::kAlive:
                return "alive" + seq;
            case ChangeKind::kUnspecified:
                break;
        }
        return "?";
    }
};

TEST_F(SourceTaskTest, TheOffsetOfATokenlessStartIsTheToken_Design4_3) {
    ASSERT_TRUE(
        ports::append_now(log_, {kTopic, PartitionNumber(0)}, {{"x", "an older record"}}).ok());
    make();
    steps(2);
    EXPECT_EQ(said(0, 1), "start@1 owner/1#1");
    EXPECT_EQ(task_->incarnation(), Offset(1));
    EXPECT_EQ(connector_.restarts, 1);
}

TEST_F(SourceTaskTest, ItSaysByWhatItReadsAtItsStartAndBeforeEachList) {
    SourceTaskSettings settings;
    settings.source = "pods";
    settings.topic = kTopic;
    settings.partitions = 2;
    settings.mapping = 0xfedcba9876543210U;
    task_ = std::make_unique<SourceTask>(settings, log_, connector_);
    steps(1);
    connector_.say(epoch_begins(7)).say(epoch_ends());
    steps(2);
    for (std::int32_t partition = 0; partition < 2; ++partition) {
        std::vector<ChangeKind> kinds;
        for (const StoredRecord& record : records(partition)) {
            const auto change = codec::decode_change(record.value);
            ASSERT_TRUE(change.ok());
            if (change->mapping == settings.mapping) kinds.push_back(change->kind);
        }
        std::vector<ChangeKind> wanted{ChangeKind::kOwner, ChangeKind::kSnapshotBegin};
        if (partition == 0) wanted.insert(wanted.begin(), ChangeKind::kIncarnationStart);
        EXPECT_EQ(kinds, wanted);
    }
}

TEST_F(SourceTaskTest, TheMachineReadsOnlyAfterTheTokenIsTaken_Design4_3) {
    make();
    log_.fail_next_append(false, kTopic);
    const Status begun = step();
    ASSERT_FALSE(begun.ok());
    EXPECT_EQ(begun.error().next, Next::kRetry);
    EXPECT_EQ(connector_.restarts, 0);
    EXPECT_EQ(connector_.steps, 0);
    steps(1);
    EXPECT_EQ(task_->incarnation(), kNoOffset) << "not before the pause is over";
    pass(Millis{500});
    steps(1);
    EXPECT_EQ(task_->incarnation(), kFirstOffset);
    EXPECT_EQ(connector_.restarts, 1);
}

TEST_F(SourceTaskTest, ATokenWhoseAppendWasLostOnTheWayBackIsNeverUsed) {
    make();
    log_.fail_next_append(true, kTopic);  // it is there, but nobody knows
    EXPECT_FALSE(step().ok());
    pass(Millis{500});
    steps(2);
    EXPECT_EQ(said(), "start@0 start@1 owner/1#1");
}

TEST_F(SourceTaskTest, SeqIsDensePerPartitionAndReferencesGoToAll_Details2) {
    make(3);
    steps(1);
    for (int i = 0; i < 20; ++i) {
        connector_.say(pod("wrapper-" + std::to_string(i), "u" + std::to_string(i), 5));
    }
    Fact reference = pod("x", "node-1", 5);
    reference.subject_key = "!nodes/node-1";
    connector_.say(reference);
    steps(3);
    std::set<std::string> seen;
    for (std::int32_t p = 0; p < 3; ++p) {
        std::uint64_t seq = 0;
        bool node = false;
        for (const StoredRecord& record : records(p)) {
            const auto change = codec::decode_change(record.value);
            ASSERT_TRUE(change.ok());
            if (change->kind == ChangeKind::kIncarnationStart) continue;
            EXPECT_EQ(change->seq, ++seq);
            EXPECT_EQ(change->incarnation, task_->incarnation());
            EXPECT_EQ(change->source, "pods");
            EXPECT_EQ(change->kind == ChangeKind::kOwner, seq == 1);
            if (change->kind != ChangeKind::kUpsert) continue;
            node = node || change->object_id == "node-1";
            if (change->object_id == "node-1") continue;
            EXPECT_EQ(partition_of(change->subject_key, 3), PartitionNumber(p));
            EXPECT_EQ(record.key, change->subject_key);
            EXPECT_TRUE(seen.emplace(change->object_id).second);
        }
        EXPECT_TRUE(node) << "partition " << p << " lacks the reference";
        EXPECT_GT(seq, 2U) << "partition " << p << " got nothing";
    }
    EXPECT_EQ(seen.size(), 20U);
}

TEST_F(SourceTaskTest, EpochsAreNumberedAndEndWithACountForEachPartition_Design4_3) {
    make(2);
    steps(1);
    connector_.say(epoch_begins(7));
    for (int i = 0; i < 10; ++i) {
        connector_.say(listed(pod("w" + std::to_string(i), "u" + std::to_string(i), 5)));
        connector_.say(pod("live" + std::to_string(i), "l" + std::to_string(i), 8));
    }
    connector_.say(epoch_ends()).say(epoch_begins(9)).say(epoch_ends());
    steps(2);
    std::uint64_t total = 0;
    for (std::int32_t p = 0; p < 2; ++p) {
        std::uint64_t counted = 0;
        std::vector<std::uint64_t> ends;
        std::vector<std::uint64_t> begins;
        for (const StoredRecord& record : records(p)) {
            const auto change = codec::decode_change(record.value);
            ASSERT_TRUE(change.ok());
            if (change->kind == ChangeKind::kSnapshotBegin) begins.push_back(change->epoch);
            if (change->kind == ChangeKind::kUpsert && change->epoch == 1) ++counted;
            if (change->kind != ChangeKind::kSnapshotEnd) continue;
            EXPECT_EQ(change->epoch, ends.size() + 1);
            ends.push_back(change->count);
        }
        EXPECT_EQ(begins, (std::vector<std::uint64_t>{1, 2}));
        EXPECT_EQ(ends, (std::vector<std::uint64_t>{counted, 0}));
        total += counted;
    }
    EXPECT_EQ(total, 10U);
}

// Each audit wrote every object of its source to the log once more, for ever.
TEST_F(SourceTaskTest, WhatAnEpochListsAsItWasToldIsTheSame) {
    make();
    steps(1);
    connector_.say(epoch_begins(7)).say(listed(pod("a", "u", 5))).say(listed(pod("b", "v", 5)));
    connector_.say(epoch_ends());
    connector_.say(pod("c", "w", 8));
    steps(1);
    const std::size_t before = records().size();
    connector_.say(epoch_begins(9))
        .say(listed(pod("a", "u", 9)))
        .say(listed(pod("b", "v", 6, "X")));
    connector_.say(listed(pod("c", "w", 8))).say(epoch_ends());
    steps(1);
    EXPECT_EQ(said(0, before),
              "begin#7!2 same#8:u!2@9 of @5 upsert#9:v!2 same#10:w!2@8 of @8 end#11!2=3");
    const std::size_t later = records().size();
    connector_.say(epoch_begins(9)).say(listed(pod("a", "u", 10))).say(epoch_ends());
    steps(1);
    EXPECT_EQ(said(0, later), "begin#12!3 same#13:u!3@10 of @9 end#14!3=1");
}

// A wish for an epoch in the middle of one made an older word the one that was told last: the next
// audit leaned on it, readers had a newer one, and the source was unknown, again and again.
TEST_F(SourceTaskTest, AnOlderWordOfAListIsNotTheLastOneThatWasTold) {
    make();
    steps(1);
    connector_.say(epoch_begins(90)).say(pod("a", "u", 100));
    connector_.say(gone(pod("b", "v", 100), 100));
    steps(1);
    task_->list_again();
    connector_.say(listed(pod("a", "u", 90))).say(listed(pod("b", "v", 90))).say(epoch_ends());
    steps(1);
    const std::size_t before = records().size();
    connector_.say(epoch_begins(200)).say(listed(pod("a", "u", 200)));
    connector_.say(listed(pod("b", "v", 200))).say(epoch_ends());
    steps(1);
    EXPECT_EQ(said(0, before), "begin#8!2 upsert#9:u!2 upsert#10:v!2 end#11!2=2");
    const std::size_t later = records().size();
    connector_.say(epoch_begins(300)).say(listed(pod("a", "u", 300))).say(epoch_ends());
    steps(1);
    EXPECT_EQ(said(0, later), "begin#12!3 same#13:u!3@300 of @200 end#14!3=1");
}

// Each removal was remembered until the next audit: with much coming and going the process was
// ended for its memory.
TEST_F(SourceTaskTest, NoMoreIsRememberedThanThereIsRoomFor) {
    make(1, 3);
    steps(1);
    const auto audit = [&](std::uint64_t version) {
        const std::size_t before = records().size();
        connector_.say(epoch_begins(version));
        for (const char* uid : {"u", "v"}) connector_.say(listed(pod("a", uid, version)));
        connector_.say(epoch_ends());
        steps(1);
        return said(0, before);
    };
    audit(5);
    EXPECT_NE(audit(10).find("same"), std::string::npos);
    connector_.say(gone(pod("b", "w", 11), 11)).say(gone(pod("c", "x", 12), 12));
    steps(1);
    EXPECT_EQ(audit(20).find("same"), std::string::npos) << "told in full";
    EXPECT_NE(audit(30).find("same"), std::string::npos);
}

TEST_F(SourceTaskTest, WhatReadersMayNotHaveIsToldInFull) {
    make();
    std::uint64_t version = 0;
    const auto audit = [&] {
        const std::size_t before = records().size();
        version += 10;
        connector_.say(epoch_begins(version));
        connector_.say(listed(pod("a", "u", version))).say(epoch_ends());
        EXPECT_TRUE(step().ok());
        return said(0, before).find("same") != std::string::npos;
    };
    EXPECT_FALSE(audit());
    EXPECT_TRUE(audit());
    task_->list_again();
    EXPECT_FALSE(audit()) << "somebody missed something";
    EXPECT_TRUE(audit());
    connector_.say(epoch_begins(version)).say(epoch_ends());
    EXPECT_FALSE(audit()) << "an epoch without it took it away";
    connector_.say(gone(pod("a", "u", version), version));
    EXPECT_FALSE(audit()) << "it was gone";
    connector_.say(pod("a", "u", version + 1, "Failed"));
    EXPECT_FALSE(audit()) << "it is another one than was told last";
    Fact part = pod("a", "u", version + 1);
    part.object = ObjectBuilder().add("name", "a").add_unchanged("phase").take();
    connector_.say(part);
    EXPECT_FALSE(audit()) << "only a part was told";
    connector_.fenced = true;
    steps(1);
    pass(Millis{500});
    EXPECT_FALSE(audit()) << "another incarnation";
}

TEST_F(SourceTaskTest, Guard_4_4_AMarkerIsAppendedBeforeAnythingIsAskedAndItsTimeHandedBack) {
    make();
    steps(2);
    connector_.say(pod("a", "a", 5)).say(fact(Fact::Kind::kMarker)).say(pod("b", "b", 6));
    log_.hold_appends();
    steps(1);
    EXPECT_TRUE(connector_.markers.empty()) << "nobody knows its time yet";
    pass(Millis{70});
    const BrokerTime appended = log_.now();
    log_.release_appends();
    pass(Millis{1'000});
    steps(1);
    ASSERT_EQ(connector_.markers.size(), 1U);
    EXPECT_EQ(connector_.markers[0], appended);
    connector_.say(progress(connector_.markers[0]));
    steps(2);
    EXPECT_EQ(said(0, 2), "upsert#2:a marker#3 upsert#4:b progress#5");
}

TEST_F(SourceTaskTest, MarkersOfSeveralRoundsComeBackInOrder) {
    make(3);
    steps(2);
    std::vector<BrokerTime> times;
    for (int i = 0; i < 3; ++i) {
        connector_.say(pod("a" + std::to_string(i), "a", 5)).say(fact(Fact::Kind::kMarker));
        pass(Millis{10});
        times.push_back(log_.now());
        steps(1);
    }
    steps(2);
    EXPECT_EQ(connector_.markers, times);
}

TEST_F(SourceTaskTest, ConfirmsOnlyWhatIsDurableInEveryPartition_Design4_2) {
    make(2);
    steps(2);
    connector_.say(confirm(1));
    steps(1);
    EXPECT_EQ(connector_.confirmed, (std::vector<std::uint64_t>{1})) << "nothing lies before it";
    log_.hold_appends();
    for (int i = 0; i < 8; ++i) connector_.say(pod("w" + std::to_string(i), "u", 5));
    connector_.say(confirm(2)).say(confirm(3));
    steps(1);
    EXPECT_EQ(connector_.confirmed.size(), 1U);
    log_.release_appends();
    steps(1);
    EXPECT_EQ(connector_.confirmed.back(), 3U);
}

TEST_F(SourceTaskTest, Guard_4_2_AFailedAppendEndsTheIncarnationBeforeAnythingIsReported) {
    make();
    steps(2);
    log_.fail_next_append(false, kTopic);
    connector_.say(pod("lost", "u", 5)).say(confirm(9)).say(fact(Fact::Kind::kMarker));
    steps(1);
    const Status told = step();
    ASSERT_FALSE(told.ok());
    EXPECT_EQ(told.error().next, Next::kRetry);
    EXPECT_EQ(task_->incarnation(), kNoOffset);
    EXPECT_TRUE(connector_.confirmed.empty()) << "what was not stored must be sent again";
    EXPECT_TRUE(connector_.markers.empty());
    const int machine_steps = connector_.steps;
    steps(3);
    EXPECT_EQ(connector_.steps, machine_steps) << "the pause comes first";
    pass(Millis{500});
    connector_.say(pod("again", "u", 5));
    steps(2);
    EXPECT_EQ(connector_.restarts, 2);
    EXPECT_EQ(task_->incarnations(), 2U);
    const Incarnation token = task_->incarnation();
    const std::vector<StoredRecord> all = records();
    EXPECT_EQ(said(0, all.size() - 3), "start@" + std::to_string(token.value()) + " owner/" +
                                           std::to_string(token.value()) + "#1 upsert#2:u");
}

TEST_F(SourceTaskTest, AnAppendThatFailedAndWasStoredEndsTheIncarnationToo_C3) {
    make();
    steps(2);
    log_.fail_next_append(true, kTopic);
    connector_.say(pod("a", "u", 5)).say(confirm(4));
    steps(1);
    EXPECT_FALSE(step().ok());
    EXPECT_TRUE(connector_.confirmed.empty());
    pass(Millis{500});
    steps(2);
    EXPECT_EQ(said(), "start@0 owner/0#1 upsert#2:u start@3 owner/3#1");
}

TEST_F(SourceTaskTest, AFencedMachineGetsANewIncarnation_S13_S14) {
    make();
    steps(2);
    connector_.say(epoch_begins(3)).say(epoch_ends());
    steps(1);
    connector_.fenced = true;
    steps(1);
    EXPECT_EQ(task_->incarnation(), kNoOffset);
    pass(Millis{500});
    connector_.say(epoch_begins(3));
    steps(2);
    EXPECT_EQ(connector_.restarts, 2);
    EXPECT_EQ(said(), "start@0 owner/0#1 begin#2!1 end#3!1=0 start@4 owner/4#1 begin#2!1");
}

/// A second task of the same source, as another process has it.
class Rival {
  public:
    Rival(MemoryLog& log, ManualClock& clock) : clock_(clock) {
        SourceTaskSettings settings;
        settings.source = "pods";
        settings.topic = kTopic;
        settings.nonce_seed = 1'000;
        task_ = std::make_unique<SourceTask>(settings, log, connector_);
    }
    void say(const Fact& fact) {
        connector_.say(fact);
        step();
        step();
    }
    void step() { EXPECT_TRUE(task_->step(clock_.steady_now(), Millis{0}).ok()); }
    bool stands_by() const { return task_->stands_by(); }

  private:
    ManualClock& clock_;
    ScriptedConnector connector_;
    std::unique_ptr<SourceTask> task_;
};

// A source stayed silent for ever once a second connector of it had come and gone.
TEST_F(SourceTaskTest, StandsByForALaterOwnerAndTakesOverWhenThatIsSilent_Design4_3_S12) {
    make();
    steps(2);
    Rival rival(log_, clock_);
    rival.step();
    EXPECT_FALSE(task_->stands_by()) << "who has said nothing cannot know";
    connector_.say(progress(BrokerTime(Millis{1})));
    steps(3);
    EXPECT_TRUE(task_->stands_by());
    EXPECT_EQ(connector_.restarts, 2) << "the calls of its machine have ended";
    const int before = connector_.steps;
    for (int i = 0; i < 10; ++i) {
        pass(Millis{20'000});
        rival.say(progress(BrokerTime(Millis{2})));
        steps(1);
    }
    EXPECT_TRUE(task_->stands_by()) << "the owner speaks";
    EXPECT_EQ(connector_.steps, before);
    pass(Millis{44'000});
    steps(1);
    EXPECT_TRUE(task_->stands_by());
    pass(Millis{1'000});
    steps(2);
    EXPECT_FALSE(task_->stands_by());
    EXPECT_GT(task_->incarnation(), kFirstOffset);
    rival.say(progress(BrokerTime(Millis{3})));
    rival.step();
    EXPECT_TRUE(rival.stands_by()) << "one that slept finds another owner";
}

TEST_F(SourceTaskTest, ATokenOfOurOwnThatCameLateIsFollowedByAnother_C3) {
    make();
    log_.fail_next_append(true);
    EXPECT_FALSE(step().ok());  // it is stored, and the answer is lost
    const std::string late = records().front().value;
    pass(Millis{1'000});
    steps(2);
    const Incarnation used = task_->incarnation();
    ASSERT_TRUE(ports::append_now(log_, {kTopic, PartitionNumber(0)}, {{"pods", late, {}}}).ok());
    connector_.say(progress(BrokerTime(Millis{1})));
    steps(4);
    pass(Millis{500});
    steps(2);
    EXPECT_FALSE(task_->stands_by()) << "nobody else is there to wait for";
    EXPECT_GT(task_->incarnation(), next(used));
}

TEST_F(SourceTaskTest, AnOversizedObjectIsReplacedByItsHash_Design3) {
    make();
    steps(1);
    Fact large = pod("a", "u", 5);
    large.object = ObjectBuilder().add("blob", std::string(codec::kMaxItemBytes, 'x')).take();
    connector_.say(large);
    steps(2);
    const StoredRecord record = records().back();
    EXPECT_LT(record.value.size(), 1'000U);
    const auto change = codec::decode_change(record.value);
    ASSERT_TRUE(change.ok());
    const ObjectView object(change->object);
    EXPECT_TRUE(object.is("oversized", "true"));
    EXPECT_EQ(object.text("xxh3"), to_hex(hash128(large.object)));
    EXPECT_EQ(change->object_id, "u");
}

/// A log whose answers are never ready, though they come to whoever waits for them.
class SlowLog final : public trueup::testing::WrappedLog {
  public:
    using WrappedLog::WrappedLog;
    std::unique_ptr<ports::PendingAppend> append(ports::Partition partition,
                                                 const ports::Entries& entries) override {
        auto pending = std::make_unique<Pending>();
        pending->below = WrappedLog::append(partition, entries);
        return pending;
    }

  private:
    struct Pending final : ports::PendingAppend {
        bool ready() const override { return false; }
        Result<ports::Appended> take() override { return below->take(); }
        std::unique_ptr<ports::PendingAppend> below;
    };
};

TEST_F(SourceTaskTest, ASlowLogHoldsTheSourceBackAtFourAppends) {
    SlowLog slow(log_);
    SourceTaskSettings settings;
    settings.source = "pods";
    settings.topic = kTopic;
    SourceTask task(settings, slow, connector_);
    const auto step_once = [&] { return task.step(clock_.steady_now(), Millis{0}).ok(); };
    int machine_steps = 0;
    ASSERT_TRUE(step_once());  // waits for the owner's append
    for (int i = 0; i < 4; ++i) {
        connector_.say(pod("a", "u", 5));
        ASSERT_TRUE(step_once());
        EXPECT_EQ(connector_.steps, ++machine_steps);
    }
    connector_.say(pod("last", "u", 6));
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(step_once());  // four are out: it waits for the oldest and lets the machine be
        EXPECT_EQ(connector_.steps, machine_steps);
        ASSERT_TRUE(step_once());
        EXPECT_EQ(connector_.steps, ++machine_steps);
        connector_.say(pod("more", "u", 7));
    }
    ASSERT_TRUE(task.drain().ok());
    EXPECT_EQ(task.published(), 8U);
}

// A source that was well was quarantined as one that went back in time: its new owner had listed
// before its first record was in the log, and the former one told of a newer version in between.
TEST_F(SourceTaskTest, ListsOnceNothingOfTheFormerOwnerCanComeBeforeItsOwn_S12) {
    SlowLog slow(log_);
    SourceTaskSettings settings;
    settings.source = "pods";
    settings.topic = kTopic;
    settings.partitions = 2;
    SourceTask task(settings, slow, connector_);
    for (int appended = 0; appended < 2; ++appended) {
        ASSERT_TRUE(task.step(clock_.steady_now(), Millis{0}).ok());
        EXPECT_EQ(connector_.restarts, 0) << "after " << appended << " of 2 appends";
        EXPECT_EQ(connector_.steps, 0);
    }
    ASSERT_TRUE(task.step(clock_.steady_now(), Millis{0}).ok());
    EXPECT_EQ(connector_.restarts, 1);
    EXPECT_EQ(connector_.steps, 1);
}

TEST_F(SourceTaskTest, AHugeBatchIsCutIntoAppendsWithoutAHoleInSeq) {
    make();
    steps(2);
    for (int i = 0; i < 4'500; ++i) connector_.say(pod("a" + std::to_string(i), "u", 5));
    steps(1);
    ASSERT_TRUE(task_->drain().ok());
    EXPECT_EQ(records().size(), 4'502U);
    EXPECT_EQ(said(0, 4'501), "upsert#4501:u");
}

}  // namespace
}  // namespace trueup::runtime::testing
