#include "apps/wiring.h"

#include "apps/keys.h"
#include "connectors/kubernetes/connector.h"
#include "connectors/kubernetes/kubeconfig.h"
#include "connectors/kubernetes/probe.h"
#include "connectors/kubernetes/transport.h"
#include "connectors/postgres/connector.h"
#include "connectors/postgres/correlation.h"
#include "connectors/postgres/inspection.h"
#include "connectors/postgres/probe.h"
#include "connectors/postgres/transport.h"
#include "engine/base/check.h"
#include "engine/ports/clock.h"
#include "engine/ports/selector.h"

#include <algorithm>
#include <string>
#include <utility>

namespace trueup::apps {

namespace {

namespace postgres = connectors::postgres;
using config::Config;
using config::KubernetesSource;
using config::PostgresSource;
using config::SourceConfig;

constexpr Millis kInspectLimit{5'000};

Error about(const SourceConfig& source, const Error& error) {
    return {error.next, "source " + source.name + ": " + error.what};
}

Result<std::unique_ptr<ports::Cluster>> open_cluster(const SourceConfig& source) {
    const KubernetesSource& kubernetes = *source.kubernetes();
    auto access = kubernetes.in_cluster
                      ? connectors::in_cluster_access()
                      : connectors::read_kubeconfig(kubernetes.kubeconfig, kubernetes.context);
    if (!access) return about(source, access.error());
    auto cluster = connectors::HttpCluster::open(std::move(*access));
    if (!cluster) return about(source, cluster.error());
    return std::unique_ptr<ports::Cluster>(std::move(*cluster));
}

Result<std::unique_ptr<ports::Database>> open_database(const SourceConfig& source) {
    const Result<std::string> conninfo = config::read_conninfo(source);
    if (!conninfo) return conninfo.error();
    auto database = postgres::LibpqDatabase::open(*conninfo);
    if (!database) return about(source, database.error());
    return std::unique_ptr<ports::Database>(std::move(*database));
}

/// The policy that uses this source; a configuration has exactly one.
const config::PolicyConfig& policy_of(const Config& config) { return config.policies.front(); }

/// Without the key: enough to look at what is published, and nothing is hashed.
ports::FieldPolicy policy_for(const config::Fields& fields) {
    ports::FieldPolicy policy;
    for (const auto& [name, field] : fields) policy.named.emplace(name, field.treatment);
    return policy;
}

Result<postgres::Settings> table_settings(const Config& config, const SourceConfig& source) {
    const PostgresSource& rows = *source.postgres();
    auto correlate = postgres::Correlation::parse(policy_of(config).correlate);
    if (!correlate) return correlate.error();
    postgres::Settings settings{rows.table,   rows.slot,  rows.publication,
                                rows.columns, *correlate, policy_of(config).name + "/",
                                source.name};
    settings.hold_column = rows.hold_column;
    settings.emit_message = rows.emit_message;
    settings.fields = policy_for(rows.fields);
    return settings;
}

connectors::KubernetesSettings cluster_settings(const Config& config, const SourceConfig& source) {
    const KubernetesSource& pods = *source.kubernetes();
    connectors::KubernetesSettings settings;
    settings.resource = pods.resource;
    settings.label_selector = pods.selector;
    settings.subject_prefix = policy_of(config).name + "/";
    settings.source_name = source.name;
    settings.key_label = pods.key_label;
    settings.mapped_labels = pods.labels;
    settings.hold_key = pods.hold;
    settings.fields = policy_for(pods.fields);
    return settings;
}

/// Gives a policy that hashes the key to do it with, made at the first start.
Status add_hash(const Config& config, ports::FieldPolicy& policy) {
    const bool hashes =
        std::any_of(policy.named.begin(), policy.named.end(),
                    [](const auto& field) { return field.second == ports::Treatment::kHash; });
    if (!hashes) return Done{};
    Result<codec::KeyRing> keys =
        config.kafka ? read_keys(config.keys, "fields") : load_keys(config.keys, "fields");
    if (!keys) return keys.error();
    policy.hash = [keys = std::move(*keys)](std::string_view text) { return keys.hash(text); };
    return Done{};
}

Result<SourceSpec> make_source(const Config& config, const SourceConfig& source) {
    SourceSpec spec;
    spec.name = source.name;
    spec.topic = source.topic();
    spec.pace_idle = source.idle;
    spec.pace_waiting = source.waiting;
    spec.resnapshot = source.resnapshot;
    if (source.kubernetes() != nullptr) {
        auto cluster = open_cluster(source);
        if (!cluster) return cluster.error();
        spec.cluster = std::move(*cluster);
        connectors::KubernetesSettings settings = cluster_settings(config, source);
        if (Status keyed = add_hash(config, settings.fields); !keyed) return keyed.error();
        spec.connector =
            std::make_unique<connectors::KubernetesConnector>(*spec.cluster, std::move(settings));
        return spec;
    }
    auto database = open_database(source);
    if (!database) return database.error();
    spec.database = std::move(*database);
    auto settings = table_settings(config, source);
    if (!settings) return settings.error();
    if (Status keyed = add_hash(config, settings->fields); !keyed) return keyed.error();
    auto connector = postgres::PostgresConnector::open(std::move(*settings), *spec.database);
    if (!connector) return about(source, connector.error());
    spec.connector = std::move(*connector);
    return spec;
}

/// The primary key's columns, asked of the server itself.
Result<std::vector<std::string>> primary_key(ports::Database& database,
                                             const SourceConfig& source) {
    const PostgresSource& rows = *source.postgres();
    constexpr ports::CallId kCall = 1;
    database.inspect(kCall, {rows.table, rows.publication});
    ports::Clock& clock = ports::system_clock();
    const SteadyTime limit = clock.steady_now() + kInspectLimit;
    std::vector<ports::DatabaseEvent> events;
    while (clock.steady_now() < limit) {
        events.clear();
        database.poll(Millis{100}, events);
        for (const ports::DatabaseEvent& event : events) {
            if (event.kind == ports::DatabaseEvent::Kind::kFailed)
                return about(source, event.error);
            if (event.rows.empty()) continue;
            const auto inspection = postgres::read_inspection(event.rows.front());
            if (!inspection) return about(source, inspection.error());
            if (inspection->pk_columns.empty()) {
                return about(source, {Next::kStop,
                                      "the table has no primary key; a row could not "
                                      "be named exactly"});
            }
            database.cancel(kCall);
            return inspection->pk_columns;
        }
    }
    return about(source, {Next::kRetry, "no answer within 5 s"});
}

Status add_pods(const SourceConfig& source, ExecutorSpec& spec) {
    auto cluster = open_cluster(source);
    if (!cluster) return cluster.error();
    spec.clusters.push_back(std::move(*cluster));
    executors::PodSource pods;
    pods.cluster = spec.clusters.back().get();
    pods.resource = source.kubernetes()->resource;
    pods.hold_key = source.kubernetes()->hold;
    pods.key_label = source.kubernetes()->key_label;
    const auto selector = ports::Selector::parse(source.kubernetes()->selector);
    TRUEUP_CHECK(selector.has_value());  // the configuration was read
    pods.selector = *selector;
    spec.sources.pods.emplace(source.name, std::move(pods));
    return Done{};
}

Status add_rows(const Config& config, const SourceConfig& source, ExecutorSpec& spec) {
    auto database = open_database(source);
    if (!database) return database.error();
    auto key = primary_key(**database, source);
    if (!key) return key.error();
    auto correlate = postgres::Correlation::parse(policy_of(config).correlate);
    if (!correlate) return correlate.error();
    spec.databases.push_back(std::move(*database));
    executors::RowSource rows;
    rows.database = spec.databases.back().get();
    rows.table = source.postgres()->table;
    rows.pk_columns = std::move(*key);
    rows.key_expression = correlate->sql();
    rows.key_columns = correlate->columns();
    rows.hold_column = source.postgres()->hold_column;
    spec.sources.rows.emplace(source.name, std::move(rows));
    return Done{};
}

Status check_source(const Config& config, const SourceConfig& source) {
    if (source.kubernetes() != nullptr) {
        auto cluster = open_cluster(source);
        if (!cluster) return cluster.error();
        return connectors::check_access(**cluster, source.kubernetes()->resource,
                                        source.kubernetes()->selector);
    }
    auto database = open_database(source);
    if (!database) return database.error();
    const auto settings = table_settings(config, source);
    if (!settings) return settings.error();
    return postgres::check_access(**database, *settings);
}

}  // namespace

Result<std::vector<SourceSpec>> make_sources(const Config& config) {
    std::vector<SourceSpec> specs;
    for (const SourceConfig& source : config.sources) {
        auto spec = make_source(config, source);
        if (!spec) return spec.error();
        specs.push_back(std::move(*spec));
    }
    return specs;
}

Result<ExecutorSpec> make_executors(const Config& config) {
    ExecutorSpec spec;
    // An executor reads the other side too, so it gets every source, not only the one it writes.
    for (const SourceConfig& source : config.sources) {
        const Status added = source.kubernetes() != nullptr ? add_pods(source, spec)
                                                            : add_rows(config, source, spec);
        if (!added) return added.error();
    }
    spec.settings.max_skew = std::max(spec.settings.max_skew, config.max_skew);
    return spec;
}

std::vector<std::string> check_sources(const Config& config, const std::string& file) {
    std::vector<std::string> wrong;
    for (const SourceConfig& source : config.sources) {
        const Status right = check_source(config, source);
        if (right) continue;
        const std::string name = "source " + source.name + ": ";
        const std::string& what = right.error().what;
        std::string sentence = file;
        sentence.append(":").append(std::to_string(source.line)).append(": ");
        if (!what.starts_with(name)) sentence.append(name);
        wrong.push_back(sentence.append(what));
    }
    return wrong;
}

}  // namespace trueup::apps
