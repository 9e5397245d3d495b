#include "executors/command_reader.h"

#include "engine/base/guard.h"
#include "engine/codec/command_codec.h"
#include "engine/codec/outcome_codec.h"
#include "executors/broker_clock.h"

#include <algorithm>
#include <utility>

namespace trueup::executors {
namespace {

constexpr std::size_t kReadBytes = 1U << 20U;
constexpr int kOutcomeReadsPerStep = 8;

std::string where(Topic topic, PartitionNumber partition) {
    return std::string(name_of(topic)) + '/' + std::to_string(partition.value());
}

}  // namespace

CommandReader::CommandReader(ports::Log& log, const std::vector<PartitionNumber>& partitions,
                             Millis window, EndedCommands& ended, const codec::KeyRing& keys)
    : log_(log), window_(window), ended_(ended), keys_(keys) {
    for (const PartitionNumber partition : partitions) {
        lanes_.emplace_back();
        lanes_.back().index = partition;
    }
}

CommandReader::Read CommandReader::step(std::optional<BrokerTime> broker_now, bool room,
                                        const PartitionAssignment* assignment) {
    trouble_.clear();
    Read read;
    for (Lane& lane : lanes_) {
        if (lane.stopped) {
            trouble_ = where(Topic::kOutcomes, lane.index) +
                       ": retention deleted outcomes before they were read; restart the executor";
            continue;
        }
        if (!lane.placed && !(broker_now && place(lane, *broker_now))) continue;
        const bool ours = assignment == nullptr || assignment->has(lane.index);
        if (!ours) lane.commands.reset();
        const bool known = read_outcomes(lane, broker_now, read) && lane.complete();
        const bool may_act = known || !TRUEUP_GUARD("ledger_first");
        if (may_act && broker_now && room && ours) read_commands(lane, *broker_now, read);
    }
    if (broker_now) ended_.forget_before(*broker_now - window_);
    return read;
}

bool CommandReader::ended_known() const {
    return std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& l) { return l.complete(); });
}

bool CommandReader::place(Lane& lane, BrokerTime broker_now) {
    const ports::Partition partition{Topic::kOutcomes, lane.index};
    const auto failed = [&](const Error& error) {
        trouble_ = where(partition.topic, lane.index) + ": " + error.what;
        return false;
    };
    const auto outcomes = log_.describe(partition);
    if (!outcomes) return failed(outcomes.error());
    const auto begin = log_.offset_at(partition, broker_now - window_);
    if (!begin) return failed(begin.error());
    lane.outcomes = *begin;
    lane.outcomes_end = outcomes->next_offset;
    lane.commands.reset();
    lane.placed = true;
    return true;
}

std::optional<Offset> CommandReader::cut(ports::Partition partition, Offset offset) {
    const auto extent = log_.describe(partition);
    if (!extent || extent.value().first_offset <= offset) return std::nullopt;
    return extent.value().first_offset;
}

bool CommandReader::read_outcomes(Lane& lane, std::optional<BrokerTime> broker_now, Read& read) {
    for (int i = 0; i < kOutcomeReadsPerStep; ++i) {
        if (!log_.may_have({Topic::kOutcomes, lane.index}, lane.outcomes)) return true;
        const auto fetched = log_.read({Topic::kOutcomes, lane.index}, lane.outcomes, kReadBytes);
        if (!fetched) {
            trouble_ = where(Topic::kOutcomes, lane.index) + ": " + fetched.error().what;
            if (!cut({Topic::kOutcomes, lane.index}, lane.outcomes)) return false;
            // Before all that ended is known nothing was acted on: start over. After that: K2.
            lane.stopped = lane.complete();
            lane.placed = false;
            return false;
        }
        lane.outcomes = fetched.value().next_offset;
        for (const ports::Record& record : fetched.value().records) {
            read.moved = true;
            if (record.key == kHeartbeatKey || record.value.empty()) continue;
            if (broker_now && record.append_time + window_ < *broker_now) continue;
            // Bytes that are no outcome end nothing; the sequencer is who reports them.
            const Result<Outcome> outcome = codec::decode_outcome(record.value);
            if (outcome.ok()) ended_.remember(outcome.value().command_id, record.append_time);
        }
        if (fetched.value().records.empty()) return true;
    }
    // More is waiting: the commands have time until the outcomes were read.
    return false;
}

void CommandReader::read_commands(Lane& lane, BrokerTime broker_now, Read& read) {
    const ports::Partition commands{Topic::kCommands, lane.index};
    if (!lane.commands) {
        const auto begin = log_.offset_at(commands, broker_now - window_);
        if (!begin) {
            trouble_ = where(commands.topic, lane.index) + ": " + begin.error().what;
            return;
        }
        lane.commands = *begin;
    }
    if (!log_.may_have(commands, *lane.commands)) return;
    const auto fetched = log_.read(commands, *lane.commands, kReadBytes);
    if (!fetched) {
        trouble_ = where(commands.topic, lane.index) + ": " + fetched.error().what;
        // Retention is longer than any command lives, so what it took has expired.
        if (const auto first = cut(commands, *lane.commands)) lane.commands = *first;
        return;
    }
    lane.commands = fetched.value().next_offset;
    for (const ports::Record& record : fetched.value().records) {
        read.moved = true;
        if (record.append_time + window_ < broker_now) {
            ++read.skipped;
            continue;
        }
        take_command(lane, record, read);
    }
}

void CommandReader::take_command(const Lane& lane, const ports::Record& record, Read& read) {
    if (!keys_.authentic(codec::kCommandSignature, record.value)) {
        // No outcome: whoever forges a command must not be able to end a true one by its id.
        ++read.unauthenticated;
        read.parked.push_back({lane.index, record.offset,
                               "unauthenticated: it is not signed with a key of this executor"});
        return;
    }
    Result<Command> command = codec::decode_command(record.value);
    if (!command) {
        read.parked.push_back({lane.index, record.offset, command.error().what});
    } else if (command.value().id.none() || command.value().subject.empty()) {
        read.parked.push_back({lane.index, record.offset, "the command has no id or no subject"});
    } else {
        read.commands.push_back({std::move(command).value(), lane.index, record.offset});
    }
}

}  // namespace trueup::executors
