// Several policies in one configuration: what each of them must leave to the others, and the
// configuration of a process that runs one of them alone (docs/adr/0039).
#include "apps/config/reading.h"
#include "engine/model/field_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace trueup::config {

namespace {

std::set<std::string> sources_of(const PolicyConfig& policy) {
    std::set<std::string> names;
    for (const auto& [role, sources] : policy.roles) names.insert(sources.begin(), sources.end());
    return names;
}

/// Those that some rule which acts writes: which columns, and `*` where it takes objects away.
std::map<std::string, std::set<std::string>> touched_by(const PolicyConfig& policy) {
    std::map<std::string, std::set<std::string>> touched;
    for (const RuleSettings& rule : policy.rules) {
        if (!acts(rule.mode)) continue;
        for (const Writes& writes : writes_of(*policy.text, rule.rule)) {
            for (const std::string& source : policy.sources_of(writes.role)) {
                std::set<std::string>& columns = touched[source];
                columns.insert(writes.columns.begin(), writes.columns.end());
                if (writes.removes()) columns.insert("*");
                columns.insert(writes.inserts.begin(), writes.inserts.end());
            }
        }
    }
    return touched;
}

/// Do they write one place? `*` is everything.
bool meet(const std::string& one, const std::string& other) {
    if (one == other || one == "*" || other == "*") return true;
    const Result<policy::FieldPath> path = policy::FieldPath::parse("one", one);
    const Result<policy::FieldPath> beside = policy::FieldPath::parse("other", other);
    return path && beside && (*path).overlaps(*beside);
}

/// A slot has one reader.
void check_readers(Section& section, const PolicyConfig& policy, const PolicyConfig& other,
                   const Config& config) {
    for (const std::string& name : sources_of(policy)) {
        const SourceConfig* source = config.source(name);
        const bool both = source != nullptr && other.role_of(name) != nullptr;
        if (!both || source->postgres() == nullptr) continue;
        section.problem(
            "roles",
            fmt::format("has '{}' as {}, which policy {} reads already, and a slot has one reader; "
                        "write another source of the same table, with a slot of its own",
                        name, policy.role_of(name)->name, other.name));
    }
}

/// The first pair of sources to which both policies do the same and that may have an object in
/// common.
std::optional<std::pair<std::string, std::string>> shared(const PolicyConfig& policy,
                                                          const PolicyConfig& other,
                                                          const Config& config) {
    for (const auto& [mine, columns] : touched_by(policy)) {
        for (const auto& their : touched_by(other)) {
            const std::string& theirs = their.first;
            const std::set<std::string>& others = their.second;
            const SourceConfig* one = config.source(mine);
            const SourceConfig* two = config.source(theirs);
            const bool same = std::any_of(columns.begin(), columns.end(), [&](const auto& each) {
                return std::any_of(others.begin(), others.end(),
                                   [&](const auto& its) { return meet(each, its); });
            });
            if (same && one != nullptr && two != nullptr && overlap(*one, *two)) {
                return {{mine, theirs}};
            }
        }
    }
    return std::nullopt;
}

/// How brokers tell topics apart in their metrics.
std::string as_topic(std::string name) {
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

Config of_policy(const Config& config, const PolicyConfig& policy) {
    Config own = config;
    own.policies = {policy};
    own.left_out.clear();
    const std::size_t policies = config.policies.size() + config.left_out.size();
    own.memory_bytes /= policies;
    if (policies > 1) {
        const std::set<std::string> used = sources_of(policy);
        std::erase_if(own.sources, [&](const auto& one) { return used.count(one.name) == 0; });
        for (ExecutorConfig& executor : own.executors) {
            std::erase_if(executor.sources, [&](const auto& one) { return used.count(one) == 0; });
        }
        std::erase_if(own.executors, [](const auto& one) { return one.sources.empty(); });
    }
    own.state_dir = policy_folder(config.state_dir, policy.name);
    own.checkpoints += "/" + policy.name;
    if (own.kafka) own.kafka->prefix += "." + policy.name;
    return own;
}

}  // namespace

bool overlap(const SourceConfig& one, const SourceConfig& other) {
    const KubernetesSource* a = one.kubernetes();
    const KubernetesSource* b = other.kubernetes();
    if (one.postgres() != nullptr && other.postgres() != nullptr) {
        const PostgresSource& mine = *one.postgres();
        const PostgresSource& theirs = *other.postgres();
        return mine.table.schema == theirs.table.schema && mine.table.name == theirs.table.name &&
               mine.from == theirs.from && mine.conninfo == theirs.conninfo;
    }
    if (a == nullptr || b == nullptr) return one.name == other.name;
    const bool same_server = a->in_cluster == b->in_cluster && a->kubeconfig == b->kubeconfig &&
                             a->context == b->context;
    const bool same_kind =
        a->resource.api_path == b->resource.api_path && a->resource.plural == b->resource.plural;
    const std::string& space = a->resource.name_space;
    const std::string& other_space = b->resource.name_space;
    return same_server && same_kind &&
           (space == other_space || space.empty() || other_space.empty());
}

void check_beside(Section& section, PolicyConfig& policy, PolicyConfig& other,
                  const Config& config) {
    if (!policy.name.empty() && as_topic(policy.name) == as_topic(other.name)) {
        section.problem(
            "name", fmt::format("is '{}', and another policy is '{}'; journal and topics are named "
                                "after it ('.' and '_' are the same to brokers), so write another "
                                "name",
                                policy.name, other.name));
    }
    check_readers(section, policy, other, config);
    const auto both = shared(policy, other, config);
    if (!both) return;
    for (auto [one, against] : {std::pair{&policy, &other}, std::pair{&other, &policy}}) {
        const std::string word = std::string(kSharedObjects) + against->name;
        const auto& said = one->acknowledged;
        if (std::find(said.begin(), said.end(), word) == said.end()) continue;
        one->known.push_back(word);
        return;
    }
    section.problem(
        "rules", fmt::format("and those of policy {0} may delete or set the same (sources {1} and "
                             "{2}), and neither knows what the other does; write mode: observe, or "
                             "acknowledge: [{3}{0}] if their selectors exclude each other",
                             other.name, both->first, both->second, kSharedObjects));
}

void check_shared(Section& section, const PolicyConfig& policy,
                  const std::vector<std::string>& names) {
    for (const std::string& said : policy.acknowledged) {
        if (!said.starts_with(kSharedObjects)) continue;
        const std::string name = said.substr(kSharedObjects.size());
        const bool other =
            name != policy.name && std::find(names.begin(), names.end(), name) != names.end();
        if (other) continue;
        section.problem("acknowledge",
                        fmt::format("names '{}', and there is no other policy of that name; leave "
                                    "it out",
                                    said));
    }
}

std::string policy_folder(const std::string& state_dir, const std::string& policy) {
    return state_dir + "/policies/" + policy;
}

std::vector<Config> of_each_policy(const Config& config) {
    std::vector<Config> all;
    all.reserve(config.policies.size());
    for (const PolicyConfig& policy : config.policies) all.push_back(of_policy(config, policy));
    return all;
}

}  // namespace trueup::config
