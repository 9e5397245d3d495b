#include "apps/config/reading.h"
#include "apps/config/words.h"
#include "connectors/postgres/correlation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace trueup::config {

namespace {

using connectors::postgres::Correlation;

constexpr std::string_view kGraphInstances = "graph-instances";
// What its rules read of a row; the first two are compared before each write.
constexpr std::array<std::string_view, 3> kColumns{"status", "pod_name", "url_slug"};
constexpr std::array<std::string_view, 2> kNeededColumns{"status", "pod_name"};

struct RuleKind {
    std::string_view name;
    bool by_absence;  ///< has a grace and a create window
    std::string_view executor;
};
constexpr std::array<RuleKind, 3> kRules{{{"orphaned_pod", true, "delete_pod"},
                                          {"missing_pod", true, "update_row"},
                                          {"status_drift", false, "update_row"}}};

bool contains(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> source_names(const Config& config) {
    std::vector<std::string> names;
    for (const SourceConfig& source : config.sources) names.push_back(source.name);
    return names;
}

/// The name of a source of that topic under `key`; empty when it is none, which is noted.
std::string read_source_name(Section& section, std::string_view key, const Config& config,
                             Topic topic) {
    const std::string_view wanted =
        topic == Topic::kChangesPods ? "pods of kubernetes" : "postgres";
    if (!section.require(key, fmt::format("{}: NAME of a source of {}", key, wanted))) return {};
    std::string name = section.text(key);
    if (name.empty()) return name;
    const SourceConfig* source = config.source(name);
    if (source == nullptr) {
        const std::string meant = nearest(name, source_names(config));
        section.problem(
            key,
            fmt::format("names the source '{}', which is not under sources; {}", name,
                        meant.empty() ? "add it there" : fmt::format("did you mean '{}'?", meant)));
        return {};
    }
    if (source->topic() == topic) return name;
    section.problem(
        key, fmt::format("names '{}', which is no source of {}; write one that is", name, wanted));
    return {};
}

Mode read_mode(Section& rule) {
    const std::string text = rule.text("mode", "observe");
    if (text == "enforce") return Mode::kEnforce;
    if (text == "approve") {
        rule.problem("mode",
                     "is 'approve'; mode approve comes with a later release; write observe or "
                     "enforce");
    } else if (text != "observe") {
        rule.problem("mode", fmt::format("is '{}'; write observe or enforce", text));
    }
    return Mode::kObserve;
}

void check_executor(Section& rule, const RuleKind& kind, const Config& config) {
    const auto found = config.executors.find(std::string(kind.executor));
    if (found != config.executors.end()) return;
    rule.problem("mode", fmt::format("is enforce, and executors.{0} is missing; write executors: "
                                     "{{{0}: {{source: NAME}}}}",
                                     kind.executor));
}

/// A brake that anybody could loosen in passing is none: its bounds are narrow.
Budget read_budget(Section section) {
    constexpr std::uint32_t kMost = 1'000;
    constexpr std::uint32_t kPercent = 50;
    constexpr Millis kShortest{60'000};
    Budget budget;
    budget.most = section.count("most", budget.most);
    budget.percent = section.percent("percent", budget.percent);
    budget.window = section.duration("window", budget.window);
    if (budget.most == 0 || budget.most > kMost) {
        section.problem("most", fmt::format("is {}; write 1 to {}: so many commands of this rule "
                                            "in one window, in any case",
                                            budget.most, kMost));
    }
    if (budget.percent > kPercent) {
        section.problem("percent",
                        fmt::format("is {}%; write {}% at the most: a rule that acts on more of "
                                    "the world at once is more likely to be wrong than the world",
                                    budget.percent, kPercent));
    }
    if (budget.window < kShortest) {
        section.problem("window",
                        fmt::format("is {}; write 1m or more", duration_text(budget.window)));
    }
    section.finish();
    return budget;
}

RuleSettings read_rule(Section rule, const RuleKind& kind, const Config& config) {
    RuleSettings settings;
    settings.rule = kind.name;
    settings.mode = read_mode(rule);
    if (settings.mode == Mode::kEnforce) check_executor(rule, kind, config);
    if (kind.by_absence) {
        settings.grace = rule.duration("grace", settings.grace);
        settings.create_window = rule.duration("create_window", settings.create_window);
        if (settings.grace <= config.max_step) {
            rule.problem(
                "grace",
                fmt::format("{} is not longer than bus.max_step {}, so that one step of "
                            "the clock could use it up; write a longer grace or a shorter "
                            "max_step",
                            duration_text(settings.grace), duration_text(config.max_step)));
        }
    } else {
        settings.grace = Millis(0);
        settings.create_window = Millis(0);
        for (const char* key : {"grace", "create_window"}) {
            rule.refuse(key,
                        "does not exist: both sides speak here, and no silence is waited out; "
                        "leave it out");
        }
    }
    settings.budget = read_budget(rule.section("budget"));
    rule.finish();
    return settings;
}

void read_rules(Section rules, const Config& config, PolicyConfig& policy) {
    for (const RuleKind& kind : kRules) {
        policy.rules.push_back(read_rule(rules.section(kind.name), kind, config));
    }
    rules.finish();
}

/// The columns that `correlate` reads; none when it is wrong, which is noted.
std::vector<std::string> read_correlation(Section& section, PolicyConfig& policy,
                                          Problems& problems) {
    const std::string example = "correlate: \"coalesce(pod_name, 'wrapper-' || url_slug)\"";
    if (!section.require("correlate", example)) return {};
    policy.correlate = section.text("correlate");
    if (policy.correlate.empty()) {
        section.problem("correlate", "is empty; write which pod a row means, as in " + example);
        return {};
    }
    const Result<Correlation> parsed = Correlation::parse(policy.correlate);
    if (!parsed) {
        problems.add(section.line_of("correlate"), parsed.error().what);
        return {};
    }
    for (const std::string& column : parsed->columns()) {
        if (!looks_secret(column)) continue;
        section.problem("correlate", fmt::format("reads '{}', which looks like a secret, and what "
                                                 "it reads is published and kept; use another "
                                                 "column",
                                                 column));
    }
    return parsed->columns();
}

void complete_columns(const std::vector<std::string>& correlated, const PolicyConfig& policy,
                      Config& config, Problems& problems) {
    for (SourceConfig& source : config.sources) {
        auto* rows = std::get_if<PostgresSource>(&source.world);
        if (rows == nullptr || source.name != policy.rows) continue;
        if (rows->columns.empty()) rows->columns.assign(kColumns.begin(), kColumns.end());
        for (const std::string_view needed : kNeededColumns) {
            if (contains(rows->columns, needed)) continue;
            problems.add(source.line,
                         fmt::format("sources.{}.postgres.columns lacks '{}', which {} reads; add "
                                     "it",
                                     source.name, needed, policy.use));
        }
        for (const std::string& column : correlated) {
            if (!contains(rows->columns, column)) rows->columns.push_back(column);
        }
    }
}

void check_executors(Section& section, const PolicyConfig& policy, const Config& config) {
    for (const auto& [executor, source] : config.executors) {
        const std::string& own = executor == "delete_pod" ? policy.pods : policy.rows;
        if (own.empty() || source.empty() || source == own) continue;
        section.problem(executor == "delete_pod" ? "pods" : "rows",
                        fmt::format("is '{}', and executors.{} acts on '{}'; write one and the "
                                    "same source",
                                    own, executor, source));
    }
}

void read_times(Section& section, const Config& config, PolicyConfig& policy) {
    policy.stale_after = section.duration("stale_after", policy.stale_after);
    policy.command_ttl = section.duration("command_ttl", policy.command_ttl);
    policy.max_drop_percent = section.percent("max_drop", policy.max_drop_percent);
    if (policy.command_ttl < Millis(1'000)) {
        section.problem("command_ttl", "is shorter than 1s, in which no executor acts; write 60s");
    }
    for (const SourceConfig& source : config.sources) {
        if (source.name != policy.pods && source.name != policy.rows) continue;
        if (policy.stale_after > source.idle) continue;
        section.problem("stale_after",
                        fmt::format("{} is not longer than progress.idle {} of sources.{}, so that "
                                    "it would be stale between two proofs; write about three times "
                                    "that",
                                    duration_text(policy.stale_after), duration_text(source.idle),
                                    source.name));
    }
}

PolicyConfig read_policy(Section section, Config& config, Problems& problems) {
    PolicyConfig policy;
    if (section.require("name", "name: graph-instances")) {
        policy.name = section.text("name");
        if (!is_name(policy.name)) {
            section.problem("name", fmt::format("is '{}', which cannot be the first part of a key; "
                                                "write 1 to 63 letters, digits, '-', '_' or '.', a "
                                                "letter or digit first",
                                                policy.name));
        }
    }
    if (section.require("use", "use: graph-instances")) {
        policy.use = section.text("use");
        if (policy.use != kGraphInstances) {
            section.problem("use", fmt::format("is '{}', and this release has one set of rules; "
                                               "write graph-instances",
                                               policy.use));
        }
    }
    policy.pods = read_source_name(section, "pods", config, Topic::kChangesPods);
    policy.rows = read_source_name(section, "rows", config, Topic::kChangesRows);
    const std::vector<std::string> columns = read_correlation(section, policy, problems);
    complete_columns(columns, policy, config, problems);
    check_executors(section, policy, config);
    read_rules(section.section("rules").called("rules"), config, policy);
    read_times(section, config, policy);
    section.finish();
    return policy;
}

/// A row's key is the policy's expression: without a policy it has none.
void check_stray_sources(const Config& config, Problems& problems) {
    for (const SourceConfig& source : config.sources) {
        const bool used = std::any_of(config.policies.begin(), config.policies.end(),
                                      [&source](const PolicyConfig& policy) {
                                          return policy.rows == source.name || policy.rows.empty();
                                      });
        if (used || source.postgres() == nullptr) continue;
        problems.add(source.line,
                     fmt::format("sources.{} is the rows of no policy, whose correlate would say "
                                 "what they mean; name it there or leave it out",
                                 source.name));
    }
}

}  // namespace

void read_executors(Section executors, Config& config) {
    for (const char* name : {"delete_pod", "update_row"}) {
        const bool pods = std::string_view(name) == "delete_pod";
        Section executor = executors.section(name);
        if (!executor.present()) continue;
        config.executors[name] = read_source_name(executor, "source", config,
                                                  pods ? Topic::kChangesPods : Topic::kChangesRows);
        executor.finish();
    }
    executors.finish();
}

void read_policies(Section& root, Config& config, Problems& problems) {
    if (!root.require("policies", "policies: [{name: graph-instances, use: graph-instances, ...}]"))
        return;
    std::vector<Section> items = root.items("policies");
    for (Section& item : items) {
        if (&item != &items.front()) {
            problems.add(item.line(),
                         fmt::format("{} is one too many; this release has one policy, leave it "
                                     "out",
                                     item.path()));
            continue;
        }
        config.policies.push_back(read_policy(item, config, problems));
    }
    if (items.empty()) {
        root.problem("policies", "holds none; write [{name: graph-instances, ...}]");
        return;
    }
    check_stray_sources(config, problems);
}

}  // namespace trueup::config
