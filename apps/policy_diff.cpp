#include "apps/policy_diff.h"

#include "apps/commands_diff.h"
#include "apps/config/policy_table.h"
#include "apps/policy_command.h"
#include "apps/policy_needs.h"
#include "apps/progress.h"
#include "apps/recorded_journal.h"
#include "engine/core/rule_text.h"
#include "policies/shipped.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

namespace trueup::apps {

namespace {

/// Lines of a table, in order.
using Lines = std::vector<std::string>;

/// `rule orphaned_pod` of `rule      orphaned_pod: pod without a row`.
std::string part_of(const std::string& line) {
    const std::size_t end = line.find_first_of(":,");
    std::istringstream words(line.substr(0, end));
    std::string part;
    for (std::string word; words >> word;) part += (part.empty() ? "" : " ") + word;
    return part;
}

/// The table's parts, each with its lines, in order.
std::vector<std::pair<std::string, Lines>> parts_of(const policy::Policy& policy) {
    std::vector<std::pair<std::string, Lines>> parts;
    std::istringstream text(config::policy_table(policy) + needs_text(policy));
    for (std::string line; std::getline(text, line);) {
        if (line.empty() || line.starts_with("always:")) continue;
        if (line.front() != ' ') parts.emplace_back(part_of(line), Lines{});
        parts.back().second.push_back(line);
    }
    return parts;
}

/// Those of `lines` that `others` lacks.
Lines without(const Lines& lines, const Lines& others) {
    Lines left;
    for (const std::string& line : lines) {
        if (std::find(others.begin(), others.end(), line) == others.end()) left.push_back(line);
    }
    return left;
}

/// Does that part of the text do more than to report?
bool acts(const policy::Policy& policy, const std::string& part) {
    for (const policy::Rule& rule : policy.rules) {
        if ("rule " + rule.name != part) continue;
        for (const policy::Case& each : rule.cases) {
            for (const policy::Step& step : each.steps) {
                if (policy::acts(step.verb)) return true;
            }
        }
    }
    return false;
}

/// What each rule means, as one number.
std::map<std::string, Hash128> meanings(const policy::Policy& policy) {
    const Settings settings =
        policies::usual_settings(Shared<policy::Policy>(policy), Mode::kEnforce);
    std::map<std::string, Hash128> all;
    for (const policy::Rule& rule : policy.rules) {
        all["rule " + rule.name] = core::rule_text(policy, settings.sources, rule.name).text;
    }
    return all;
}

const char* word_of(PartDiff::Change change) {
    if (change == PartDiff::Change::kAdded) return "added";
    return change == PartDiff::Change::kRemoved ? "removed" : "changed";
}

/// What somebody has to do about it.
std::string remark(const PartDiff& diff) {
    if (!diff.acts) return "";
    if (diff.change == PartDiff::Change::kAdded) return "; it acts once it is enabled";
    if (diff.change == PartDiff::Change::kRemoved) return "; what waits for it is retracted";
    return diff.enable_again ? "; it acts on approval only until it is enabled again"
                             : "; it means the same, and stays enabled";
}

void print_text(const std::vector<PartDiff>& all) {
    for (const PartDiff& diff : all) {
        fmt::print("{}: {}{}\n", diff.part, word_of(diff.change), remark(diff));
        for (const std::string& line : diff.before) fmt::print("- {}\n", line);
        for (const std::string& line : diff.now) fmt::print("+ {}\n", line);
        if (diff.before.empty() && diff.now.empty()) {
            fmt::print("  what it uses has changed (see above)\n");
        }
    }
    if (all.empty()) fmt::print("they mean the same\n");
}

void print_json(const std::vector<PartDiff>& all, const std::optional<CommandsDiff>& commands) {
    nlohmann::ordered_json parts = nlohmann::ordered_json::array();
    for (const PartDiff& diff : all) {
        parts.push_back({{"part", diff.part},
                         {"change", word_of(diff.change)},
                         {"enable_again", diff.enable_again},
                         {"before", diff.before},
                         {"now", diff.now}});
    }
    nlohmann::ordered_json json{{"kind", "policy_diff"}, {"same", all.empty()}, {"parts", parts}};
    if (commands) json["commands"] = commands_json(*commands);
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace

std::vector<PartDiff> differences(const policy::Policy& before, const policy::Policy& now) {
    const auto old_parts = parts_of(before);
    const auto new_parts = parts_of(now);
    const std::map<std::string, Lines> had(old_parts.begin(), old_parts.end());
    const std::map<std::string, Lines> has(new_parts.begin(), new_parts.end());
    const std::map<std::string, Hash128> meant = meanings(before);
    const std::map<std::string, Hash128> means = meanings(now);
    std::vector<PartDiff> all;
    for (const auto& [part, lines] : new_parts) {
        const auto old = had.find(part);
        if (old == had.end()) {
            all.push_back({part, PartDiff::Change::kAdded, false, acts(now, part), {}, lines});
            continue;
        }
        const auto text = meant.find(part);
        const bool other = text != meant.end() && text->second != means.at(part);
        if (old->second == lines && !other) continue;
        const bool does = acts(now, part);
        all.push_back({part, PartDiff::Change::kChanged, other && does, does,
                       without(old->second, lines), without(lines, old->second)});
    }
    for (const auto& [part, lines] : old_parts) {
        if (has.count(part) == 0) {
            all.push_back({part, PartDiff::Change::kRemoved, false, acts(before, part), lines, {}});
        }
    }
    return all;
}

namespace {

/// The journal that is named, under both texts.
Result<CommandsDiff> over_journal(const PolicyDiffOptions& options, const OtherText& before,
                                  const OtherText& now, StopSignal& stop) {
    // Before the journal is looked for: it is the texts that are wrong.
    if (std::string flaw = not_comparable(before, now); !flaw.empty()) {
        return Error{Next::kStop, Code::kConfiguration, std::move(flaw)};
    }
    const auto log = open_recorded(options.journal, before.text->name);
    if (!log) return log.error();
    Progress progress(stop);
    return commands_that_differ(**log, before, now, [&](std::uint64_t records) {
        return progress("the journal", records);
    });
}

}  // namespace

int run_policy_diff(const PolicyDiffOptions& options, StopSignal& stop) {
    const auto before = policy_named(options.before);
    const auto now = policy_named(options.now);
    for (const auto* each : {&before, &now}) {
        if (!*each) fmt::print(stderr, "{}\n", each->error().what);
    }
    if (!before || !now) return 2;
    std::optional<CommandsDiff> commands;
    if (!options.journal.empty()) {
        auto compared = over_journal(options, {options.before, *before}, {options.now, *now}, stop);
        if (!compared) {
            fmt::print(stderr, "trueup policy diff: {}\n", compared.error().what);
            return 2;
        }
        commands = *std::move(compared);
    }
    const std::vector<PartDiff> all = differences(**before, **now);
    if (options.format == OutputFormat::kJson) {
        print_json(all, commands);
    } else {
        print_text(all);
        if (commands) fmt::print("\n{}", commands_text(*commands));
    }
    const bool same = commands ? commands->none() : all.empty();
    return same ? 0 : 1;
}

}  // namespace trueup::apps
