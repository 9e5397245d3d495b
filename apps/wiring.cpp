#include "apps/wiring.h"

#include "apps/keys.h"
#include "connectors/kubernetes/access_check.h"
#include "connectors/kubernetes/connector.h"
#include "connectors/kubernetes/kubeconfig.h"
#include "connectors/kubernetes/transport.h"
#include "connectors/postgres/access_check.h"
#include "connectors/postgres/connector.h"
#include "connectors/postgres/correlation.h"
#include "connectors/postgres/transport.h"
#include "engine/base/check.h"
#include "engine/base/id.h"
#include "engine/ports/selector.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace trueup::apps {

namespace {

namespace postgres = connectors::postgres;
using config::Config;
using config::KubernetesSource;
using config::PostgresSource;
using config::SourceConfig;

/// Of executors, until a check has found otherwise.
constexpr const char* kNotAsked =
    "it has not been checked yet whether it can be read as configured";

Error about(const SourceConfig& source, const Error& error) {
    return {error.next, error.code, "source " + source.name + ": " + error.what};
}

Result<connectors::ClusterAccess> access_of(const config::ClusterLogin& login) {
    return login.in_cluster ? connectors::in_cluster_access()
                            : connectors::read_kubeconfig(login.kubeconfig, login.context);
}

/// `who` is said before what its access has to say.
Result<std::unique_ptr<connectors::HttpCluster>> open_cluster(
    const Config& config, const std::string& who, Result<connectors::ClusterAccess> access) {
    const auto wrong = [&who](const Error& error) {
        return Error{error.next, error.code, who + ": " + error.what};
    };
    if (!access) return wrong(access.error());
    access->say = [who](const std::string& what) { spdlog::warn("{}: {}", who, what); };
    if (access->exec) access->exec->withheld = config::secret_variables(config);
    auto cluster = connectors::HttpCluster::open(std::move(*access));
    if (!cluster) return wrong(cluster.error());
    return cluster;
}

Result<std::unique_ptr<connectors::HttpCluster>> open_cluster(const Config& config,
                                                              const SourceConfig& source) {
    return open_cluster(config, "source " + source.name, access_of(*source.kubernetes()));
}

/// To delete what that source has, as another account: nullptr where it is the source's own. It has
/// to be the same server, by the address that both kubeconfigs have.
Result<std::unique_ptr<connectors::HttpCluster>> open_cluster_writer(const Config& config,
                                                                     const SourceConfig& source) {
    const config::ExecutorConfig* executor = config.executor(source.name);
    if (executor == nullptr || !executor->objects) {
        return std::unique_ptr<connectors::HttpCluster>();
    }
    const std::string who = "executors." + executor->kind;
    auto access = access_of(*executor->objects);
    const auto read = access_of(*source.kubernetes());
    if (!read) return about(source, read.error());
    if (access && access->server != read->server) {
        return Error{Next::kStop, Code::kConfiguration,
                     who + " would delete at " + access->server + ", and source " + source.name +
                         " reads " + read->server +
                         "; write a kubeconfig or a context with that server"};
    }
    return open_cluster(config, who, std::move(access));
}

Result<std::unique_ptr<postgres::LibpqDatabase>> open_database(const SourceConfig& source) {
    const Result<std::string> conninfo = config::read_conninfo(source);
    if (!conninfo) return conninfo.error();
    auto database = postgres::LibpqDatabase::open(*conninfo, source.postgres()->any_tls);
    if (!database) return about(source, database.error());
    return database;
}

/// To write that source's rows, as another role: nullptr where it is the source's own.
Result<std::unique_ptr<postgres::LibpqDatabase>> open_database_writer(const Config& config,
                                                                      const SourceConfig& source) {
    const config::ExecutorConfig* executor = config.executor(source.name);
    if (executor == nullptr || !executor->rows) return std::unique_ptr<postgres::LibpqDatabase>();
    const auto conninfo = config::read_conninfo(*executor->rows, "executors.update_row");
    if (!conninfo) return conninfo.error();
    auto database = postgres::LibpqDatabase::open(*conninfo, executor->rows->any_tls);
    if (!database) {
        return Error{database.error().next, database.error().code,
                     "executors.update_row: " + database.error().what};
    }
    return database;
}

/// Each configuration here is of one policy.
const config::PolicyConfig& policy_of(const Config& config) { return config.policies.front(); }

/// Of a table, which plays a role: the configuration was read.
Result<postgres::Correlation> correlation_of(const Config& config, const SourceConfig& source) {
    const policy::Role* role = policy_of(config).role_of(source.name);
    TRUEUP_CHECK(role != nullptr);
    return postgres::Correlation::of(role->key);
}

/// Without the key: enough to look at what is published, and nothing is hashed.
ports::FieldPolicy policy_for(const config::Fields& fields) {
    ports::FieldPolicy policy;
    for (const auto& [name, field] : fields) policy.named.emplace(name, field.treatment);
    return policy;
}

Result<postgres::Settings> table_settings(const Config& config, const SourceConfig& source) {
    const PostgresSource& rows = *source.postgres();
    auto correlate = correlation_of(config, source);
    if (!correlate) return correlate.error();
    postgres::Settings settings{rows.table,   rows.slot,  rows.publication,
                                rows.columns, *correlate, policy_of(config).name + "/",
                                source.name};
    settings.veto_column = rows.veto_column;
    settings.emit_message = rows.emit_message;
    settings.fields = policy_for(rows.fields);
    settings.types = rows.types;
    return settings;
}

connectors::KubernetesSettings cluster_settings(const Config& config, const SourceConfig& source) {
    const KubernetesSource& pods = *source.kubernetes();
    connectors::KubernetesSettings settings;
    settings.resource = pods.resource;
    settings.label_selector = pods.selector;
    settings.subject_prefix = policy_of(config).name + "/";
    settings.source_name = source.name;
    settings.key_label = config::key_label_of(policy_of(config), source);
    settings.mapped_labels = pods.labels;
    settings.veto_label = pods.veto_label;
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
    if (Status right = postgres::check_access(**database, *settings); !right) return right.error();
    const auto inspection = postgres::inspect(**database, *settings);
    if (!inspection) return inspection.error();
    // What was asked for may have gone since.
    if (Status fit = postgres::judge_table(*inspection, *settings); !fit) return fit.error();
    return inspection->pk_columns;
}

/// What is hashed no rule reads: any hash will do where nothing is kept.
void add_passing_hash(ports::FieldPolicy& policy) {
    policy.hash = [](std::string_view text) { return to_hex(hash128(text)); };
}

std::optional<std::vector<std::string>> verbs_missing(connectors::HttpCluster& writer,
                                                      const ports::Resource& resource) {
    const connectors::Post post = [&](ports::CallId call, std::string_view path, std::string body) {
        connectors::HttpRequest request;
        request.method = "POST";
        request.path = path;
        request.body = std::move(body);
        writer.send(call, request);
    };
    return connectors::missing_verbs(writer, post, resource, {"delete"});
}

Result<Surveyed> survey_cluster(const Config& config, const SourceConfig& source,
                                const Watcher& watcher, Depth depth) {
    auto cluster = open_cluster(config, source);
    if (!cluster) return cluster.error();
    const ports::Resource& resource = source.kubernetes()->resource;
    Surveyed asked;
    asked.name = source.name;
    if (!resource.name_space.empty()) {
        asked.namespace_exists = connectors::namespace_exists(**cluster, resource.name_space);
    }
    if (depth == Depth::kRights) {
        auto writer = open_cluster_writer(config, source);
        if (!writer) return writer.error();
        asked.missing_verbs = verbs_missing(*writer ? **writer : **cluster, resource);
    }
    connectors::KubernetesSettings settings = cluster_settings(config, source);
    add_passing_hash(settings.fields);
    auto look = look_at(**cluster, std::move(settings), watcher);
    if (!look) return look.error();
    asked.look = std::move(*look);
    return asked;
}

/// What may be updated by whoever writes, who has to reach the very database that is read.
Result<std::vector<std::string>> updatable_columns(const Config& config, const SourceConfig& source,
                                                   postgres::LibpqDatabase& reader,
                                                   const postgres::Settings& settings,
                                                   const postgres::TableCheck& read) {
    auto writer = open_database_writer(config, source);
    if (!writer) return writer.error();
    if (!*writer) return read.updatable;
    const auto wrong = [](const Error& error) {
        return Error{error.next, error.code, "executors.update_row: " + error.what};
    };
    const auto here = postgres::place_of(reader);
    if (!here) return about(source, here.error());
    const auto there = postgres::place_of(**writer);
    if (!there) return wrong(there.error());
    if (*here != *there) {
        return wrong({Next::kStop, Code::kConfiguration,
                      "its connection reaches another database (" + *there + ") than source " +
                          source.name + " (" + *here +
                          "), as system id, timeline and name; nothing would be written; use a "
                          "connection to the same one"});
    }
    const auto inspection = postgres::inspect(**writer, settings);
    if (!inspection) return wrong(inspection.error());
    return inspection->updatable;
}

Result<Surveyed> survey_table(const Config& config, const SourceConfig& source,
                              const Watcher& watcher, Depth depth) {
    auto database = open_database(source);
    if (!database) return database.error();
    auto settings = table_settings(config, source);
    if (!settings) return settings.error();
    add_passing_hash(settings->fields);
    const auto inspection = postgres::inspect(**database, *settings);
    if (!inspection) return about(source, inspection.error());
    Surveyed asked;
    asked.name = source.name;
    if (depth == Depth::kRights) {
        auto updatable = updatable_columns(config, source, **database, *settings, *inspection);
        if (!updatable) return updatable.error();
        asked.updatable = std::move(*updatable);
    }
    const std::string remark = postgres::slot_remark(*inspection, *settings);
    if (!remark.empty()) asked.remarks.push_back(remark);
    auto look = look_at(**database, *settings, watcher);
    if (!look) return look.error();
    asked.look = std::move(*look);
    const bool deletes = config.has_executor("delete_pod") || config.has_executor("delete_object");
    if (depth == Depth::kWorld || !deletes) return asked;
    const policy::Role& role = *policy_of(config).role_of(source.name);
    std::vector<std::string> alone = policy::alone_in(role.key);
    alone.insert(alone.end(), role.also.begin(), role.also.end());
    auto slow =
        postgres::slow_looks(**database, *settings, alone, *inspection, asked.look.objects());
    if (!slow) return about(source, slow.error());
    for (std::string& each : *slow) asked.remarks.push_back(std::move(each));
    return asked;
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

Result<std::vector<Surveyed>> survey(const Config& config, const Watcher& watcher, Depth depth) {
    std::vector<Surveyed> all;
    const config::PolicyConfig& policy = policy_of(config);
    for (const SourceConfig& source : config.sources) {
        if (policy.role_of(source.name) == nullptr) continue;
        auto asked = source.kubernetes() != nullptr ? survey_cluster(config, source, watcher, depth)
                                                    : survey_table(config, source, watcher, depth);
        if (!asked) return asked.error();
        all.push_back(std::move(*asked));
    }
    return all;
}

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
