#include "executors/dispatcher.h"

#include "engine/base/check.h"
#include "engine/base/failpoint.h"
#include "engine/base/guard.h"
#include "engine/base/mutex.h"
#include "engine/codec/cloud_events.h"
#include "engine/codec/outcome_codec.h"
#include "executors/brakes.h"
#include "executors/broker_clock.h"
#include "executors/execution.h"
#include "executors/log_write_gate.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace trueup::executors {
namespace {

/// After it, what the log did not give is asked for again, and what was blocked tried again.
constexpr Millis kAgain{200};

/// One command in its slot: first an execution, then an outcome on its way into the log.
struct Task {
    ArrivedCommand arrived;
    std::unique_ptr<Execution> execution;
    std::optional<Outcome> outcome;
    std::unique_ptr<ports::PendingAppend> append;
    SteadyTime append_at{};
    bool append_failed = false;  ///< and may be in the log all the same
};

Outcome outcome_of(const Command& command, OutcomeKind kind, std::string reason,
                   const std::string& executor) {
    Outcome outcome;
    outcome.command_id = command.id;
    outcome.subject = command.subject;
    outcome.kind = kind;
    outcome.detail = std::move(reason);
    outcome.executor = executor;
    return outcome;
}

void count(CheckToWrite& histogram, std::int64_t micros) {
    std::size_t bucket = 0;
    while (bucket < CheckToWrite::kBoundsMillis.size() &&
           micros > CheckToWrite::kBoundsMillis[bucket] * 1000) {
        ++bucket;
    }
    ++histogram.counts[bucket];
    ++histogram.count;
    histogram.sum_micros += micros;
}

}  // namespace

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

Dispatcher::State::State(ports::Log& the_log, Sources sources, DispatcherSettings the_settings)
    : log(the_log),
      settings(std::move(the_settings)),
      calls(settings.call_timeout),
      reader(the_log, settings.partitions, settings.longest_expiry + settings.max_broker_skew,
             ended_commands, settings.command_keys),
      brakes(the_log, settings.partitions, settings.request_keys),
      clock(the_log, {Topic::kOutcomes, settings.partitions.front()}, settings.heartbeat_every,
            settings.heartbeat_fresh),
      gate({brakes, clock, ended_commands}, settings.steady_now, settings.before_write),
      context{std::move(sources), &calls, &gate, settings.executor},
      seen(the_log.changes_seen()),
      listener(the_log.listen([this] { wake_ports(); })) {}

bool Dispatcher::State::deliver_answers(SteadyTime now) {
    std::vector<Answer> answers = calls.take(now);
    for (Answer& answer : answers) {
        const auto task = tasks.find(answer.owner);
        if (task == tasks.end() || !task->second.execution) continue;
        task->second.execution->answered(std::move(answer), now);
    }
    return !answers.empty();
}

bool Dispatcher::State::take_in(SteadyTime now) {
    CommandReader::Read read =
        reader.step(clock.at(now), pending() < settings.max_pending, settings.assignment.get());
    counts.skipped += read.skipped;
    counts.unauthenticated += read.unauthenticated;
    for (const ParkedCommand& parked : read.parked) park(parked);
    for (ArrivedCommand& arrived : read.commands) accept(std::move(arrived));
    return read.moved;
}

void Dispatcher::State::park(const ParkedCommand& parked) {
    ++counts.parked;
    if (settings.on_parked) settings.on_parked(parked);
}

std::optional<std::string> Dispatcher::State::unfit(const Command& command) const {
    const std::string& source = command.draft.target.source;
    bool known = false;
    switch (command.draft.action.kind) {
        case Action::Kind::kDeletePod:
        case Action::Kind::kDeleteObject:
            known = context.sources.pods.count(source) != 0;
            break;
        case Action::Kind::kUpdateRow:
            known = context.sources.rows.count(source) != 0;
            break;
        case Action::Kind::kVerifyGone:
        case Action::Kind::kCreatePod:
        case Action::Kind::kCreateObject:
        case Action::Kind::kRetractRecord:
        case Action::Kind::kUnspecified:
            return "this executor does not know the action " +
                   std::string(name_of(command.draft.action.kind));
    }
    if (known) return std::nullopt;
    return "this executor has no source " + source + " for " +
           std::string(name_of(command.draft.action.kind));
}

void Dispatcher::State::accept(ArrivedCommand arrived) {
    const Command& command = arrived.command;
    const auto& kinds = settings.kinds;
    const bool meant = kinds.empty() || std::find(kinds.begin(), kinds.end(),
                                                  command.draft.action.kind) != kinds.end();
    if (!meant) return;  // another executor's
    if (const auto why = unfit(command)) {
        park({arrived.partition, arrived.offset, to_hex(command.id) + ": " + *why});
        return;
    }
    if (TRUEUP_GUARD("ledger") && ended_commands.knows(command.id)) {
        ++counts.known;
        return;
    }
    if (!under_way.insert(command.id).second) {
        ++counts.duplicates;
        return;
    }
    const std::string subject = command.subject;
    std::deque<ArrivedCommand>& queue = queues[subject];
    queue.push_back(std::move(arrived));
    if (queue.size() == 1 && busy.count(subject) == 0) ready.push_back(subject);
}

bool Dispatcher::State::start_next(SteadyTime now) {
    bool started = false;
    while (!ready.empty() && tasks.size() < settings.max_running && clock.fresh(now)) {
        const auto queue = queues.find(ready.front());
        ready.pop_front();
        TRUEUP_CHECK(queue != queues.end() && !queue->second.empty());
        if (!ours(queue->second.front().partition)) {
            // Another one's since it came in. Should it be ours again, it is read again.
            for (const ArrivedCommand& other : queue->second) under_way.erase(other.command.id);
            queues.erase(queue);
            continue;
        }
        busy.insert(queue->first);
        ArrivedCommand arrived = std::move(queue->second.front());
        queue->second.pop_front();
        if (queue->second.empty()) queues.erase(queue);
        start(std::move(arrived), now);
        started = true;
    }
    return started;
}

void Dispatcher::State::start(ArrivedCommand arrived, SteadyTime now) {
    const Command& command = arrived.command;
    if (TRUEUP_GUARD("ledger") && ended_commands.knows(command.id)) {
        ++counts.known;
        under_way.erase(command.id);
        release(command);
        return;
    }
    const BrokerTime broker_now = *clock.at(now);
    const Owner owner = next_owner++;
    Task& task = tasks[owner];
    if (broker_now > command.not_after) {
        task.outcome =
            outcome_of(command, OutcomeKind::kExpired,
                       "expired before it was started; nothing was written", settings.executor);
    } else if (command.not_after - broker_now >
               settings.longest_expiry + settings.max_broker_skew) {
        task.outcome = outcome_of(command, OutcomeKind::kFailed,
                                  "expires later than the executor remembers ended commands",
                                  settings.executor);
    } else {
        task.execution = std::make_unique<Execution>(owner, command, arrived.partition, context);
    }
    task.arrived = std::move(arrived);
    if (task.execution) task.execution->advance(now);
}

bool Dispatcher::State::advance(SteadyTime now) {
    bool moved = false;
    for (auto it = tasks.begin(); it != tasks.end();) {
        Task& task = it->second;
        if (task.execution) {
            task.execution->advance(now);
            if (task.execution->outcome()) {
                task.outcome = task.execution->outcome();
                task.execution.reset();
            }
        }
        if (!task.outcome || !settle(task, now)) {
            ++it;
            continue;
        }
        ended(task);
        it = tasks.erase(it);
        moved = true;
    }
    return moved;
}

// True once the outcome is in the log. A result of the append that is unknown is repeated: two
// equal outcomes do no harm, a missing one does.
bool Dispatcher::State::settle(Task& task, SteadyTime now) {
    const CommandId& id = task.outcome->command_id;
    if (!task.append) {
        if (now < task.append_at) return false;
        // Ours may be in the log already, or somebody else's is; but that we wrote is always said.
        const bool said = task.append_failed || task.outcome->kind != OutcomeKind::kDone;
        if (TRUEUP_GUARD("ledger") && said && ended_commands.knows(id)) return true;
        if (task.outcome->kind == OutcomeKind::kDone) TRUEUP_FAILPOINT("done");
        ports::Entry entry{task.outcome->subject, codec::encode_outcome(*task.outcome),
                           codec::headers_for(*task.outcome, clock.at(now))};
        std::vector<ports::Entry> entries;
        entries.push_back(std::move(entry));
        task.append = log.append({Topic::kOutcomes, task.arrived.partition}, entries);
    }
    if (!task.append->ready()) return false;
    const Result<ports::Appended> appended = task.append->take();
    task.append.reset();
    if (!appended) {
        ++counts.append_failures;
        task.append_failed = true;
        task.append_at = now + settings.append_again;
        return false;
    }
    ended_commands.remember(id, appended.value().append_time);
    return true;
}

void Dispatcher::State::ended(Task& task) {
    const Outcome& outcome = *task.outcome;
    ++counts.outcomes[static_cast<std::size_t>(outcome.kind)];
    if (!outcome.final()) ++counts.failed_retryable;
    if (outcome.kind == OutcomeKind::kDone) {
        count(counts.check_to_write, outcome.check_to_write_micros);
    }
    if (settings.on_outcome) settings.on_outcome(task.arrived.command, outcome);
    under_way.erase(task.arrived.command.id);
    release(task.arrived.command);
}

void Dispatcher::State::release(const Command& command) {
    busy.erase(command.subject);
    if (queues.count(command.subject) != 0) ready.push_back(command.subject);
}

/// When there is something to do even if neither the log nor a port has news.
SteadyTime Dispatcher::State::due(SteadyTime now) const {
    SteadyTime due = clock.due(now, clock_wanted(now));
    const auto sooner = [&due](SteadyTime at) { due = std::min(due, at); };
    if (const auto late = calls.due()) sooner(*late);
    const bool unread = !reader.ended_known() || !reader.trouble().empty();
    if (unread || !brakes.trouble().empty()) sooner(now + kAgain);
    for (const auto& [owner, task] : tasks) {
        if (task.execution && task.execution->blocked()) sooner(now + kAgain);
        if (task.outcome && !task.append) sooner(task.append_at);
    }
    return due;
}

void Dispatcher::State::wait(Millis max_wait) {
    if (!calls.waiting()) {
        if (max_wait > Millis(0)) log.wait(seen, max_wait);
        return;
    }
    // In this order: news that comes behind the look wakes the port.
    polls = true;
    calls.poll(log.changes_seen() == seen ? max_wait : Millis(0));
    polls = false;
}

/// By the log's threads: there is news, perhaps for other subjects.
void Dispatcher::State::wake_ports() {
    if (!polls) return;
    for (const auto& [name, source] : context.sources.pods) {
        source.cluster->wake();
        if (source.writer != nullptr) source.writer->wake();
    }
    for (const auto& [name, source] : context.sources.rows) {
        source.database->wake();
        if (source.writer != nullptr) source.writer->wake();
    }
}

void Dispatcher::State::publish_stats(SteadyTime now) {
    counts.pending = pending();
    counts.running = tasks.size();
    counts.blocked =
        static_cast<std::uint64_t>(std::count_if(tasks.begin(), tasks.end(), [](const auto& entry) {
            return entry.second.execution && entry.second.execution->blocked();
        }));
    counts.ended_known = reader.ended_known();
    counts.clock_fresh = clock.fresh(now);
    counts.partitions = static_cast<std::uint64_t>(
        std::count_if(settings.partitions.begin(), settings.partitions.end(),
                      [this](PartitionNumber p) { return ours(p); }));
    counts.trouble = reader.trouble().empty() ? brakes.trouble() : reader.trouble();
    if (counts.trouble.empty() && settings.assignment)
        counts.trouble = settings.assignment->trouble();
    const MutexLock lock(published_mutex);
    published = counts;
}

Dispatcher::Dispatcher(ports::Log& log, Sources sources, DispatcherSettings settings) {
    TRUEUP_CHECK(!settings.partitions.empty() && settings.max_running > 0);
    state_ = std::make_unique<State>(log, std::move(sources), std::move(settings));
}

Dispatcher::~Dispatcher() = default;

void Dispatcher::step(SteadyTime now, Millis max_wait) {
    State& state = *state_;
    bool moved = state.deliver_answers(now);
    moved |= state.brakes.step();
    if (!state.gate.closed()) moved |= state.take_in(now);
    moved |= state.clock.step(now, state.clock_wanted(now));
    if (!state.gate.closed()) moved |= state.start_next(now);
    moved |= state.advance(now);
    state.publish_stats(now);
    const Millis limit = std::min(max_wait, std::max(state.due(now) - now, Millis(0)));
    state.wait(moved ? Millis(0) : limit);
    state.seen = state.log.changes_seen();
}

void Dispatcher::found(const std::string& source, std::string doubt,
                       std::vector<std::string> pk_columns) {
    Sources& sources = state_->context.sources;
    if (const auto pods = sources.pods.find(source); pods != sources.pods.end()) {
        pods->second.doubt = std::move(doubt);
    } else if (const auto rows = sources.rows.find(source); rows != sources.rows.end()) {
        rows->second.doubt = std::move(doubt);
        rows->second.pk_columns = std::move(pk_columns);
    }
}

void Dispatcher::close() { state_->gate.close(); }

std::size_t Dispatcher::unsettled() const {
    const auto open = [](const auto& entry) {
        const Task& task = entry.second;
        return task.outcome.has_value() || (task.execution && task.execution->writing());
    };
    return static_cast<std::size_t>(
        std::count_if(state_->tasks.begin(), state_->tasks.end(), open));
}

DispatcherStats Dispatcher::stats() const {
    const MutexLock lock(state_->published_mutex);
    return state_->published;
}

}  // namespace trueup::executors
