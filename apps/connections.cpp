#include "apps/connections.h"

#include "connectors/kubernetes/kubeconfig.h"
#include "engine/base/check.h"
#include "engine/model/subject_key.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace trueup::apps {

namespace postgres = connectors::postgres;
using config::Config;
using config::KubernetesSource;
using config::PostgresSource;
using config::SourceConfig;

Error about(const SourceConfig& source, const Error& error) {
    return {error.next, error.code, "source " + source.name + ": " + error.what};
}

namespace {

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

}  // namespace

Result<std::unique_ptr<connectors::HttpCluster>> open_cluster(const Config& config,
                                                              const SourceConfig& source) {
    return open_cluster(config, "source " + source.name, access_of(*source.kubernetes()));
}

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
                     who + " would write at " + access->server + ", and source " + source.name +
                         " reads " + read->server +
                         "; write a kubeconfig or a context with that server"};
    }
    return open_cluster(config, who, std::move(access));
}

Result<std::unique_ptr<postgres::LibpqDatabase>> open_database(const SourceConfig& source) {
    const Result<std::string> conninfo = config::read_conninfo(source);
    if (!conninfo) return conninfo.error();
    auto database =
        postgres::LibpqDatabase::open(*conninfo, source.postgres()->any_tls, source.only_read());
    if (!database) return about(source, database.error());
    return database;
}

Result<std::unique_ptr<postgres::LibpqDatabase>> open_database_writer(const Config& config,
                                                                      const SourceConfig& source) {
    const config::ExecutorConfig* executor = config.executor(source.name);
    if (executor == nullptr || !executor->rows) return std::unique_ptr<postgres::LibpqDatabase>();
    const std::string who = "executors." + executor->kind;
    const auto conninfo = config::read_conninfo(*executor->rows, who);
    if (!conninfo) return conninfo.error();
    auto database = postgres::LibpqDatabase::open(*conninfo, executor->rows->any_tls);
    if (!database) {
        return Error{database.error().next, database.error().code,
                     who + ": " + database.error().what};
    }
    return database;
}

const config::PolicyConfig& policy_of(const Config& config) { return config.policies.front(); }

Result<postgres::Correlation> correlation_of(const Config& config, const SourceConfig& source) {
    const policy::Role* role = policy_of(config).role_of(source.name);
    TRUEUP_CHECK(role != nullptr);
    return postgres::Correlation::of(role->key);
}

namespace {

/// Without the key: enough to look at what is published, and nothing is hashed.
ports::FieldPolicy policy_for(const config::Fields& fields) {
    ports::FieldPolicy policy;
    for (const auto& [name, field] : fields) policy.named.emplace(name, field.treatment);
    return policy;
}

/// What subject keys of the source begin with.
std::string subject_prefix(const Config& config, const SourceConfig& source) {
    const config::PolicyConfig& policy = policy_of(config);
    const policy::Role* role = policy.role_of(source.name);
    if (role != nullptr && role->reference) return reference_prefix(source.name);
    return policy.name + '/';
}

}  // namespace

Result<postgres::Settings> table_settings(const Config& config, const SourceConfig& source) {
    const PostgresSource& rows = *source.postgres();
    auto correlate = correlation_of(config, source);
    if (!correlate) return correlate.error();
    postgres::Settings settings{rows.table,   rows.slot,  rows.publication,
                                rows.columns, *correlate, subject_prefix(config, source),
                                source.name};
    settings.veto_column = rows.veto_column;
    settings.emit_message = rows.emit_message;
    settings.fields = policy_for(rows.fields);
    settings.types = rows.types;
    settings.primary_key = rows.primary_key;
    return settings;
}

connectors::KubernetesSettings cluster_settings(const Config& config, const SourceConfig& source) {
    const KubernetesSource& pods = *source.kubernetes();
    connectors::KubernetesSettings settings;
    settings.resource = pods.resource;
    settings.label_selector = pods.selector;
    settings.subject_prefix = subject_prefix(config, source);
    settings.source_name = source.name;
    settings.key_label = config::key_label_of(policy_of(config), source);
    settings.mapped_labels = pods.labels;
    settings.paths = policy_of(config).paths_of(source.name);
    settings.veto_label = pods.veto_label;
    settings.fields = policy_for(pods.fields);
    return settings;
}

}  // namespace trueup::apps
