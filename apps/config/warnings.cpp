// What an operator should know about a configuration that is sound.
#include "apps/config/describe.h"
#include "apps/config/words.h"
#include "connectors/postgres/redaction.h"
#include "engine/base/loopback.h"

#include <fmt/format.h>

#include <algorithm>

namespace trueup::config {

namespace {

bool has_times(const RuleSettings& rule) { return rule.grace > Millis(0); }

/// A side of a policy: what it lacks is missing, or makes an orphan.
bool judged_by_absence(const SourceConfig& source, const Config& config) {
    return std::any_of(config.policies.begin(), config.policies.end(),
                       [&source](const PolicyConfig& policy) {
                           const policy::Role* role = policy.role_of(source.name);
                           return role != nullptr && !role->optional;
                       });
}

/// `key` is where it stands; its keys are below `inner` there.
void warn_of_login(const DatabaseLogin& login, const std::string& key,
                   std::vector<std::string>& all, std::string_view inner = {}) {
    if (login.any_tls) {
        all.push_back(fmt::format("{} connects with any sslmode (acknowledged)", key));
    }
    if (login.from == Conninfo::kText &&
        connectors::postgres::redact_conninfo(login.conninfo) != login.conninfo) {
        all.push_back(
            fmt::format("{}{}.conninfo seems to contain a password; conninfo_file or conninfo_env "
                        "keeps it out of this file",
                        key, inner));
    }
}

void warn_of_source(const SourceConfig& source, const Config& config,
                    std::vector<std::string>& all) {
    const bool used = std::any_of(
        config.policies.begin(), config.policies.end(),
        [&source](const PolicyConfig& policy) { return policy.role_of(source.name) != nullptr; });
    if (!used) {
        all.push_back(fmt::format("sources.{} is used by no policy: {}", source.name,
                                  config.policies.size() > 1
                                      ? "nobody watches it"
                                      : "it is watched, but nothing is judged"));
    }
    if (source.relist_every < std::chrono::minutes(5)) {
        all.push_back(fmt::format(
            "sources.{}.relist_every {} reads the whole source very often; 6h is typical",
            source.name, duration_text(source.relist_every)));
    }
    if (source.at_least == 0 && judged_by_absence(source, config)) {
        all.push_back(
            fmt::format("sources.{}.expect.at_least is 0: an empty first list is believed, and "
                        "then everything on the other side counts as wrong",
                        source.name));
    }
    const KubernetesSource* kubernetes = source.kubernetes();
    const bool many = kubernetes != nullptr && kubernetes->resource.name_space.empty() &&
                      !kubernetes->resource.cluster_scoped;
    if (many && used) {
        all.push_back(
            fmt::format("sources.{} watches all namespaces: two pods with the same name claim one "
                        "subject, and then nothing is done about either",
                        source.name));
    }
    const PostgresSource* postgres = source.postgres();
    if (postgres == nullptr) return;
    warn_of_login(*postgres, "sources." + source.name, all, ".postgres");
}

void warn_of_policy(const PolicyConfig& policy, std::vector<std::string>& all) {
    all.insert(all.end(), policy.warnings.begin(), policy.warnings.end());
    for (const RuleSettings& rule : policy.rules) {
        if (!acts(rule.mode) || !has_times(rule)) continue;
        if (rule.grace < Millis(10'000)) {
            all.push_back(fmt::format(
                "rules.{} acts after only {}; below 10s a slow start is taken for a disagreement",
                rule.rule, duration_text(rule.grace)));
        }
    }
    if (policy.command_ttl < Millis(10'000)) {
        all.push_back(
            fmt::format("command_ttl {} is shorter than 10s: a lost command is never sent again",
                        duration_text(policy.command_ttl)));
    }
    for (const std::string& brake : policy.known) {
        all.push_back(fmt::format("{} is relaxed (acknowledged)", brake));
    }
}

/// A page has one kind of each metric: that of the policy that stands first.
void warn_of_metrics(const PolicyConfig& first, const PolicyConfig& later,
                     std::vector<std::string>& all) {
    for (const policy::Metric& metric : later.exports.metrics) {
        for (const policy::Metric& known : first.exports.metrics) {
            if (metric.name != known.name || metric.rule.empty() == known.rule.empty()) continue;
            all.push_back(fmt::format(
                "the metric {} is a {} in policy {} and a {} in {}, which is not exported; write "
                "another name in one of their files",
                metric.name, known.rule.empty() ? "gauge" : "counter", first.name,
                metric.rule.empty() ? "gauge" : "counter", later.name));
        }
    }
}

}  // namespace

std::vector<std::string> warnings(const Config& config) {
    std::vector<std::string> all;
    for (const SourceConfig& source : config.sources) warn_of_source(source, config, all);
    for (const PolicyConfig& policy : config.policies) warn_of_policy(policy, all);
    for (std::size_t i = 0; i < config.policies.size(); ++i) {
        for (std::size_t later = i + 1; later < config.policies.size(); ++later) {
            warn_of_metrics(config.policies[i], config.policies[later], all);
        }
    }
    for (const ExecutorConfig& executor : config.executors) {
        if (executor.rows) warn_of_login(*executor.rows, "executors." + executor.kind, all);
    }
    const std::uint64_t share = config.memory_bytes / config.policies.size();
    if (share < std::uint64_t{64} << 20U) {
        all.push_back(fmt::format(
            "memory {} is low{}; below 64MiB the projection reads from disk all the time",
            size_text(share), config.policies.size() > 1 ? " for each policy" : ""));
    }
    if (config.kafka && !config.kafka->known.empty()) {
        all.emplace_back("bus.kafka.client does not verify the brokers (acknowledged)");
    }
    if (config.kafka && config.kafka->min_in_sync < 2) {
        all.emplace_back(
            "bus.kafka keeps acknowledged records on one broker only: a power failure there may "
            "lose decisions");
    }
    if (!config.fsync) {
        all.emplace_back("bus.embedded.fsync is false: a power failure may lose decisions");
    }
    if (!config.listen.empty() && !is_loopback(config.listen) && !config.http_tls) {
        all.push_back(
            fmt::format("http.listen {} is open to other machines without TLS (acknowledged): "
                        "tokens are sent unencrypted",
                        config.listen));
    }
    return all;
}

}  // namespace trueup::config
