// A command in its slot: started, carried on, and its outcome put into the log.
#include "engine/base/check.h"
#include "engine/base/failpoint.h"
#include "engine/base/guard.h"
#include "engine/codec/cloud_events.h"
#include "engine/codec/outcome_codec.h"
#include "executors/dispatcher_state.h"

#include <utility>

namespace trueup::executors {
namespace {

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
        task.append = log.append({Topic::kOutcomes, task.arrived.partition}, std::move(entries));
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

}  // namespace trueup::executors
