// One shard between two scripted sources, over a log and a store in memory, in a time that the test
// moves. What the sources say goes through real source tasks, so everything is enveloped as in
// production.
#pragma once

#include "engine/model/command.h"
#include "engine/model/fact.h"
#include "engine/model/finding_edge.h"
#include "engine/runtime/shard.h"
#include "engine/runtime/source_task.h"
#include "projections/memory_store.h"
#include "tests/engine/runtime/scripted_connector.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_log.h"

#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace trueup::runtime::testing {

using trueup::testing::ManualClock;
using trueup::testing::MemoryLog;
using trueup::testing::StoredRecord;

/// The policy of sandbox/wiring/demo_policy.h with room for steps of 2 s.
Settings demo_policy();

inline ports::Partition partition(Topic topic, std::int32_t index = 0) {
    return {topic, PartitionNumber(index)};
}

/// What the relay published, in order.
std::vector<Command> commands_in(const MemoryLog& log);
std::vector<FindingEdge> findings_in(const MemoryLog& log);

/// The same records at the same offsets and times. Only for logs without skipped offsets.
std::unique_ptr<MemoryLog> copy_of(const MemoryLog& log);
std::unique_ptr<projections::MemoryStore> copy_of(projections::MemoryStore& store);

class ShardFixture {
  public:
    ShardFixture();

    ManualClock clock;
    MemoryLog log;
    projections::MemoryStore store;
    ScriptedConnector pods;
    ScriptedConnector rows;
    ShardSettings settings;

    void pass(Millis by);
    /// Opens a shard over the fixture's log; over its store unless another one is given. Fails the
    /// test if it cannot be opened.
    std::unique_ptr<Shard> open(ports::Store* other_store = nullptr);
    /// The same as a follower.
    std::unique_ptr<Shard> follow(ports::Store& other_store);

    /// Lets the sources append what they were told to say.
    void publish();
    /// Both sources say that they hold exactly this, and that they are complete as of now.
    void all_known(std::vector<Fact> pods_listed, std::vector<Fact> rows_listed);
    void all_progress();
    /// Appends the outcome of a command.
    void answer(const Command& command, OutcomeKind kind = OutcomeKind::kDone);

    /// Steps until the shard has nothing to do and has folded the whole journal. Errors that may be
    /// retried are, others fail the test.
    void settle(Shard& shard);
    /// `settle` and `pass` in turn, with progress of both sources each second.
    void live(Shard& shard, Millis time, Millis per_step = Millis{100});

    /// One random event: a pod or row comes, changes, goes; an epoch; progress; time; an answer.
    void random_act(std::mt19937_64& random);

    std::uint64_t inputs() const;  ///< records in all input topics
    const StoredRecord& last_of(Topic topic);

  private:
    void random_object(std::mt19937_64& random);
    void random_epoch(std::mt19937_64& random);

    std::unique_ptr<SourceTask> pods_task_;
    std::unique_ptr<SourceTask> rows_task_;
    std::uint64_t version_ = 10;
    std::set<std::string> pods_there_;  ///< names, of the random acts
    std::set<std::string> rows_there_;
    std::set<CommandId> answered_;
    std::vector<StoredRecord> looked_at_;
};

/// The sum of a shard's state in one comparable value, with every dirty row written.
core::Meta settled_meta(Shard& shard);
/// What a follower knows after folding the whole journal of `log`, from `store` on.
core::Meta folded(const ShardSettings& settings, ports::Log& log, ports::Store& store,
                  ports::Clock& clock);

}  // namespace trueup::runtime::testing
