#include "apps/config/describe.h"

#include "apps/config/source_types.h"
#include "apps/config/words.h"
#include "engine/base/loopback.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace trueup::config {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kLevels{"debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 2> kFormats{"json", "text"};
constexpr std::array<std::string_view, 2> kFindingHeaders{"id", "cloudevents"};

std::string_view name_of(LogLevel level) { return kLevels[static_cast<std::size_t>(level)]; }
std::string_view name_of(LogFormat format) { return kFormats[static_cast<std::size_t>(format)]; }

std::string_view name_of(FindingHeaders headers) {
    return kFindingHeaders[static_cast<std::size_t>(headers)];
}

std::string listen_text(const Config& config) {
    return config.listen.empty() ? "off" : config.listen;
}

/// For a person; `listen_text` is what a configuration says.
std::string http_text(const Config& config) {
    return listen_text(config) + (config.http_tls && !config.listen.empty() ? ", TLS" : "");
}

/// As whom an executor writes, by the keys of the file; none where it is as its source reads.
std::vector<std::pair<std::string, std::string>> writer_entries(const ExecutorConfig& executor) {
    if (executor.rows) return {conninfo_entry(*executor.rows)};
    if (!executor.objects) return {};
    const ClusterLogin& login = *executor.objects;
    if (login.in_cluster) return {{"in_cluster", "true"}};
    std::vector<std::pair<std::string, std::string>> entries{{"kubeconfig", login.kubeconfig}};
    if (!login.context.empty()) entries.emplace_back("context", login.context);
    return entries;
}

std::string writer_text(const ExecutorConfig& executor) {
    std::string text;
    for (const auto& [key, value] : writer_entries(executor)) {
        text += fmt::format("{} {} \"{}\"", text.empty() ? ", as" : ",", key, value);
    }
    return text;
}

void add_writer(Json& json, const ExecutorConfig& executor) {
    for (const auto& [key, value] : writer_entries(executor)) {
        if (key == "in_cluster") {
            json[key] = true;
        } else {
            json[key] = value;
        }
    }
    if (executor.rows && !executor.rows->known.empty()) {
        json["acknowledge"] = executor.rows->known;
    }
}

Json json_of(const SourceConfig& source) {
    Json json;
    json[std::string(type_of(source).key)] = type_of(source).json(source);
    json["heartbeat"] = {{"idle", duration_text(source.idle)},
                         {"active", duration_text(source.active)}};
    json["relist_every"] = duration_text(source.relist_every);
    json["expect"] = {{"at_least", source.at_least}};
    return json;
}

/// Rules that wait out no silence have no times to show.
bool has_times(const RuleSettings& rule) { return rule.grace > Millis(0); }
bool has_window(const PolicyConfig& policy, const RuleSettings& rule) {
    const auto& rules = policy.text->rules;
    return std::any_of(rules.begin(), rules.end(), [&](const policy::Rule& each) {
        return each.name == rule.rule && each.create_window > Millis(0);
    });
}

std::string grace_period_text(const RuleSettings& rule) {
    return duration_text(std::chrono::seconds(*rule.grace_period));
}

std::vector<std::string> window_texts(const PolicyConfig& policy) {
    std::vector<std::string> texts;
    for (const Window& window : policy.windows) texts.push_back(window_text(window));
    return texts;
}

Json json_of(const PolicyConfig& policy) {
    Json json;
    json["name"] = policy.name;
    const bool shipped = policy.file.empty();
    json[shipped ? "use" : "file"] = shipped ? policy.text->name : policy.file;
    for (const policy::Role& role : policy.text->roles) {
        const std::vector<std::string>& sources = policy.sources_of(role.name);
        if (sources.empty()) continue;
        json["roles"][role.name] = sources.size() == 1 ? Json(sources.front()) : Json(sources);
        json["keys"][role.name] = policy::key_text(role.key);
    }
    for (const RuleSettings& rule : policy.rules) {
        Json& entry = json["rules"][rule.rule];
        entry["mode"] = trueup::name_of(rule.mode);
        entry["budget"] = {{"max", rule.budget.max},
                           {"percent", fmt::format("{}%", rule.budget.percent)},
                           {"window", duration_text(rule.budget.window)}};
        if (rule.grace_period) entry["grace_period"] = grace_period_text(rule);
        if (!has_times(rule)) continue;
        entry["grace"] = duration_text(rule.grace);
        if (!has_window(policy, rule)) continue;
        entry["create_window"] = duration_text(rule.create_window);
    }
    json["stale_after"] = duration_text(policy.stale_after);
    json["max_drop"] = fmt::format("{}%", policy.max_drop_percent);
    json["command_ttl"] = duration_text(policy.command_ttl);
    json["reconcile_every"] = duration_text(policy.reconcile_every);
    json["max_clock_skew"] = duration_text(policy.max_clock_skew);
    json["windows"] = window_texts(policy);
    for (const Hash128& text : policy.enabled) json["enabled"].push_back(to_hex(text));
    if (!policy.known.empty()) json["acknowledge"] = policy.known;
    return json;
}

std::string as_of_text(const policy::Role& role) {
    if (role.as_of_field.empty()) return {};
    return fmt::format(", as of {} of {}", role.as_of_field, role.as_of_at);
}

std::string lines_of(const PolicyConfig& policy, const Config& config) {
    std::string text = fmt::format("policy    {}: {}\n", policy.name,
                                   policy.file.empty() ? policy.text->name : policy.file);
    for (const policy::Role& role : policy.text->roles) {
        for (const std::string& source : policy.sources_of(role.name)) {
            const SourceConfig* played = config.source(source);
            const std::string label = played == nullptr ? "" : key_label_of(policy, *played);
            text += fmt::format("role      {}: source {}, by {}{}{}\n", role.name, source,
                                label.empty() ? policy::key_text(role.key) : "label." + label,
                                role.reference ? ", for all subjects" : "", as_of_text(role));
        }
    }
    for (const RuleSettings& rule : policy.rules) {
        text += fmt::format("rule      {}: {}", rule.rule, trueup::name_of(rule.mode));
        if (rule.mode == Mode::kOff) {
            text += '\n';
            continue;
        }
        if (has_times(rule)) text += fmt::format(", grace {}", duration_text(rule.grace));
        if (has_times(rule) && has_window(policy, rule)) {
            text += fmt::format(", create window {}", duration_text(rule.create_window));
        }
        if (rule.grace_period) {
            text += fmt::format(", pods have {} to end", grace_period_text(rule));
        }
        text += fmt::format(", at most {}", rule.budget.max);
        if (rule.budget.percent != 0) text += fmt::format(" or {}%", rule.budget.percent);
        text += fmt::format(" in {}\n", duration_text(rule.budget.window));
    }
    text += fmt::format("limits    stale after {}, a snapshot may drop {}%, commands live {}\n",
                        duration_text(policy.stale_after), policy.max_drop_percent,
                        duration_text(policy.command_ttl));
    text += fmt::format("reconcile every {}\n", duration_text(policy.reconcile_every));
    if (policy.windows.empty()) return text;
    return text + fmt::format("windows   {} (UTC)\n", fmt::join(window_texts(policy), "; "));
}

std::string retention_text(const Config& config) {
    const Retention& kept = config.retention;
    if (kept.journal) return duration_text(*kept.journal);
    return kept.log_bytes ? size_text(*kept.log_bytes) : "forever";
}

std::string bus_text(const Config& config) {
    if (!config.kafka) return fmt::format("embedded, fsync {}", config.fsync ? "on" : "off");
    const KafkaBus& kafka = *config.kafka;
    return fmt::format("kafka at {}, topics {}.POLICY.*, {} partitions, {} replicas, {} in sync",
                       kafka.bootstrap, kafka.prefix, kafka.partitions, kafka.replicas,
                       kafka.min_in_sync);
}

/// Without the values of the client's settings: some are secrets.
Json json_of(const KafkaBus& kafka) {
    Json names = Json::array();
    for (const auto& [name, value] : kafka.client) names.push_back(name);
    return {{"bootstrap", kafka.bootstrap},     {"prefix", kafka.prefix},
            {"partitions", kafka.partitions},   {"replicas", kafka.replicas},
            {"min_in_sync", kafka.min_in_sync}, {"client", names}};
}

Json json_of_bus(const Config& config) {
    Json json = {{"max_clock_step", duration_text(config.max_clock_step)},
                 {"max_broker_skew", duration_text(config.max_broker_skew)},
                 {"finding_headers", name_of(config.finding_headers)}};
    json["retention"] = {{"journal", retention_text(config)}};
    if (config.kafka) {
        json["kafka"] = json_of(*config.kafka);
    } else {
        json["retention"]["topics"] = duration_text(config.retention.topics);
        json["embedded"] = {{"fsync", config.fsync}};
    }
    return json;
}

Json json_of_executors(const Config& config) {
    Json json = Json::object();
    for (const ExecutorConfig& executor : config.executors) {
        Json one = takes_list(executor.kind) ? Json{{"sources", executor.sources}}
                                             : Json{{"source", executor.sources.front()}};
        add_writer(one, executor);
        json[executor.kind].push_back(std::move(one));
    }
    // As it is written: a section, or a list of them.
    for (auto& [kind, sections] : json.items()) {
        if (sections.size() == 1) sections = Json(sections.front());
    }
    return json;
}

}  // namespace

std::string describe(const Config& config) {
    std::string text = fmt::format(
        "bus       {}, max_clock_step {}, max_broker_skew {}, journal kept: {}\n"
        "state     {}, {} of memory, a checkpoint every {}, {} kept\n",
        bus_text(config), duration_text(config.max_clock_step),
        duration_text(config.max_broker_skew), retention_text(config), config.state_dir,
        size_text(config.memory_bytes), duration_text(config.checkpoint_every),
        config.checkpoints_kept);
    for (const SourceConfig& source : config.sources) {
        text += fmt::format("source    {}: {}\n", source.name, type_of(source).text(source));
    }
    for (const PolicyConfig& policy : config.policies) text += lines_of(policy, config);
    for (const ExecutorConfig& executor : config.executors) {
        text += fmt::format("executor  {}: on {}{}\n", executor.kind,
                            fmt::join(executor.sources, ", "), writer_text(executor));
    }
    return text + fmt::format("http      {}\nlog       {}, {}\n", http_text(config),
                              name_of(config.log_level),
                              config.log_format ? name_of(*config.log_format) : "as -o says");
}

std::string describe_json(const Config& config) {
    Json json;
    json["version"] = 1;
    json["bus"] = json_of_bus(config);
    json["state_dir"] = config.state_dir;
    json["keys"] = config.keys;
    json["memory"] = size_text(config.memory_bytes);
    json["checkpoints"] = {{"path", config.checkpoints},
                           {"every", duration_text(config.checkpoint_every)},
                           {"keep", config.checkpoints_kept}};
    json["sources"] = Json::object();
    for (const SourceConfig& source : config.sources) {
        json["sources"][source.name] = json_of(source);
    }
    json["policies"] = Json::array();
    for (const PolicyConfig& policy : config.policies) json["policies"].push_back(json_of(policy));
    json["executors"] = json_of_executors(config);
    json["http"] = {{"listen", listen_text(config)}};
    if (config.http_tls) {
        json["http"]["tls"] = {{"cert_file", config.http_tls->cert_file},
                               {"key_file", config.http_tls->key_file}};
    }
    if (!config.http_known.empty()) json["http"]["acknowledge"] = config.http_known;
    json["log"] = {{"level", name_of(config.log_level)}};
    if (config.log_format) json["log"]["format"] = name_of(*config.log_format);
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trueup::config
