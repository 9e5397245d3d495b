#include "apps/event_printer.h"

#include "apps/rehearsal.h"
#include "engine/codec/command_codec.h"
#include "engine/codec/finding_codec.h"
#include "engine/codec/outcome_codec.h"
#include "engine/ports/clock.h"

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

namespace trueup::apps {

namespace {

constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kGreen = "\033[32m";
constexpr std::string_view kYellow = "\033[33m";
constexpr std::string_view kBlue = "\033[34m";
constexpr std::string_view kGrey = "\033[90m";
constexpr std::string_view kPlain = "\033[0m";
constexpr std::size_t kMostOrdered = 10'000;

std::string clock_text(BrokerTime at) {
    const std::time_t seconds = static_cast<std::time_t>(to_millis(at) / 1000);
    return fmt::format("{:%H:%M:%S}", fmt::localtime(seconds));
}

void print_json(const nlohmann::json& object) {
    fmt::print("{}\n", object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    std::fflush(stdout);
}

nlohmann::json json_of(const std::vector<Offset>& offsets) {
    nlohmann::json list = nlohmann::json::array();
    for (const Offset offset : offsets) list.push_back(offset.value());
    return list;
}

}  // namespace

EventPrinter::EventPrinter(const std::vector<Feed>& feeds, OutputFormat format, bool colours)
    : format_(format), colours_(colours) {
    for (const Feed& feed : feeds) {
        for (const PartitionNumber index : feed.partitions) {
            for (const Topic topic : {Topic::kFindings, Topic::kCommands, Topic::kOutcomes}) {
                const auto extent = feed.log->describe({topic, index});
                places_.push_back(
                    {feed.log, {topic, index}, extent ? extent->next_offset : kFirstOffset});
            }
        }
    }
}

void EventPrinter::show_new() {
    struct Line {
        Topic topic;
        ports::Record record;
    };
    std::vector<Line> lines;
    std::vector<ports::Fetched> pages;
    for (Place& place : places_) {
        auto fetched = place.log->read(place.partition, place.next, std::size_t{1} << 20U);
        if (!fetched || fetched->records.empty()) continue;
        place.next = fetched->next_offset;
        for (const ports::Record& record : fetched->records)
            lines.push_back({place.partition.topic, record});
        pages.push_back(std::move(*fetched));  // keeps the bytes alive
    }
    // The topics are read one after another, so what happened is put in order again.
    std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
        return a.record.append_time < b.record.append_time;
    });
    for (const Line& line : lines) show(line.topic, line.record);
}

void EventPrinter::show(Topic topic, const ports::Record& record) {
    if (topic == Topic::kFindings) show_finding(record);
    if (topic == Topic::kCommands) show_command(record);
    if (topic == Topic::kOutcomes) show_outcome(record);
}

void EventPrinter::note(std::string_view sentence) {
    const auto now = from_millis<BrokerTime>(ports::system_clock().wall_millis());
    if (format_ == OutputFormat::kJson) {
        return print_json({{"kind", "world"}, {"text", sentence}, {"time_ms", to_millis(now)}});
    }
    line(now, "world", kBlue, sentence);
}

void EventPrinter::line(BrokerTime at, std::string_view word, std::string_view colour,
                        std::string_view text) {
    if (colours_) {
        fmt::print("{}{}{}  {}{:<9}{} {}\n", kGrey, clock_text(at), kPlain, colour, word, kPlain,
                   text);
    } else {
        fmt::print("{}  {:<9} {}\n", clock_text(at), word, text);
    }
    std::fflush(stdout);
}

void EventPrinter::show_finding(const ports::Record& record) {
    const auto edge = codec::decode_finding(record.value);
    if (!edge) return;
    const bool resolved = edge->state == FindingState::kResolved;
    if (edge->opened) ++counts_.found;
    if (resolved) ++(edge->reason == Reason::kDone ? counts_.repaired : counts_.gone);
    if (format_ == OutputFormat::kJson) {
        nlohmann::json object{{"kind", "finding"},
                              {"id", to_hex(edge->id)},
                              {"rule", edge->rule},
                              {"subject", edge->subject},
                              {"object_id", edge->object_id},
                              {"state", name_of(edge->state)},
                              {"reason", edge->reason_name()},
                              {"shard", edge->shard.value()},
                              {"text", edge->sentence},
                              {"journal_offset", edge->offset.value()},
                              {"evidence", json_of(edge->evidence)},
                              {"time_ms", to_millis(edge->append_time)}};
        if (edge->command_id) object["command_id"] = to_hex(*edge->command_id);
        return print_json(object);
    }
    if (edge->state == FindingState::kCommanded) return;  // the command says it better
    const std::string_view word = edge->opened && !resolved ? "found" : name_of(edge->state);
    line(edge->append_time, word, resolved ? kGreen : kYellow,
         fmt::format("{:<13} {}", edge->rule, edge->sentence));
}

void EventPrinter::show_command(const ports::Record& record) {
    const auto command = codec::decode_command(record.value);
    if (!command) return;
    ++counts_.commands;
    if (ordered_.size() >= kMostOrdered) ordered_.clear();
    ordered_[to_hex(command->id)] = {
        command->rule, std::string(name_of(command->draft.action.kind)), text_of(command->draft)};
    if (format_ == OutputFormat::kJson) {
        return print_json({{"kind", "command"},
                           {"id", to_hex(command->id)},
                           {"rule", command->rule},
                           {"subject", command->subject},
                           {"action", name_of(command->draft.action.kind)},
                           {"target", command->draft.target.object_id},
                           {"emission", command->emission},
                           {"text", text_of(command->draft)},
                           {"evidence", json_of(command->evidence)},
                           {"issued_ms", to_millis(command->issued)},
                           {"time_ms", to_millis(record.append_time)}});
    }
    line(record.append_time, "do", kRed,
         fmt::format("{:<13} {}", command->rule, text_of(command->draft)));
}

void EventPrinter::show_outcome(const ports::Record& record) {
    if (record.value.empty()) return;  // a heartbeat
    const auto outcome = codec::decode_outcome(record.value);
    if (!outcome) return;
    const bool good =
        outcome->kind == OutcomeKind::kDone || outcome->kind == OutcomeKind::kAlreadyDone;
    ++(good ? counts_.done : counts_.not_done);
    const std::string id = to_hex(outcome->command_id);
    // Of one that was ordered before this process began only the outcome is known.
    const auto ordered = ordered_.find(id);
    if (format_ == OutputFormat::kJson) {
        nlohmann::json object{{"kind", "outcome"},
                              {"command_id", id},
                              {"subject", outcome->subject},
                              {"outcome", name_of(outcome->kind)},
                              {"retryable", outcome->retryable},
                              {"text", outcome->detail},
                              {"check_to_write_us", outcome->check_to_write_micros},
                              {"time_ms", to_millis(record.append_time)}};
        if (ordered != ordered_.end()) {
            object["rule"] = ordered->second.rule;
            object["action"] = ordered->second.action;
        }
        return print_json(object);
    }
    std::string text =
        fmt::format("{:<13} {}", name_of(outcome->kind),
                    ordered != ordered_.end() ? ordered->second.text : outcome->subject);
    if (!outcome->detail.empty()) text += "; " + outcome->detail;
    line(record.append_time, good ? "done" : "not done", good ? kGreen : kRed, text);
}

void EventPrinter::summarise(std::int64_t seconds, std::uint64_t open_findings) {
    const Counts& c = counts_;
    if (format_ == OutputFormat::kJson) {
        return print_json({{"kind", "summary"},
                           {"seconds", seconds},
                           {"found", c.found},
                           {"repaired", c.repaired},
                           {"gone", c.gone},
                           {"open", open_findings},
                           {"commands", c.commands},
                           {"done", c.done},
                           {"not_done", c.not_done}});
    }
    fmt::print(
        "\nIn {} s: {} findings: {} repaired, {} resolved without a repair, {} open. {} commands: "
        "{} done, {} not done.\n",
        seconds, c.found, c.repaired, c.gone, open_findings, c.commands, c.done, c.not_done);
}

}  // namespace trueup::apps
