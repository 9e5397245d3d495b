// Sources of PostgreSQL over real servers: tables, and queries.
#include "apps/connections.h"
#include "apps/source_work.h"
#include "connectors/postgres/access_check.h"
#include "connectors/postgres/connector.h"
#include "connectors/postgres/query_connector.h"
#include "connectors/postgres/transport.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trueup::apps {

namespace {

namespace postgres = connectors::postgres;
using config::Config;
using config::SourceConfig;

Status open(const Config& config, const SourceConfig& source, SourceSpec& spec) {
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
        return Done{};
    }
    auto connector = postgres::PostgresConnector::open(std::move(*settings), *spec.database);
    if (!connector) return about(source, connector.error());
    spec.connector = std::move(*connector);
    return Done{};
}

Status reach(const Config& config, const SourceConfig& source, ExecutorSpec& spec) {
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
    rows.mapping = config::mapping_of(config, source);
    rows.veto_column = source.postgres()->veto_column;
    rows.doubt = kNotAsked;
    rows.unique = correlate->indexed();
    auto writer = open_database_writer(config, source);
    if (!writer) return writer.error();
    if (*writer) {
        rows.writer = writer->get();
        spec.databases.push_back(std::move(*writer));
    }
    spec.sources.rows.emplace(source.name, std::move(rows));
    return Done{};
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

Ask check(std::shared_ptr<const Config> config, const SourceConfig& source) {
    return [config = std::move(config), &source] { return check_table(*config, source); };
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

const SourceWork kPostgresWork{open, reach, check, survey_table};

}  // namespace trueup::apps
