// Sources of Kubernetes over real servers.
#include "apps/connections.h"
#include "apps/source_checks.h"
#include "apps/source_work.h"
#include "connectors/kubernetes/access_check.h"
#include "connectors/kubernetes/connector.h"
#include "connectors/kubernetes/transport.h"
#include "engine/base/check.h"
#include "engine/model/verb.h"
#include "engine/ports/selector.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trueup::apps {

namespace {

using config::Config;
using config::SourceConfig;

Status open(const Config& config, const SourceConfig& source, SourceSpec& spec) {
    auto cluster = open_cluster(config, source);
    if (!cluster) return cluster.error();
    spec.cluster = std::move(*cluster);
    connectors::KubernetesSettings settings = cluster_settings(config, source);
    if (Status keyed = add_hash(config, settings.fields); !keyed) return keyed.error();
    spec.connector =
        std::make_unique<connectors::KubernetesConnector>(*spec.cluster, std::move(settings));
    return Done{};
}

Status reach(const Config& config, const SourceConfig& source, ExecutorSpec& spec) {
    auto cluster = open_cluster(config, source);
    if (!cluster) return cluster.error();
    spec.clusters.push_back(std::move(*cluster));
    executors::PodSource pods;
    pods.cluster = spec.clusters.back().get();
    pods.resource = source.kubernetes()->resource;
    pods.veto_label = source.kubernetes()->veto_label;
    pods.paths = policy_of(config).paths_of(source.name);
    pods.mapping = config::mapping_of(config, source);
    pods.key_label = config::key_label_of(policy_of(config), source);
    const auto selector = ports::Selector::parse(source.kubernetes()->selector);
    TRUEUP_CHECK(selector.has_value());  // the configuration was read
    pods.selector = *selector;
    pods.doubt = kNotAsked;
    auto writer = open_cluster_writer(config, source);
    if (!writer) return writer.error();
    if (*writer) {
        pods.writer = writer->get();
        spec.clusters.push_back(std::move(*writer));
    }
    spec.sources.pods.emplace(source.name, std::move(pods));
    return Done{};
}

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

Ask check(std::shared_ptr<const Config> config, const SourceConfig& source) {
    auto cluster = std::make_shared<std::unique_ptr<connectors::HttpCluster>>();
    return [config = std::move(config), &source, cluster] {
        return check_cluster(*config, source, *cluster);
    };
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
    std::set<std::string> rights;
    for (const policy::Use& use : policy::kUses) {
        if (use.executors.empty() || !policy::in_kubernetes(use.of)) continue;
        rights.insert(right_of(use));
    }
    return connectors::missing_verbs(writer, post, resource, {rights.begin(), rights.end()});
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

}  // namespace

const SourceWork kKubernetesWork{open, reach, check, survey_cluster};

}  // namespace trueup::apps
