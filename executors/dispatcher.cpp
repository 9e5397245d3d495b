#include "executors/dispatcher.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/base/mutex.h"
#include "executors/dispatcher_state.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

namespace trueup::executors {

namespace {

/// After it, what the log did not give is asked for again, and what was blocked tried again.
constexpr Millis kAgain{200};

}  // namespace

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
    const std::string action(name_of(command.draft.action.kind));
    if (!carried_out(command.draft.action.kind)) {
        return "this executor does not know the action " + action;
    }
    if (has_target(context.sources, command)) return std::nullopt;
    return "this executor has no source " + command.draft.target.source + " for " + action;
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
