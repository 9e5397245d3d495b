// What the sources of a policy have, and what our accounts may do there, read once.
#include "apps/wiring_survey.h"

#include "apps/connections.h"
#include "connectors/kubernetes/access_check.h"
#include "connectors/postgres/access_check.h"
#include "engine/base/hash.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace trueup::apps {

namespace {

namespace postgres = connectors::postgres;
using config::Config;
using config::SourceConfig;

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
    return connectors::missing_verbs(writer, post, resource,
                                     {"create", "delete", "patch", "patch/status"});
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

/// The table as whoever writes sees it, who has to reach the very database that is read.
Result<postgres::TableCheck> as_writer_sees(const Config& config, const SourceConfig& source,
                                            postgres::LibpqDatabase& reader,
                                            postgres::LibpqDatabase* writer,
                                            const postgres::Settings& settings,
                                            const postgres::TableCheck& read) {
    if (writer == nullptr) return read;
    const std::string who = "executors." + config.executor(source.name)->kind + ": ";
    const auto wrong = [&](const Error& error) {
        return Error{error.next, error.code, who + error.what};
    };
    const auto here = postgres::place_of(reader);
    if (!here) return about(source, here.error());
    const auto there = postgres::place_of(*writer);
    if (!there) return wrong(there.error());
    if (*here != *there) {
        return wrong({Next::kStop, Code::kConfiguration,
                      "its connection reaches another database (" + *there + ") than source " +
                          source.name + " (" + *here +
                          "), as system id, timeline and name; nothing would be written; use a "
                          "connection to the same one"});
    }
    const auto inspection = postgres::inspect(*writer, settings);
    if (!inspection) return wrong(inspection.error());
    return *inspection;
}

Result<Surveyed> survey_table(const Config& config, const SourceConfig& source,
                              const Watcher& watcher, Depth depth) {
    auto database = open_database(source);
    if (!database) return database.error();
    auto settings = table_settings(config, source);
    if (!settings) return settings.error();
    add_passing_hash(settings->fields);
    if (source.only_read()) {
        auto look = look_at(**database, *settings, watcher);
        if (!look) return look.error();
        Surveyed asked;
        asked.name = source.name;
        asked.look = std::move(*look);
        return asked;
    }
    const auto inspection = postgres::inspect(**database, *settings);
    if (!inspection) return about(source, inspection.error());
    Surveyed asked;
    asked.name = source.name;
    if (depth == Depth::kRights) {
        auto writer = open_database_writer(config, source);
        if (!writer) return writer.error();
        auto table =
            as_writer_sees(config, source, **database, writer->get(), *settings, *inspection);
        if (!table) return table.error();
        asked.table = std::move(*table);
        const std::string indexed = settings->correlate.indexed();
        const bool inserts = config.executor(source.name, "insert_row") != nullptr;
        postgres::LibpqDatabase& asks = *writer ? **writer : **database;
        const Result<bool> apart =
            inserts ? postgres::keeps_apart(asks, settings->table, indexed) : Result<bool>(true);
        if (!apart) return about(source, apart.error());
        if (!*apart) asked.index = indexed;
    }
    const std::string remark = postgres::slot_remark(*inspection, *settings);
    if (!remark.empty()) asked.remarks.push_back(remark);
    auto look = look_at(**database, *settings, watcher);
    if (!look) return look.error();
    asked.look = std::move(*look);
    const bool looks =
        std::any_of(config.executors.begin(), config.executors.end(),
                    [](const config::ExecutorConfig& each) { return each.kind != "update_row"; });
    if (depth == Depth::kWorld || !looks) return asked;
    const policy::Role& role = *policy_of(config).role_of(source.name);
    std::vector<std::string> alone = policy::alone_in(role.key);
    alone.insert(alone.end(), role.also.begin(), role.also.end());
    auto slow =
        postgres::slow_looks(**database, *settings, alone, *inspection, asked.look.objects());
    if (!slow) return about(source, slow.error());
    for (std::string& each : *slow) asked.remarks.push_back(std::move(each));
    return asked;
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

}  // namespace trueup::apps
