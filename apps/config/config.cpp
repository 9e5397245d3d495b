#include "apps/config/config.h"

#include "apps/config/reading.h"
#include "apps/config/tree.h"
#include "apps/config/words.h"
#include "engine/base/check.h"
#include "engine/base/loopback.h"
#include "engine/ports/private_file.h"
#include "policies/shipped.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
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

/// Lines `name=value`, as librdkafka's own tools read them: for what should not stand here.
void read_client_file(Section& kafka, const std::string& folder, KafkaBus& bus) {
    const std::string path = read_path(kafka, "client_file", "", folder);
    if (path.empty()) return;
    const Result<std::string> text = ports::read_private_file(path);
    if (!text) return kafka.problem("client_file", text.error().what);
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t equals = line.find('=');
        if (line.empty() || line.front() == '#') continue;
        if (equals == std::string::npos) {
            return kafka.problem("client_file", "has a line without =; write name=value");
        }
        bus.client[line.substr(0, equals)] = line.substr(equals + 1);
    }
}

/// Whoever answers in the brokers' place could take every fact and give every answer. Only what is
/// known to verify does: the client has many spellings of what does not.
void check_verification(Section& kafka, KafkaBus& bus) {
    bus.known = kafka.texts("acknowledge");
    for (const std::string& name : bus.known) {
        if (name == "verification") continue;
        kafka.problem(
            "acknowledge",
            fmt::format("names '{}'; for kafka only verification can be acknowledged", name));
    }
    if (!bus.known.empty()) return;
    for (const auto& [name, value] :
         {std::pair<std::string, std::string>{"enable.ssl.certificate.verification", "true"},
          std::pair<std::string, std::string>{"ssl.endpoint.identification.algorithm", "https"}}) {
        const auto set = bus.client.find(name);
        if (set == bus.client.end() || set->second == value) continue;
        kafka.problem(
            "client",
            fmt::format(
                "has {}: {}, so any server could pose as the broker; write {} or remove it, and "
                "name the authority in ssl.ca.location, or write acknowledge: [verification]",
                name, set->second, value));
    }
}

void read_kafka(Section kafka, const std::string& folder, Config& config) {
    KafkaBus bus;
    if (kafka.require("bootstrap", "bootstrap: broker-1:9092,broker-2:9092")) {
        bus.bootstrap = kafka.text("bootstrap");
    }
    bus.prefix = kafka.text("prefix", bus.prefix);
    const bool plain = !bus.prefix.empty() && bus.prefix.size() <= 200 &&
                       bus.prefix.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_") ==
                           std::string::npos;
    if (!plain)
        kafka.problem("prefix", "may only contain a-z, 0-9, '.', '-' and '_'; write trueup");
    bus.partitions = kafka.count("partitions", bus.partitions);
    if (bus.partitions < 1 || bus.partitions > 1024) {
        kafka.problem("partitions", fmt::format("is {}; write 1 to 1024", bus.partitions));
    }
    bus.replicas = kafka.count("replicas", bus.replicas);
    bus.min_in_sync = kafka.count("min_in_sync", std::min(bus.min_in_sync, bus.replicas));
    if (bus.min_in_sync < 1 || bus.min_in_sync > bus.replicas) {
        kafka.problem("min_in_sync", fmt::format("is {}; write 1 to replicas, which is {}",
                                                 bus.min_in_sync, bus.replicas));
    }
    Section client = kafka.section("client");
    for (const std::string& name : client.keys()) bus.client[name] = client.text(name);
    client.finish();
    read_client_file(kafka, folder, bus);
    check_verification(kafka, bus);
    kafka.finish();
    config.kafka = std::move(bus);
}

/// `forever`, an age, or a size.
void read_journal_retention(Section& retention, Config& config) {
    const std::string text = retention.text("journal", "forever");
    if (text == "forever") return;
    const std::optional<std::uint64_t> bytes = parse_size(text);
    const std::optional<Millis> age = parse_duration(text);
    if (bytes && config.kafka) {
        retention.problem(
            "journal",
            "is a size, which brokers do not report; write an age, as in 30d, or forever");
    } else if (bytes && *bytes < std::uint64_t{1} << 30U) {
        retention.problem(
            "journal", fmt::format("is {}; write at least 1GiB: it is the limit for the whole log",
                                   size_text(*bytes)));
    } else if (age && *age < std::chrono::hours(24)) {
        retention.problem(
            "journal",
            fmt::format("is {}; write at least 1d: what is deleted can no longer be explained",
                        duration_text(*age)));
    } else if (!bytes && !age) {
        retention.problem("journal",
                          fmt::format("is '{}'; write forever, an age as in 30d, or the size of "
                                      "the log as in 20GiB",
                                      text));
    }
    config.retention.journal = age;
    config.retention.log_bytes = bytes;
}

void read_retention(Section retention, Config& config) {
    read_journal_retention(retention, config);
    if (config.kafka) {
        retention.refuse(
            "topics",
            "is set on the brokers; `trueup topics create` creates the topics with a week");
    }
    Millis& topics = config.retention.topics;
    topics = retention.duration("topics", topics);
    if (topics < std::chrono::hours(48)) {
        retention.problem("topics",
                          fmt::format("is {}; write at least 2d: a command may live for a day",
                                      duration_text(topics)));
    }
    retention.finish();
}

void read_bus(Section bus, const std::string& folder, Config& config) {
    if (bus.has("kafka")) {
        bus.refuse("embedded", "cannot be used together with kafka; remove one of the two");
        read_kafka(bus.section("kafka"), folder, config);
        // Times of several brokers are compared.
        config.max_broker_skew = Millis{1'000};
    }
    Section embedded = bus.section("embedded");
    config.fsync = embedded.flag("fsync", config.fsync);
    embedded.finish();
    read_retention(bus.section("retention"), config);
    config.max_clock_step = bus.duration("max_clock_step", config.max_clock_step);
    if (config.max_clock_step < Millis(100)) {
        bus.problem("max_clock_step",
                    "is shorter than 100ms, so journal time would hardly advance; write 10s");
    }
    config.max_broker_skew = bus.duration("max_broker_skew", config.max_broker_skew);
    bus.finish();
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

Topic SourceConfig::topic() const {
    const KubernetesSource* watched = kubernetes();
    if (watched == nullptr) return Topic::kChangesRows;
    const bool pods = watched->resource.plural == "pods" && watched->resource.api_path == "/api/v1";
    return pods ? Topic::kChangesPods : Topic::kChangesResources;
}

const SourceConfig* Config::source(std::string_view name) const {
    for (const SourceConfig& one : sources) {
        if (one.name == name) return &one;
    }
    return nullptr;
}

const ExecutorConfig* Config::executor(std::string_view source) const {
    for (const ExecutorConfig& one : executors) {
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
        settings.sources.push_back(
            {source.name, source.topic(), role, {}, source.at_least, selects(source)});
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

Result<std::string> read_conninfo(const SourceConfig& source) {
    const PostgresSource* postgres = source.postgres();
    TRUEUP_CHECK(postgres != nullptr);
    return read_conninfo(*postgres, "sources." + source.name);
}

Result<std::string> read_conninfo(const DatabaseLogin& login, const std::string& key) {
    if (login.from == Conninfo::kText) return login.conninfo;
    const std::string place = "the connection of " + key;
    std::string text;
    if (login.from == Conninfo::kFile) {
        Result<std::string> read = ports::read_private_file(login.conninfo);
        if (!read) {
            return Error{read.error().next, read.error().code, place + ": " + read.error().what};
        }
        text = std::move(*read);
    } else if (const char* value = std::getenv(login.conninfo.c_str())) {
        text = value;
    }
    const std::size_t last = text.find_last_not_of(" \t\r\n");
    text.resize(last == std::string::npos ? 0 : last + 1);
    if (!text.empty()) return text;
    return Error{
        Next::kStop, Code::kConfiguration,
        fmt::format("{} is empty, but should have {}; write \"host=... dbname=... user=... "
                    "password=...\" there",
                    login.from == Conninfo::kFile ? login.conninfo
                                                  : "the environment variable " + login.conninfo,
                    place)};
}

}  // namespace trueup::config
