#include "apps/rbac.h"

#include "apps/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace trueup::apps {

namespace {

/// `pods` or `boxes/status` of an API group.
struct Collection {
    std::string group;
    std::string resource;
    bool operator<(const Collection& other) const {
        return std::tie(group, resource) < std::tie(other.group, other.resource);
    }
};

using Verbs = std::map<Collection, std::set<std::string>>;

/// Where rights are, and what for.
struct Place {
    std::string cluster;  ///< how it is reached
    std::string name_space;
    bool writes = false;
    bool other = false;  ///< by the account of the executors
    bool operator<(const Place& than) const {
        return std::tie(cluster, name_space, writes, other) <
               std::tie(than.cluster, than.name_space, than.writes, than.other);
    }
};

std::string cluster_of(const config::ClusterLogin& login) {
    if (login.in_cluster) return "in which it runs";
    return "of " + login.kubeconfig + (login.context.empty() ? "" : ", context " + login.context);
}

/// `apps` of `/apis/apps/v1`; empty: the core.
std::string group_of(const std::string& api_path) {
    constexpr std::string_view kApis = "/apis/";
    if (!api_path.starts_with(kApis)) return {};
    const std::string rest = api_path.substr(kApis.size());
    return rest.substr(0, rest.find('/'));
}

void add_reading(const config::KubernetesSource& source, std::map<Place, Verbs>& all) {
    const ports::Resource& resource = source.resource;
    Verbs& verbs = all[{cluster_of(source), resource.name_space, false, false}];
    verbs[{group_of(resource.api_path), resource.plural}].insert({"get", "list", "watch"});
    if (!resource.name_space.empty()) verbs[{"", "namespaces"}].insert("get");
}

/// What the rules of a policy do to the objects of one of its sources.
void add_writing(const config::Config& config, const config::PolicyConfig& policy,
                 const config::SourceConfig& source, std::map<Place, Verbs>& all) {
    const policy::Role* role = policy.role_of(source.name);
    const ports::Resource& resource = source.kubernetes()->resource;
    // Rules do not act on objects of all namespaces.
    const bool all_namespaces = resource.name_space.empty() && !resource.cluster_scoped;
    if (role == nullptr || all_namespaces) return;
    const std::string group = group_of(resource.api_path);
    for (const config::ExecutorConfig& executor : config.executors) {
        const auto& sources = executor.sources;
        if (std::find(sources.begin(), sources.end(), source.name) == sources.end()) continue;
        Verbs& verbs = all[{cluster_of(*source.kubernetes()), resource.name_space, true,
                            executor.objects.has_value()}];
        for (const policy::Rule& rule : policy.text->rules) {
            for (const config::Writes& writes : config::writes_of(*policy.text, rule.name)) {
                if (writes.role != role->name) continue;
                for (const policy::Use* use : writes.uses) {
                    if (use->executors != executor.kind) continue;
                    const bool status = use->way == policy::Way::kStatus;
                    verbs[{group, resource.plural + (status ? "/status" : "")}].insert(
                        std::string(use->right));
                }
            }
        }
    }
}

std::string quoted(const std::string& group) { return group.empty() ? "\"\"" : group; }

std::string role_text(const Place& place, const Verbs& verbs, const std::string& policy,
                      const ServiceAccount& account) {
    const std::string name = yaml_text(account.name_space + "-" + account.name + "-" + policy +
                                       (place.writes ? "-writer" : ""));
    const bool whole = place.name_space.empty();
    const std::string where = whole ? "" : ", namespace: " + yaml_text(place.name_space);
    std::string text = fmt::format(
        "{}apiVersion: rbac.authorization.k8s.io/v1\nkind: {}Role\nmetadata: {{name: {}{}}}\n"
        "rules:\n",
        place.writes ? "# What the commands of rules take, once one acts.\n" : "",
        whole ? "Cluster" : "", name, where);
    for (const auto& [collection, some] : verbs) {
        text += fmt::format("  - {{apiGroups: [{}], resources: [{}], verbs: [{}]}}\n",
                            quoted(collection.group), collection.resource, fmt::join(some, ", "));
    }
    return text +
           fmt::format(
               "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {0}RoleBinding\n"
               "metadata: {{name: {1}{2}}}\nsubjects:\n"
               "  - {{kind: ServiceAccount, name: {3}, namespace: {4}}}\n"
               "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {0}Role, name: {1}}}\n",
               whole ? "Cluster" : "", name, where,
               yaml_text(account.name + (place.other ? "-writer" : "")),
               yaml_text(account.name_space));
}

bool is_dns_name(std::string_view text) {
    return !text.empty() && text.size() <= 253 &&
           std::all_of(text.begin(), text.end(),
                       [](char c) {
                           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                                  c == '.';
                       }) &&
           text.front() != '-' && text.back() != '-';
}

}  // namespace

std::optional<ServiceAccount> parse_account(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    ServiceAccount account{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
    if (!is_dns_name(account.name_space) || !is_dns_name(account.name)) return std::nullopt;
    return account;
}

std::string rbac_of(const config::Config& config, const ServiceAccount& account) {
    std::string text;
    std::string cluster;
    for (const config::Config& each : config::of_each_policy(config)) {
        const config::PolicyConfig& policy = each.policies.front();
        std::map<Place, Verbs> all;
        for (const config::SourceConfig& source : each.sources) {
            if (source.kubernetes() == nullptr || policy.role_of(source.name) == nullptr) continue;
            add_reading(*source.kubernetes(), all);
            add_writing(each, policy, source, all);
        }
        for (const auto& [place, verbs] : all) {
            if (verbs.empty()) continue;
            text += text.empty() ? "" : "---\n";
            if (place.cluster != cluster) text += "# In the cluster " + place.cluster + ":\n";
            cluster = place.cluster;
            text += role_text(place, verbs, policy.name, account);
        }
    }
    return text;
}

}  // namespace trueup::apps
