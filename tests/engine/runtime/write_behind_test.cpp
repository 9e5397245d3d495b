// Proves design §6: rows are written behind the fold, on another thread, and nobody reads older
// ones meanwhile.
#include "tests/engine/runtime/shard_fixture.h"
#include "tests/engine/runtime/wrapped_store.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <mutex>

namespace trueup::runtime::testing {
namespace {

/// Holds batches until they are let through.
class Gate {
  public:
    Status pass() {
        std::unique_lock lock(mutex_);
        ++waiting_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return open_; });
        return Done{};
    }
    void wait_for_batch() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return waiting_ > 0; });
    }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int waiting_ = 0;
    bool open_ = false;
};

TEST(WriteBehind, TheFoldGoesOnWhileABatchIsApplied) {
    ShardFixture fixture;
    Gate gate;
    WrappedStore store;
    fixture.settings.jobs = std::launch::async;
    fixture.settings.write_behind_every = Millis{100};
    auto shard = fixture.open(&store);
    store.before_apply = [&] { return gate.pass(); };
    fixture.all_known({pod("a", "u", 5)}, {});
    fixture.pass(Millis{150});
    fixture.settle(*shard);
    gate.wait_for_batch();
    fixture.pods.say(pod("a", "u", 6));
    fixture.publish();
    fixture.settle(*shard);
    EXPECT_EQ(shard->state().meta.subjects, 1U);
    EXPECT_EQ(shard->state().meta.counters.holes, 0U);
    const Offset folded_to = shard->state().meta.applied;
    EXPECT_FALSE(store.below.get({"\0\0m", 3})->has_value()) << "the first batch is not there yet";
    gate.open();
    ASSERT_TRUE(shard->stop().ok());
    EXPECT_GE(shard->state().meta.applied, folded_to);
    projections::MemoryStore fresh;
    EXPECT_EQ(folded(fixture.settings, fixture.log, store.below, fixture.clock),
              folded(fixture.settings, fixture.log, fresh, fixture.clock));
}

TEST(WriteBehind, ARowThatIsBeingWrittenIsReadOnceItIsThere_C2) {
    ShardFixture fixture;
    WrappedStore store;
    std::mutex mutex;
    std::condition_variable read;
    bool asked = false;
    bool applying = false;
    fixture.settings.jobs = std::launch::async;
    fixture.settings.cache_bytes = 1;  // nothing stays in memory that is in the store
    fixture.settings.write_behind_every = Millis{0};
    auto shard = fixture.open(&store);
    const auto say = [&](const char* name, const char* uid, std::uint64_t version) {
        fixture.pods.say(pod(name, uid, version));
        fixture.publish();
        fixture.settle(*shard);
    };
    fixture.all_known({pod("a", "u", 5), pod("b", "v", 5)}, {});
    fixture.settle(*shard);
    // Gives whoever would read too early the time to do so.
    store.before_apply = [&]() -> Status {
        std::unique_lock lock(mutex);
        applying = true;
        asked = false;
        read.wait_for(lock, std::chrono::milliseconds(20), [&] { return asked; });
        EXPECT_FALSE(asked) << "a row was read while it was being written";
        applying = false;
        return Done{};
    };
    store.before_read = [&] {
        const std::lock_guard lock(mutex);
        asked = applying;
        read.notify_all();
    };
    for (std::uint64_t version = 6; version < 12; ++version) {
        say("a", "u", 2 * version);      // its row goes down ...
        say("b", "v", 2 * version);      // ... out of the cache meanwhile ...
        say("a", "u", 2 * version + 1);  // ... and is wanted again
    }
    ASSERT_TRUE(shard->stop().ok());
    projections::MemoryStore fresh;
    EXPECT_EQ(folded(fixture.settings, fixture.log, store.below, fixture.clock),
              folded(fixture.settings, fixture.log, fresh, fixture.clock));
}

// Where all subjects changed all the time, a fifth of it went into writing each of them again.
TEST(WriteBehind, ComesMoreRarelyWhereItTakesLong) {
    ShardFixture fixture;
    WrappedStore store;
    int batches = 0;
    Millis each{0};
    fixture.settings.write_behind_every = Millis{100};
    auto shard = fixture.open(&store);
    store.before_apply = [&]() -> Status {
        ++batches;
        fixture.pass(each);
        return Done{};
    };
    std::uint64_t version = 5;
    const auto batches_in = [&](Millis time) {
        batches = 0;
        for (Millis passed{0}; passed < time; passed += Millis{20}) {
            fixture.pods.say(pod("a", "u", ++version));
            fixture.publish();
            fixture.settle(*shard);
            fixture.pass(Millis{20});
        }
        return batches;
    };
    fixture.all_known({pod("a", "u", 5)}, {});
    EXPECT_NEAR(batches_in(Millis{4'000}), 40, 8);
    each = Millis{20};
    EXPECT_NEAR(batches_in(Millis{4'000}), 10, 3);
    each = Millis{1'000};  // put off, and not for ever
    EXPECT_NEAR(batches_in(Millis{4'000}), 7, 3);
}

// Symptom: a table that fits into memory with room to spare was written three times in two seconds.
TEST(WriteBehind, ComesBeforeItsTimeOnlyWhereOthersNeedTheRoom) {
    const auto batches_with = [](std::size_t cache_bytes) {
        ShardFixture fixture;
        WrappedStore store;
        int batches = 0;
        fixture.settings.write_behind_every = Millis{1'000'000};
        fixture.settings.write_behind_bytes = 1;
        fixture.settings.cache_bytes = cache_bytes;
        auto shard = fixture.open(&store);
        store.before_apply = [&]() -> Status {
            ++batches;
            return Done{};
        };
        fixture.all_known({pod("a", "u", 5)}, {});
        fixture.settle(*shard);
        return batches;
    };
    EXPECT_EQ(batches_with(std::size_t{1} << 20U), 0);
    EXPECT_GT(batches_with(1), 0);
}

// Design §6: rows and the offset that they belong to go down in one step.
TEST(WriteBehind, OneBatchHasRowsAndTheirOffset_C2) {
    ShardFixture fixture;
    WrappedStore store;
    std::size_t batches = 0;
    auto shard = fixture.open(&store);
    fixture.all_known({pod("a", "u", 5)}, {});
    fixture.settle(*shard);
    store.before_apply = [&]() -> Status {
        ++batches;
        return Done{};
    };
    ASSERT_TRUE(shard->stop().ok());
    EXPECT_EQ(batches, 1U);
}

// A write of rows that failed once was followed by an image whose meta row counted them: the next
// start found rows that did not add up and threw the projection away.
TEST(WriteBehind, ABatchThatFailedEndsTheShardAndLeavesTheOldImage_C2) {
    ShardFixture fixture;
    WrappedStore store;
    fixture.settings.write_behind_every = Millis{100};
    auto shard = fixture.open(&store);
    fixture.settle(*shard);
    fixture.all_known({pod("a", "u", 5)}, {});
    fixture.settle(*shard);
    fixture.pass(Millis{150});
    fixture.settle(*shard);
    fixture.pods.say(pod("b", "v", 6));
    fixture.publish();
    fixture.settle(*shard);
    store.before_apply = [] {
        return Error{Next::kRetry, Code::kExhausted, "no space left on device"};
    };
    fixture.pass(Millis{150});
    const auto stepped = shard->step();
    ASSERT_FALSE(stepped.ok());
    EXPECT_EQ(stepped.error().next, Next::kStop);
    EXPECT_NE(stepped.error().what.find("no space left on device"), std::string::npos);
    store.before_apply = [] { return Done{}; };
    shard.reset();  // a process that stops does not write over it
    projections::MemoryStore fresh;
    const core::Meta whole = folded(fixture.settings, fixture.log, fresh, fixture.clock);
    EXPECT_EQ(folded(fixture.settings, fixture.log, store.below, fixture.clock), whole);
}

/// Symptom: one disk error while the projection was read ended the whole process, connectors and
/// executors with it. `news` needs a row that is in the store only.
void expect_a_failed_read_ends_the_shard_alone(const std::function<void(ShardFixture&)>& news) {
    ShardFixture fixture;
    WrappedStore store;
    fixture.settings.cache_bytes = 1;  // nothing stays in memory that is in the store
    fixture.settings.write_behind_every = Millis{0};
    auto shard = fixture.open(&store);
    fixture.all_known({pod("a", "u", 5), pod("b", "v", 5)}, {});
    fixture.settle(*shard);
    fixture.pods.say(pod("b", "v", 6));
    fixture.publish();
    fixture.settle(*shard);
    const std::size_t commands = commands_in(fixture.log).size();
    const std::size_t findings = findings_in(fixture.log).size();
    store.read_fails =
        Error{Next::kSkip, Code::kCorrupt, "projection /p is damaged (000009.sst: mismatch)"};
    news(fixture);
    Result<bool> stepped = true;
    for (int i = 0; stepped && i < 1'000; ++i) {
        stepped = shard->step();
        fixture.pass(Millis{10});
    }
    ASSERT_FALSE(stepped) << "it went on";
    EXPECT_EQ(stepped.error().next, Next::kStop);
    EXPECT_EQ(stepped.error().what,
              "the projection cannot be read: projection /p is damaged (000009.sst: mismatch)");
    EXPECT_EQ(shard->status().refused, stepped.error().what);
    EXPECT_EQ(commands_in(fixture.log).size(), commands);
    EXPECT_EQ(findings_in(fixture.log).size(), findings) << "it spoke of what it could not read";
    store.read_fails.reset();
    EXPECT_FALSE(shard->stop().ok());
    shard.reset();
    projections::MemoryStore fresh;
    EXPECT_EQ(folded(fixture.settings, fixture.log, store.below, fixture.clock),
              folded(fixture.settings, fixture.log, fresh, fixture.clock))
        << "what was folded over a failed read was written";
}

TEST(FailedRead, OfARowThatAChangeNamesEndsTheShardAlone) {
    expect_a_failed_read_ends_the_shard_alone([](ShardFixture& fixture) {
        fixture.pods.say(pod("a", "u", 7));
        fixture.publish();
    });
}

TEST(FailedRead, OfWhatAnEpochSweepsEndsTheShardAlone) {
    expect_a_failed_read_ends_the_shard_alone(
        [](ShardFixture& fixture) { fixture.all_known({}, {}); });
}

TEST(FailedRead, OfWhatAWaitWakesEndsTheShardAlone) {
    expect_a_failed_read_ends_the_shard_alone([](ShardFixture& fixture) {
        for (int second = 0; second < 300; ++second) {
            fixture.pass(Millis{1'000});
            if (second % 10 == 0) fixture.all_progress();
        }
    });
}

}  // namespace
}  // namespace trueup::runtime::testing
