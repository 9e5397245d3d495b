#include "apps/config/config.h"

#include "apps/config/reading.h"
#include "apps/config/tree.h"
#include "apps/config/words.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/loopback.h"
#include "policies/shipped.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

namespace trueup::config {

namespace {

constexpr std::size_t kMaxFile = std::size_t{1} << 20U;

void read_version(Section& root) {
    if (!root.require("version", "version: 1")) return;
    const std::string version = root.text("version", "1");
    if (version == "1") return;
    root.problem("version",
                 fmt::format("is '{}', which this release does not know; write 1", version));
}

void read_checkpoints(Section checkpoints, const std::string& folder, Config& config) {
    config.checkpoints = read_path(checkpoints, "path", config.state_dir + "/checkpoints", folder);
    config.checkpoint_every = checkpoints.duration("every", config.checkpoint_every);
    if (config.checkpoint_every < Millis(60'000) ||
        config.checkpoint_every > std::chrono::hours(24)) {
        checkpoints.problem(
            "every", fmt::format("is {}; write 1m to 24h", duration_text(config.checkpoint_every)));
    }
    config.checkpoints_kept = checkpoints.count("keep", config.checkpoints_kept);
    if (config.checkpoints_kept < 1 || config.checkpoints_kept > 100) {
        checkpoints.problem("keep", fmt::format("is {}; write 1 to 100", config.checkpoints_kept));
    }
    const bool shortened = config.retention.journal || config.retention.log_bytes;
    if (shortened && config.checkpoints_kept < 2) {
        checkpoints.problem("keep",
                            "is 1; write at least 2: bus.retention deletes only what is older than "
                            "the older of two checkpoints");
    }
    checkpoints.finish();
}

void read_http(Section http, const std::string& folder, Config& config) {
    config.listen = http.text("listen", config.listen);
    config.http_known = http.texts("acknowledge");
    for (const std::string& name : config.http_known) {
        if (name == "plain_http") continue;
        http.problem("acknowledge",
                     fmt::format("names '{}'; for http only plain_http can be acknowledged", name));
    }
    Section tls = http.section("tls");
    HttpTls files{read_path(tls, "cert_file", "", folder), read_path(tls, "key_file", "", folder)};
    tls.finish();
    if (files.cert_file.empty() != files.key_file.empty()) {
        http.problem("tls", "needs both; write {cert_file: FILE, key_file: FILE}");
    } else if (!files.cert_file.empty()) {
        config.http_tls = std::move(files);
    }
    if (config.listen == "off") {
        config.listen.clear();
    } else if (!is_address(config.listen)) {
        http.problem("listen",
                     fmt::format("is '{}'; write HOST:PORT with a port up to 65535, as in "
                                 "127.0.0.1:9464, or off",
                                 config.listen));
    } else if (const std::string flaw = flaw_of_listen(config, config.listen); !flaw.empty()) {
        http.problem("listen", flaw);
    }
    http.finish();
}

void read_rest(Section& root, const std::string& folder, Config& config) {
    config.state_dir = read_path(root, "state_dir", config.state_dir, folder);
    if (config.state_dir.empty()) {
        root.problem("state_dir",
                     "is empty; write the folder that keeps the journal, as in "
                     "/var/lib/trueup");
    }
    config.memory_bytes = root.size("memory", config.memory_bytes);
    if (config.memory_bytes < std::uint64_t{16} << 20U) {
        root.problem("memory", fmt::format("{} is too little; write at least 16MiB",
                                           size_text(config.memory_bytes)));
    }
    config.keys = read_path(root, "keys", config.state_dir + "/keys", folder);
    read_checkpoints(root.section("checkpoints"), folder, config);
    read_http(root.section("http"), folder, config);
    Section log = root.section("log");
    config.log_level = static_cast<LogLevel>(log.choice(
        "level", static_cast<std::size_t>(config.log_level), {"debug", "info", "warn", "error"}));
    if (log.has("format")) {
        config.log_format = static_cast<LogFormat>(log.choice("format", 0, {"json", "text"}));
    }
    log.finish();
}

}  // namespace

std::string flaw_of_listen(const Config& config, const std::string& listen) {
    if (config.http_tls || is_loopback(listen) || !config.http_known.empty()) return {};
    return fmt::format(
        "is {}, which other machines can reach, and tokens would be sent unencrypted; add tls: "
        "{{cert_file: FILE, key_file: FILE}}, or acknowledge: [plain_http] if the network is "
        "trusted",
        listen);
}

const SourceConfig* Config::source(std::string_view name) const {
    for (const SourceConfig& one : sources) {
        if (one.name == name) return &one;
    }
    return nullptr;
}

const ExecutorConfig* Config::executor(std::string_view source, std::string_view kind) const {
    for (const ExecutorConfig& one : executors) {
        if (!kind.empty() && one.kind != kind) continue;
        if (std::find(one.sources.begin(), one.sources.end(), source) != one.sources.end()) {
            return &one;
        }
    }
    return nullptr;
}

bool Config::has_executor(std::string_view kind) const {
    return std::any_of(executors.begin(), executors.end(),
                       [&](const ExecutorConfig& one) { return one.kind == kind; });
}

namespace {

/// Policies that are wrong: they refuse the whole file, or are left out of it.
enum class Wrong : std::uint8_t { kRefuse, kLeaveOut };

Result<Config> parse(std::string_view text, const std::string& file_name, Wrong policies) {
    const Result<Tree> tree = read_tree(text, file_name);
    if (!tree) return tree.error();
    const std::string folder = std::filesystem::path(file_name).parent_path().string();
    Problems problems(file_name);
    Config config;
    config.digest = hash128(text);
    Section root(&*tree, "", 1, problems);
    read_version(root);
    read_bus(root.section("bus"), folder, config);
    read_rest(root, folder, config);
    if (root.require("sources", "sources: {pods: {kubernetes: ...}, rows: {postgres: ...}}")) {
        config.sources = read_sources(root.section("sources"), folder);
    }
    read_executors(root.section("executors"), folder, config);
    const std::size_t of_policies = read_policies(root, folder, config, problems);
    root.finish();
    const bool others = policies == Wrong::kLeaveOut && !config.policies.empty();
    if (!problems.none() && !(others && problems.count() == of_policies)) {
        return Error{Next::kStop, Code::kConfiguration, problems.text()};
    }
    return config;
}

/// Where a source looks and what it selects there, without credentials: which server a kubeconfig
/// or a connection string means, the configuration does not know.
std::string selects(const SourceConfig& source) {
    if (const KubernetesSource* objects = source.kubernetes()) {
        return fmt::format("{}/{} namespace={} selector={} context={} key={}",
                           objects->resource.api_path, objects->resource.plural,
                           objects->resource.name_space, objects->selector, objects->context,
                           objects->key_label);
    }
    const PostgresSource* rows = source.postgres();
    if (source.only_read()) {
        return fmt::format("query={} primary_key={}", to_hex(hash128(rows->table.query)),
                           fmt::join(rows->primary_key, ","));
    }
    return fmt::format("table={}.{} publication={}", rows->table.schema, rows->table.name,
                       rows->publication);
}

}  // namespace

Result<Config> parse_config(std::string_view text, const std::string& file_name) {
    return parse(text, file_name, Wrong::kRefuse);
}

Result<Config> load_config(const std::string& path) {
    Result<std::string> text = read_file(path, "the configuration", kMaxFile);
    if (!text) return text.error();
    return parse(*text, path, Wrong::kRefuse);
}

Result<Config> load_sound_policies(const std::string& path) {
    Result<std::string> text = read_file(path, "the configuration", kMaxFile);
    if (!text) return text.error();
    return parse(*text, path, Wrong::kLeaveOut);
}

Settings policy_settings(const Config& config) {
    TRUEUP_CHECK(config.policies.size() == 1);
    const PolicyConfig& policy = config.policies.front();
    Settings settings;
    settings.policy = policy.name;
    settings.text = policy.text;
    for (const SourceConfig& source : config.sources) {
        const policy::Role* plays = policy.role_of(source.name);
        const Role role =
            plays == nullptr ? kNoRole : policies::role_number(*policy.text, plays->name);
        settings.sources.push_back({source.name,
                                    source.topic(),
                                    role,
                                    {},
                                    source.at_least,
                                    selects(source),
                                    plays == nullptr ? 0 : mapping_of(config, source)});
    }
    settings.rules = policy.rules;
    settings.enabled = policy.enabled;
    settings.windows = policy.windows;
    settings.reconcile_every = policy.reconcile_every;
    settings.max_clock_skew = policy.max_clock_skew;
    settings.max_clock_step = config.max_clock_step;
    settings.max_broker_skew = config.max_broker_skew;
    settings.stale_after = policy.stale_after;
    settings.command_ttl = policy.command_ttl;
    settings.max_drop_percent = policy.max_drop_percent;
    return settings;
}

std::set<std::string> secret_variables(const Config& config) {
    std::set<std::string> names{"PGPASSWORD"};  // libpq reads it by itself
    for (const SourceConfig& source : config.sources) {
        const PostgresSource* postgres = source.postgres();
        if (postgres != nullptr && postgres->from == Conninfo::kEnvironment) {
            names.insert(postgres->conninfo);
        }
    }
    for (const ExecutorConfig& executor : config.executors) {
        if (executor.rows && executor.rows->from == Conninfo::kEnvironment) {
            names.insert(executor.rows->conninfo);
        }
    }
    return names;
}

}  // namespace trueup::config
