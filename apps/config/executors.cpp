#include "apps/config/reading.h"
#include "apps/config/words.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace trueup::config {

namespace {

std::vector<std::string> source_names(const Config& config) {
    std::vector<std::string> names;
    for (const SourceConfig& source : config.sources) names.push_back(source.name);
    return names;
}

std::string_view sources_of(Topic topic) {
    if (topic == Topic::kChangesPods) return "pods of kubernetes";
    return topic == Topic::kChangesRows ? "postgres" : "a resource of kubernetes other than pods";
}

}  // namespace

std::string check_source_name(Section& section, std::string_view key, std::string name,
                              const Config& config, Topic topic) {
    if (name.empty()) return name;
    const std::string_view wanted = sources_of(topic);
    const SourceConfig* source = config.source(name);
    if (source == nullptr) {
        const std::string meant = nearest(name, source_names(config));
        section.problem(
            key,
            fmt::format("names the source '{}', which is not under sources; {}", name,
                        meant.empty() ? "add it there" : fmt::format("did you mean '{}'?", meant)));
        return {};
    }
    if (source->topic() == topic) return name;
    section.problem(key, fmt::format("names '{}', which is not a source of {}; name one that is",
                                     name, wanted));
    return {};
}

std::string read_source_name(Section& section, std::string_view key, const Config& config,
                             Topic topic) {
    const std::string example = fmt::format("{}: NAME of a source of {}", key, sources_of(topic));
    if (!section.require(key, example)) return {};
    return check_source_name(section, key, section.text(key), config, topic);
}

namespace {

/// As whom rows are written; nullopt: as the source reads.
std::optional<DatabaseLogin> read_row_writer(Section& executor, const std::string& folder) {
    const bool given =
        executor.has("conninfo") || executor.has("conninfo_file") || executor.has("conninfo_env");
    const std::vector<std::string> known = executor.texts("acknowledge");
    for (const std::string& name : known) {
        if (name == "sslmode") continue;
        executor.problem(
            "acknowledge",
            fmt::format("names '{}'; for an executor's connection only sslmode can be acknowledged",
                        name));
    }
    if (!given) {
        for (const char* key : {"conninfo", "conninfo_file", "conninfo_env"}) executor.text(key);
        if (!known.empty()) {
            executor.problem("acknowledge",
                             "needs a connection of its own; add conninfo_env, conninfo_file or "
                             "conninfo, or leave it out");
        }
        return std::nullopt;
    }
    DatabaseLogin login;
    read_login(executor, folder, login);
    login.known = known;
    login.any_tls = contains(known, "sslmode");
    return login;
}

/// As whom objects are deleted; nullopt: as the source reads. A context alone is of the source's
/// kubeconfig.
std::optional<ClusterLogin> read_object_writer(Section& executor, const std::string& folder,
                                               const std::vector<std::string>& sources,
                                               const Config& config) {
    const bool own = executor.has("kubeconfig") || executor.has("in_cluster");
    ClusterLogin login;
    if (own) {
        read_access(executor, folder, login);
    } else {
        executor.flag("in_cluster", false);
        executor.text("kubeconfig");
        login.context = executor.text("context");
        if (!executor.has("context")) return std::nullopt;
        const SourceConfig* source = sources.empty() ? nullptr : config.source(sources.front());
        const KubernetesSource* read = source == nullptr ? nullptr : source->kubernetes();
        if (read == nullptr) return std::nullopt;  // said already
        login.kubeconfig = read->kubeconfig;
        if (read->in_cluster) {
            executor.problem(
                "context",
                "belongs to a kubeconfig, and the source has none; add kubeconfig: FILE");
        }
    }
    return login;
}

/// `source: NAME`, or `sources: [NAME]` of those that take a list.
std::vector<std::string> read_acts_on(Section& executor, const std::string& kind,
                                      const Config& config) {
    if (!takes_list(kind)) {
        const Topic topic = writes_rows(kind) ? Topic::kChangesRows : Topic::kChangesPods;
        const std::string source = read_source_name(executor, "source", config, topic);
        if (!source.empty() && config.source(source)->only_read()) {
            executor.problem("source",
                             fmt::format("names '{}', which is a query and can only be read; name "
                                         "a source with the table that is to be written",
                                         source));
        }
        return source.empty() ? std::vector<std::string>() : std::vector{source};
    }
    std::vector<std::string> sources;
    if (executor.require("sources", "sources: [NAME]")) sources = executor.texts("sources");
    for (const std::string& source : sources) {
        const SourceConfig* named = config.source(source);
        const bool pods = named != nullptr && named->topic() == Topic::kChangesPods;
        const bool any = pods && policy::act_on(kind, policy::Kind::kPod);
        check_source_name(executor, "sources", source, config,
                          any ? Topic::kChangesPods : Topic::kChangesResources);
    }
    return sources;
}

/// As whom a source is written has one answer.
void check_twice(Section& executor, const ExecutorConfig& made, const Config& config) {
    for (const std::string& source : made.sources) {
        const ExecutorConfig* other = config.executor(source, made.kind);
        if (other == nullptr) other = config.executor(source);
        if (other == nullptr) continue;
        const bool differ = other->kind != made.kind;
        if (differ && other->objects == made.objects && other->rows == made.rows) continue;
        executor.problem(
            takes_list(made.kind) ? "sources" : "source",
            differ ? fmt::format("names '{}', which line {} acts on as another account; write the "
                                 "same {} in both",
                                 source, other->line,
                                 writes_rows(made.kind) ? "conninfo" : "kubeconfig and context")
                   : fmt::format("names '{}', which line {} acts on already; leave one out", source,
                                 other->line));
    }
}

}  // namespace

void read_executors(Section executors, const std::string& folder, Config& config) {
    std::set<std::string> kinds;
    for (const policy::Use& use : policy::kUses) kinds.emplace(use.executors);
    kinds.erase("");
    for (const std::string& kind : kinds) {
        for (Section& executor : executors.one_or_more(kind)) {
            ExecutorConfig made;
            made.kind = kind;
            made.line = executor.line();
            made.sources = read_acts_on(executor, made.kind, config);
            if (writes_rows(made.kind)) {
                made.rows = read_row_writer(executor, folder);
            } else {
                made.objects = read_object_writer(executor, folder, made.sources, config);
            }
            check_twice(executor, made, config);
            executor.finish();
            config.executors.push_back(std::move(made));
        }
    }
    executors.finish();
}

}  // namespace trueup::config
