// What a Dispatcher knows: commands that wait, and those in a slot. For dispatcher.cpp and
// dispatcher_tasks.cpp only.
#pragma once

#include "engine/base/mutex.h"
#include "executors/brakes.h"
#include "executors/broker_clock.h"
#include "executors/command_reader.h"
#include "executors/dispatcher.h"
#include "executors/ended_commands.h"
#include "executors/execution.h"
#include "executors/log_write_gate.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace trueup::executors {

/// One command in its slot: first an execution, then an outcome on its way into the log.
struct Task {
    ArrivedCommand arrived;
    std::unique_ptr<Execution> execution;
    std::optional<Outcome> outcome;
    std::unique_ptr<ports::PendingAppend> append;
    SteadyTime append_at{};
    bool append_failed = false;  ///< and may be in the log all the same
};

struct Dispatcher::State {
    State(ports::Log& the_log, Sources sources, DispatcherSettings the_settings);

    bool deliver_answers(SteadyTime now);
    bool take_in(SteadyTime now);
    void accept(ArrivedCommand arrived);
    std::optional<std::string> unfit(const Command& command) const;
    void park(const ParkedCommand& parked);
    bool start_next(SteadyTime now);
    void start(ArrivedCommand arrived, SteadyTime now);
    bool advance(SteadyTime now);
    bool settle(Task& task, SteadyTime now);
    void ended(Task& task);
    void release(const Command& command);
    SteadyTime due(SteadyTime now) const;
    bool clock_wanted(SteadyTime now) const { return !clock.at(now) || !under_way.empty(); }
    void wait(Millis max_wait);
    void wake_ports();
    void publish_stats(SteadyTime now) TRUEUP_EXCLUDES(published_mutex);
    bool ours(PartitionNumber partition) const {
        return !settings.assignment || settings.assignment->has(partition);
    }
    std::size_t pending() const { return under_way.size() - tasks.size(); }

    ports::Log& log;
    const DispatcherSettings settings;
    AsyncCalls calls;
    EndedCommands ended_commands;
    CommandReader reader;
    Brakes brakes;
    BrokerClock clock;
    LogWriteGate gate;
    ExecutionContext context;

    std::set<CommandId> under_way;                             ///< pending and in a slot
    std::map<std::string, std::deque<ArrivedCommand>> queues;  ///< by subject, in order of arrival
    std::deque<std::string> ready;  ///< subjects with a queue and no slot, the oldest first
    std::set<std::string> busy;     ///< subjects with a slot
    Owner next_owner = 1;
    std::map<Owner, Task> tasks;  ///< after `calls`: executions cancel theirs when they go

    DispatcherStats counts;
    mutable Mutex published_mutex;
    DispatcherStats published TRUEUP_GUARDED_BY(published_mutex);

    /// The log's count at the end of the step before, so that what its caller asked for between two
    /// steps (a stop) ends the next wait, too.
    std::uint64_t seen;
    std::atomic<bool> polls{false};                     ///< waits for answers, and not for the log
    std::unique_ptr<ports::Wakeup::Listener> listener;  ///< last: it uses what is above
};

}  // namespace trueup::executors
