#include "apps/wiring.h"

#include "apps/connections.h"
#include "apps/keys.h"
#include "connectors/kubernetes/access_check.h"
#include "connectors/kubernetes/connector.h"
#include "connectors/kubernetes/transport.h"
#include "connectors/postgres/access_check.h"
#include "connectors/postgres/connector.h"
#include "connectors/postgres/query_connector.h"
#include "connectors/postgres/transport.h"
#include "engine/base/check.h"
#include "engine/ports/selector.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace trueup::apps {

namespace {

namespace postgres = connectors::postgres;
using config::Config;
using config::SourceConfig;

/// Of executors, until a check has found otherwise.
constexpr const char* kNotAsked =
    "it has not been checked yet whether it can be read as configured";

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
    spec.pace_waiting = source.active;
    spec.relist_every = source.relist_every;
    if (source.kubernetes() != nullptr) {
        auto cluster = open_cluster(config, source);
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
    if (source.only_read()) {
        auto connector = postgres::QueryConnector::open(std::move(*settings), *spec.database);
        if (!connector) return about(source, connector.error());
        spec.connector = std::move(*connector);
        return spec;
    }
    auto connector = postgres::PostgresConnector::open(std::move(*settings), *spec.database);
    if (!connector) return about(source, connector.error());
    spec.connector = std::move(*connector);
    return spec;
}

Status add_pods(const Config& config, const SourceConfig& source, ExecutorSpec& spec) {
    auto cluster = open_cluster(config, source);
    if (!cluster) return cluster.error();
    spec.clusters.push_back(std::move(*cluster));
    executors::PodSource pods;
    pods.cluster = spec.clusters.back().get();
    pods.resource = source.kubernetes()->resource;
    pods.veto_label = source.kubernetes()->veto_label;
    pods.paths = policy_of(config).paths_of(source.name);
    pods.key_label = config::key_label_of(policy_of(config), source);
    const auto selector = ports::Selector::parse(source.kubernetes()->selector);
    TRUEUP_CHECK(selector.has_value());  // the configuration was read
    pods.selector = *selector;
    pods.doubt = kNotAsked;
    spec.sources.pods.emplace(source.name, std::move(pods));
    return Done{};
}

Status add_rows(const Config& config, const SourceConfig& source, ExecutorSpec& spec) {
    auto database = open_database(source);
    if (!database) return database.error();
    auto correlate = correlation_of(config, source);
    if (!correlate) return correlate.error();
    spec.databases.push_back(std::move(*database));
    executors::RowSource rows;
    rows.database = spec.databases.back().get();
    rows.table = source.postgres()->table;
    rows.key_expression = correlate->sql();
    rows.key_columns = correlate->columns();
    rows.veto_column = source.postgres()->veto_column;
    rows.doubt = kNotAsked;
    rows.unique = correlate->indexed();
    spec.sources.rows.emplace(source.name, std::move(rows));
    return Done{};
}

using Columns = std::vector<std::string>;

/// `cluster` is kept from one attempt to the next: a plugin that takes long goes on meanwhile.
Result<Columns> check_cluster(const Config& config, const SourceConfig& source,
                              std::unique_ptr<connectors::HttpCluster>& cluster) {
    if (!cluster) {
        auto opened = open_cluster(config, source);
        if (!opened) return opened.error();
        cluster = std::move(*opened);
    }
    const Status right = connectors::check_access(*cluster, source.kubernetes()->resource,
                                                  source.kubernetes()->selector);
    if (right || !unanswered(right.error())) cluster.reset();
    if (!right) return right.error();
    return Columns{};
}

Result<Columns> check_table(const Config& config, const SourceConfig& source) {
    auto database = open_database(source);
    if (!database) return database.error();
    const auto settings = table_settings(config, source);
    if (!settings) return settings.error();
    if (source.only_read()) {
        if (Status right = postgres::check_query(**database, *settings); !right) {
            return right.error();
        }
        return settings->primary_key;
    }
    if (Status right = postgres::check_access(**database, *settings); !right) return right.error();
    const auto inspection = postgres::inspect(**database, *settings);
    if (!inspection) return inspection.error();
    // What was asked for may have gone since.
    if (Status fit = postgres::judge_table(*inspection, *settings); !fit) return fit.error();
    return inspection->pk_columns;
}

/// Other accounts to write with, where the configuration has them.
Status add_writers(const Config& config, ExecutorSpec& spec) {
    for (const SourceConfig& source : config.sources) {
        if (source.kubernetes() != nullptr) {
            auto cluster = open_cluster_writer(config, source);
            if (!cluster) return cluster.error();
            if (!*cluster) continue;
            spec.sources.pods.find(source.name)->second.writer = cluster->get();
            spec.clusters.push_back(std::move(*cluster));
        } else {
            auto database = open_database_writer(config, source);
            if (!database) return database.error();
            if (!*database) continue;
            spec.sources.rows.find(source.name)->second.writer = database->get();
            spec.databases.push_back(std::move(*database));
        }
    }
    return Done{};
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
        const Status added = source.kubernetes() != nullptr ? add_pods(config, source, spec)
                                                            : add_rows(config, source, spec);
        if (!added) return added.error();
    }
    if (Status writers = add_writers(config, spec); !writers) return writers.error();
    spec.settings.max_broker_skew = std::max(spec.settings.max_broker_skew, config.max_broker_skew);
    return spec;
}

std::vector<SourceCheck> source_checks(const Config& config, const std::string& file) {
    std::vector<SourceCheck> checks;
    const auto kept = std::make_shared<const Config>(config);
    for (std::size_t i = 0; i < config.sources.size(); ++i) {
        const SourceConfig& source = kept->sources[i];
        SourceCheck check;
        check.name = source.name;
        check.place = file + ":" + std::to_string(source.line);
        if (source.kubernetes() == nullptr) {
            check.ask = [kept, &source] { return check_table(*kept, source); };
        } else {
            auto cluster = std::make_shared<std::unique_ptr<connectors::HttpCluster>>();
            check.ask = [kept, &source, cluster] { return check_cluster(*kept, source, *cluster); };
        }
        checks.push_back(std::move(check));
    }
    return checks;
}

Flaws check_sources(const Config& config, const std::string& file) {
    Flaws flaws;
    for (const SourceCheck& check : source_checks(config, file)) {
        const auto right = check.ask();
        if (right) continue;
        auto& kind = unanswered(right.error()) ? flaws.unanswered : flaws.wrong;
        kind.push_back(sentence_of(check, right.error()));
    }
    return flaws;
}

}  // namespace trueup::apps
