#include "tests/engine/runtime/shard_fixture.h"

#include "engine/codec/command_codec.h"
#include "engine/codec/finding_codec.h"
#include "engine/codec/outcome_codec.h"
#include "sandbox/wiring/demo_policy.h"
#include "tests/support/keys.h"

#include <gtest/gtest.h>

namespace trueup::runtime::testing {

namespace {

constexpr int kMostRounds = 10'000;

std::string name_of_object(std::mt19937_64& random) {
    return "wrapper-" + std::to_string(random() % 6);
}

}  // namespace

Settings demo_policy() {
    Settings settings = sandbox::demo_policy();
    settings.max_clock_step = Millis{2'000};
    return settings;
}

std::vector<Command> commands_in(const MemoryLog& log) {
    std::vector<Command> commands;
    for (const StoredRecord& record : log.records({Topic::kCommands, PartitionNumber(0)})) {
        auto command = codec::decode_command(record.value);
        EXPECT_TRUE(command.ok());
        if (command) commands.push_back(std::move(*command));
    }
    return commands;
}

std::vector<FindingEdge> findings_in(const MemoryLog& log) {
    std::vector<FindingEdge> edges;
    for (const StoredRecord& record : log.records({Topic::kFindings, PartitionNumber(0)})) {
        auto edge = codec::decode_finding(record.value);
        EXPECT_TRUE(edge.ok());
        if (edge) edges.push_back(std::move(*edge));
    }
    return edges;
}

std::unique_ptr<MemoryLog> copy_of(const MemoryLog& log) {
    auto copy = std::make_unique<MemoryLog>();
    for (std::uint8_t topic = 1; topic < kTopics; ++topic) {
        const ports::Partition where{static_cast<Topic>(topic), PartitionNumber(0)};
        for (StoredRecord& record : log.records(where)) {
            copy->set_now(record.append_time);
            const auto appended = ports::append_now(
                *copy, where,
                {{std::move(record.key), std::move(record.value), std::move(record.headers)}});
            EXPECT_EQ(appended->first_offset, record.offset);
        }
    }
    copy->set_now(log.now());
    return copy;
}

std::unique_ptr<projections::MemoryStore> copy_of(projections::MemoryStore& store) {
    auto copy = std::make_unique<projections::MemoryStore>();
    ports::StoreBatch batch;
    const auto rows = store.scan({}, {}, 1'000'000);
    for (const auto& [key, value] : *rows) batch.put(key, value);
    EXPECT_TRUE(copy->apply(batch).ok());
    return copy;
}

ShardFixture::ShardFixture() {
    SourceTaskSettings task;
    task.source = "pods";
    task.topic = Topic::kChangesPods;
    pods_task_ = std::make_unique<SourceTask>(task, log, pods);
    task.source = "rows";
    task.topic = Topic::kChangesRows;
    rows_task_ = std::make_unique<SourceTask>(task, log, rows);
    settings.policy = demo_policy();
    settings.new_journal_id = JournalId({7, 7});
    settings.jobs = std::launch::deferred;
    settings.request_keys = settings.command_keys = trueup::testing::test_keys();
}

void ShardFixture::pass(Millis by) {
    clock.advance(by);
    log.advance(by);
}

std::unique_ptr<Shard> ShardFixture::open(ports::Store* other_store) {
    ports::Store& over = other_store != nullptr ? *other_store : store;
    auto shard = Shard::open(settings, log, over, clock);
    EXPECT_TRUE(shard.ok()) << shard.error().what;
    return shard ? std::move(*shard) : nullptr;
}

std::unique_ptr<Shard> ShardFixture::follow(ports::Store& other_store) {
    ShardSettings follower = settings;
    follower.lead = false;
    auto shard = Shard::open(follower, log, other_store, clock);
    EXPECT_TRUE(shard.ok()) << shard.error().what;
    return shard ? std::move(*shard) : nullptr;
}

void ShardFixture::publish() {
    for (SourceTask* task : {pods_task_.get(), rows_task_.get()}) {
        // The second round takes the answers of the first.
        for (int i = 0; i < 2; ++i) {
            const Status stepped = task->step(clock.steady_now(), Millis{0});
            EXPECT_TRUE(stepped.ok()) << stepped.error().what;
        }
    }
}

void ShardFixture::all_known(std::vector<Fact> pods_listed, std::vector<Fact> rows_listed) {
    const auto epoch = [&](ScriptedConnector& source, std::vector<Fact>& facts) {
        source.say(epoch_begins(version_));
        for (Fact& each : facts) source.say(listed(std::move(each)));
        source.say(epoch_ends()).say(progress(log.now()));
    };
    epoch(pods, pods_listed);
    epoch(rows, rows_listed);
    publish();
}

void ShardFixture::all_progress() {
    pods.say(progress(log.now()));
    rows.say(progress(log.now()));
    publish();
}

void ShardFixture::answer(const Command& command, OutcomeKind kind) {
    Outcome outcome;
    outcome.command_id = command.id;
    outcome.subject = command.subject;
    outcome.kind = kind;
    outcome.executor = "fixture";
    EXPECT_TRUE(ports::append_now(log, {Topic::kOutcomes, PartitionNumber(0)},
                                  {{command.subject, codec::encode_outcome(outcome)}})
                    .ok());
}

void ShardFixture::settle(Shard& shard) {
    for (int i = 0; i < kMostRounds; ++i) {
        const auto busy = shard.step();
        if (!busy) {
            ASSERT_EQ(busy.error().next, Next::kRetry) << busy.error().what;
            continue;
        }
        const auto journal = log.describe({Topic::kJournal, PartitionNumber(0)});
        if (!journal.ok()) continue;  // the read that was to fail hit this look at the journal
        if (!*busy && next(shard.state().meta.applied) >= journal->next_offset) return;
    }
    FAIL() << "the shard never comes to rest";
}

void ShardFixture::live(Shard& shard, Millis time, Millis per_step) {
    Millis said{0};
    for (Millis passed{0}; passed < time && !::testing::Test::HasFatalFailure();
         passed += per_step) {
        pass(per_step);
        if (passed - said >= Millis{1'000}) {
            all_progress();
            said = passed;
        }
        settle(shard);
    }
}

void ShardFixture::random_object(std::mt19937_64& random) {
    const std::string name = name_of_object(random);
    const bool is_pod = random() % 2 == 0;
    std::set<std::string>& there = is_pod ? pods_there_ : rows_there_;
    ScriptedConnector& source = is_pod ? pods : rows;
    const Fact object =
        is_pod ? pod(name, "uid-" + name, ++version_, random() % 4 == 0 ? "Failed" : "Running")
               : row(name, "pk-" + name, ++version_);
    if (there.count(name) != 0 && random() % 3 != 0) {
        there.erase(name);
        source.say(gone(object, version_));
    } else {
        there.insert(name);
        source.say(object);
    }
    publish();
}

void ShardFixture::random_epoch(std::mt19937_64& random) {
    const bool of_pods = random() % 2 == 0;
    ScriptedConnector& source = of_pods ? pods : rows;
    source.say(epoch_begins(++version_));
    for (const std::string& name : of_pods ? pods_there_ : rows_there_) {
        source.say(listed(of_pods ? pod(name, "uid-" + name, version_)
                                  : row(name, "pk-" + name, version_)));
    }
    source.say(epoch_ends());
    publish();
}

void ShardFixture::random_act(std::mt19937_64& random) {
    switch (random() % 8) {
        case 0:
        case 1:
        case 2:
            return random_object(random);
        case 3:
            return random_epoch(random);
        case 4:
            for (const Command& command : commands_in(log)) {
                if (random() % 2 == 0 || !answered_.insert(command.id).second) continue;
                answer(command, random() % 4 == 0 ? OutcomeKind::kRefused : OutcomeKind::kDone);
            }
            return;
        default:
            pass(Millis(static_cast<std::int64_t>(random() % 1'900)));
            all_progress();
            return;
    }
}

std::uint64_t ShardFixture::inputs() const {
    std::uint64_t count = 0;
    for (const Topic topic : kInputTopics) count += log.records({topic, PartitionNumber(0)}).size();
    return count;
}

const StoredRecord& ShardFixture::last_of(Topic topic) {
    looked_at_ = log.records({topic, PartitionNumber(0)});
    EXPECT_FALSE(looked_at_.empty());
    return looked_at_.back();
}

core::Meta settled_meta(Shard& shard) {
    const Status stopped = shard.stop();
    EXPECT_TRUE(stopped.ok()) << stopped.error().what;
    return shard.state().meta;
}

core::Meta folded(const ShardSettings& settings, ports::Log& log, ports::Store& store,
                  ports::Clock& clock) {
    ShardSettings follower = settings;
    follower.lead = false;
    auto shard = Shard::open(follower, log, store, clock);
    EXPECT_TRUE(shard.ok()) << shard.error().what;
    if (!shard) return {};
    do {
        EXPECT_TRUE((*shard)->step().ok());
    } while (!(*shard)->status().caught_up && !::testing::Test::HasFailure());
    return settled_meta(**shard);
}

}  // namespace trueup::runtime::testing
