// Commands that differ, as people and programs read them.
#include "apps/commands_diff.h"
#include "engine/base/rfc3339.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trueup::apps {

namespace {

using Json = nlohmann::ordered_json;

std::string time_of(BrokerTime at) { return rfc3339(at.time_since_epoch().count()); }

std::string commands(std::uint64_t count) {
    return fmt::format("{} command{}", count, count == 1 ? "" : "s");
}

std::string line_of(char sign, const Ordered& command) {
    return fmt::format("{} {} {} {}: {}\n", sign, time_of(command.at), command.rule,
                       command.subject, command.text);
}

/// When the first of either side that differs was ordered; there is one.
BrokerTime first_of(const CommandsDiff& diff) {
    if (diff.only_before.empty()) return diff.only_now.front().at;
    if (diff.only_now.empty()) return diff.only_before.front().at;
    return std::min(diff.only_before.front().at, diff.only_now.front().at);
}

Json json_of(const std::vector<Ordered>& all) {
    Json list = Json::array();
    for (const Ordered& each : all) {
        list.push_back({{"rule", each.rule},
                        {"subject", each.subject},
                        {"source", each.source},
                        {"target", each.target},
                        {"action", each.action},
                        {"text", each.text},
                        {"at", time_of(each.at)},
                        {"shard", each.shard.value()},
                        {"offset", each.offset.value()}});
    }
    return list;
}

}  // namespace

std::string commands_text(const CommandsDiff& diff) {
    std::string text = fmt::format("commands, {} journal records from {} to {}:\n", diff.records,
                                   time_of(diff.from), time_of(diff.to));
    auto old = diff.only_before.begin();
    for (const Ordered& fresh : diff.only_now) {
        for (; old != diff.only_before.end() && old->at <= fresh.at; ++old) {
            text += line_of('-', *old);
        }
        text += line_of('+', fresh);
    }
    for (; old != diff.only_before.end(); ++old) text += line_of('-', *old);
    text += fmt::format(
        "{} under OLD, {} under NEW: {} under both, {} only under OLD (-), {} only "
        "under NEW (+)\n",
        commands(diff.before), diff.now, diff.both, diff.only_before.size(), diff.only_now.size());
    if (!diff.enabled.empty()) {
        text += fmt::format("counted as enabled from the start, under both: {}\n",
                            fmt::join(diff.enabled, ", "));
    }
    if (!diff.none()) {
        text += fmt::format(
            "from {} on, where the first command differs, this is counterfactual: the journal goes "
            "on with what came of the commands that were really given\n",
            time_of(first_of(diff)));
    }
    for (const std::string& note : diff.notes) text += note + "\n";
    if (diff.cut) {
        text += fmt::format("more than {} commands differ; it ends there\n", CommandsDiff::kMost);
    }
    return text;
}

Json commands_json(const CommandsDiff& diff) {
    Json json{{"records", diff.records},
              {"from", time_of(diff.from)},
              {"to", time_of(diff.to)},
              {"old", diff.before},
              {"new", diff.now},
              {"both", diff.both},
              {"only_old", json_of(diff.only_before)},
              {"only_new", json_of(diff.only_now)},
              {"counterfactual_from", nullptr},
              {"counted_as_enabled", diff.enabled},
              {"notes", diff.notes},
              {"cut", diff.cut}};
    if (!diff.none()) json["counterfactual_from"] = time_of(first_of(diff));
    return json;
}

}  // namespace trueup::apps
