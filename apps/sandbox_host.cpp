#include "apps/sandbox_host.h"

#include "apps/bus.h"
#include "connectors/kubernetes/connector.h"
#include "connectors/postgres/connector.h"
#include "sandbox/wiring/sandbox_wiring.h"

#include <utility>

namespace trueup::apps {

namespace {

constexpr const char* kSelector = "app in (ryugraph-wrapper, falkordb-wrapper)";

SourceSpec source_spec(const std::string& name, Topic topic) {
    SourceSpec spec;
    spec.name = name;
    spec.topic = topic;
    spec.pace_idle = Millis{2'000};
    spec.pace_waiting = Millis{500};
    return spec;
}

SourceSpec pods_source(sandbox::World& world, const std::string& policy) {
    SourceSpec spec = source_spec("pods", Topic::kChangesPods);
    spec.cluster = world.cluster();
    connectors::KubernetesSettings settings = sandbox::sandbox_pods(kSelector);
    settings.subject_prefix = policy + "/";
    spec.connector =
        std::make_unique<connectors::KubernetesConnector>(*spec.cluster, std::move(settings));
    return spec;
}

Result<SourceSpec> rows_source(sandbox::World& world, const std::string& policy) {
    SourceSpec spec = source_spec("rows", Topic::kChangesRows);
    spec.database = world.database();
    connectors::postgres::Settings settings = sandbox::sandbox_rows();
    settings.subject_prefix = policy + "/";
    auto connector =
        connectors::postgres::PostgresConnector::open(std::move(settings), *spec.database);
    if (!connector) return connector.error();
    spec.connector = std::move(*connector);
    return spec;
}

ExecutorSpec executor_spec(sandbox::World& world) {
    ExecutorSpec spec;
    spec.clusters.push_back(world.cluster());
    spec.databases.push_back(world.database());
    spec.sources = sandbox::sandbox_reach(*spec.clusters.back(), *spec.databases.back(), kSelector);
    spec.settings.executor = "sandbox";
    return spec;
}

}  // namespace

Status begin_in_sandbox(Host& host, sandbox::World& world) {
    std::vector<SourceSpec> sources;
    sources.push_back(pods_source(world, host.policy()));
    auto rows = rows_source(world, host.policy());
    if (!rows) return rows.error();
    sources.push_back(std::move(*rows));
    auto log = open_embedded(host.settings().state_dir, true, host.settings().memory_bytes);
    if (!log) return log.error();
    return host.begin(std::move(*log), std::move(sources), executor_spec(world), nullptr);
}

}  // namespace trueup::apps
