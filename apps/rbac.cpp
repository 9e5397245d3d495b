#include "apps/rbac.h"

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

/// A namespace, and an account in it.
struct Place {
    std::string name_space;
    bool writer = false;
    bool operator<(const Place& other) const {
        return std::tie(name_space, writer) < std::tie(other.name_space, other.writer);
    }
};

/// `apps` of `/apis/apps/v1`; empty: the core.
std::string group_of(const std::string& api_path) {
    constexpr std::string_view kApis = "/apis/";
    if (!api_path.starts_with(kApis)) return {};
    const std::string rest = api_path.substr(kApis.size());
    return rest.substr(0, rest.find('/'));
}

void add_reading(const config::KubernetesSource& source, std::map<Place, Verbs>& all) {
    const ports::Resource& resource = source.resource;
    Verbs& verbs = all[{resource.name_space, false}];
    verbs[{group_of(resource.api_path), resource.plural}].insert({"get", "list", "watch"});
    if (!resource.name_space.empty()) verbs[{"", "namespaces"}].insert("get");
}

/// What the rules of a policy do to the objects of one of its sources.
void add_writing(const config::Config& config, const config::PolicyConfig& policy,
                 const config::SourceConfig& source, std::map<Place, Verbs>& all) {
    const policy::Role* role = policy.role_of(source.name);
    if (role == nullptr) return;
    const ports::Resource& resource = source.kubernetes()->resource;
    const std::string group = group_of(resource.api_path);
    for (const config::ExecutorConfig& executor : config.executors) {
        const auto& sources = executor.sources;
        if (std::find(sources.begin(), sources.end(), source.name) == sources.end()) continue;
        Verbs& verbs = all[{resource.name_space, executor.objects.has_value()}];
        for (const policy::Rule& rule : policy.text->rules) {
            for (const config::Writes& writes : config::writes_of(*policy.text, rule.name)) {
                if (writes.role != role->name) continue;
                if (writes.deletes && executor.kind != "update_object") {
                    verbs[{group, resource.plural}].insert("delete");
                }
                if (executor.kind != "update_object") continue;
                for (const std::string& part : writes.patches) {
                    verbs[{group, resource.plural + (part.empty() ? "" : "/" + part)}].insert(
                        "patch");
                }
            }
        }
    }
}

std::string quoted(const std::string& group) { return group.empty() ? "\"\"" : group; }

std::string role_text(const Place& place, const Verbs& verbs, const ServiceAccount& account) {
    const std::string name = account.name +
                             (place.name_space.empty() ? "" : "-" + place.name_space) +
                             (place.writer ? "-writer" : "");
    const bool whole = place.name_space.empty();
    const std::string where = whole ? "" : ", namespace: " + place.name_space;
    std::string text = fmt::format(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: {}Role\nmetadata: {{name: "
        "{}{}}}\nrules:\n",
        whole ? "Cluster" : "", name, where);
    for (const auto& [collection, some] : verbs) {
        if (some.empty()) continue;
        text += fmt::format("  - {{apiGroups: [{}], resources: [{}], verbs: [{}]}}\n",
                            quoted(collection.group), collection.resource, fmt::join(some, ", "));
    }
    return text +
           fmt::format(
               "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {0}RoleBinding\n"
               "metadata: {{name: {1}{2}}}\nsubjects:\n"
               "  - {{kind: ServiceAccount, name: {3}{4}, namespace: {5}}}\n"
               "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {0}Role, name: {1}}}\n",
               whole ? "Cluster" : "", name, where, account.name, place.writer ? "-writer" : "",
               account.name_space);
}

bool is_dns_name(std::string_view text) {
    return !text.empty() && text.size() <= 253 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    });
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
    std::map<Place, Verbs> all;
    for (const config::SourceConfig& source : config.sources) {
        if (source.kubernetes() == nullptr) continue;
        add_reading(*source.kubernetes(), all);
        for (const config::PolicyConfig& policy : config.policies) {
            add_writing(config, policy, source, all);
        }
    }
    std::string text;
    for (const auto& [place, verbs] : all) {
        const bool any = std::any_of(verbs.begin(), verbs.end(),
                                     [](const auto& entry) { return !entry.second.empty(); });
        if (!any) continue;
        text += (text.empty() ? "" : "---\n") + role_text(place, verbs, account);
    }
    return text;
}

}  // namespace trueup::apps
