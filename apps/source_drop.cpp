#include "apps/source_drop.h"

#include "apps/config/config.h"
#include "apps/config/source_types.h"
#include "connectors/postgres/leftovers.h"
#include "connectors/postgres/settings.h"
#include "connectors/postgres/transport.h"
#include "engine/world/row_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <iostream>
#include <utility>
#include <vector>

namespace trueup::apps {

namespace {

namespace postgres = connectors::postgres;
using config::SourceConfig;
using postgres::Leftovers;

/// What there is of a source, what came of it, and what others made for it.
struct Report {
    std::string source;
    std::string kind;
    std::string slot;  ///< empty: none is left
    bool dropped = false;
    std::string refused;               ///< why the slot stays; empty: nothing stands against it
    std::vector<std::string> says;     ///< what there is, a sentence each
    std::vector<std::string> by_hand;  ///< what Trueup did not make, with what removes it
};

int refuse(const std::string& what) {
    fmt::print(stderr, "{}\n", what);
    return 2;
}

std::string quoted(const std::string& name) { return world::quote_identifier(name); }

/// Why this slot is not dropped; empty: it may be.
std::string objection(const SourceConfig& source, const Leftovers& found) {
    const std::string& slot = source.postgres()->slot;
    if (!found.ours()) {
        return fmt::format(
            "slot {} does not belong to this source: it is {}, not a pgoutput slot of database {}; "
            "let its owner drop it",
            slot,
            found.plugin.empty()
                ? "a physical one"
                : fmt::format("a {} slot of database {}", found.plugin, found.slot_database),
            found.database);
    }
    if (found.synced) {
        return fmt::format(
            "slot {} is a copy that this standby keeps of its primary's; drop it on the primary",
            slot);
    }
    if (!found.active) return {};
    return fmt::format(
        "slot {} is being read, by {}, process {} of the server; stop what runs the source "
        "(`trueup up` or `trueup connect`) and run this again. If none of them runs any more: "
        "SELECT pg_terminate_backend({});",
        slot, found.reader.empty() ? "somebody" : found.reader, found.active_pid,
        found.active_pid.empty() ? "PID" : found.active_pid);
}

void describe(const SourceConfig& source, const Leftovers& found, Report& report) {
    const config::PostgresSource& rows = *source.postgres();
    if (!found.slot) {
        report.says.push_back(fmt::format("database {} of server {} has no slot {}", found.database,
                                          found.server, rows.slot));
    } else {
        report.slot = rows.slot;
        report.says.push_back(fmt::format(
            "slot {} of database {}, server {}, keeps {} of WAL{}", rows.slot, found.slot_database,
            found.server,
            found.kept_bytes ? fmt::format("{} bytes", *found.kept_bytes) : std::string("nothing"),
            found.invalidated.empty()
                ? (found.wal_status.empty() ? "" : fmt::format(" ({})", found.wal_status))
                : fmt::format(" ({}: {})", found.wal_status, found.invalidated)));
    }
    if (!found.temporary.empty()) {
        report.says.push_back(
            fmt::format("a table is being copied with slot {}, by this source or another: such "
                        "slots end with their sessions",
                        found.temporary));
    }
    if (found.other_sessions > 0) {
        report.says.push_back(
            fmt::format("{} sessions named trueup are in this database: one that still has this "
                        "source will create its slot again",
                        found.other_sessions));
    }
    if (found.publication) {
        report.by_hand.push_back(fmt::format("DROP PUBLICATION {};", quoted(rows.publication)));
    }
    report.by_hand.push_back(fmt::format("ALTER TABLE {} REPLICA IDENTITY DEFAULT;",
                                         postgres::quoted_table(rows.table)));
    // Whatever else the role has keeps it from being dropped.
    report.by_hand.push_back(fmt::format("REVOKE ALL ON {0} FROM {1}; DROP ROLE {1};",
                                         postgres::quoted_table(rows.table), quoted(found.role)));
}

/// True once `yes` was typed; anything else is a no.
bool confirmed(const Report& report) {
    fmt::print("Drop slot {}? Type yes or no: ", report.slot);
    std::fflush(stdout);
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "yes";
}

void print(const Report& report, OutputFormat format) {
    if (format == OutputFormat::kJson) {
        const nlohmann::json object{{"source", report.source},   {"kind", report.kind},
                                    {"slot", report.slot},       {"dropped", report.dropped},
                                    {"refused", report.refused}, {"says", report.says},
                                    {"by_hand", report.by_hand}};
        fmt::print("{}\n", object.dump(2));
        return;
    }
    for (const std::string& line : report.says) fmt::print("{}\n", line);
    if (!report.by_hand.empty()) {
        fmt::print("Trueup does not remove what it did not create; if nothing else uses it:\n");
    }
    for (const std::string& line : report.by_hand) fmt::print("    {}\n", line);
}

/// Looks, asks where it has to, drops. The error: the server did not answer.
Result<int> drop(const SourceDropOptions& options, const SourceConfig& source, Report& report) {
    const config::PostgresSource& rows = *source.postgres();
    const auto conninfo = config::read_conninfo(source);
    if (!conninfo) return conninfo.error();
    auto database = postgres::LibpqDatabase::open(*conninfo, rows.any_tls);
    if (!database) return database.error();
    const auto found = postgres::look_for_leftovers(**database, rows.slot, rows.publication);
    if (!found) return found.error();
    describe(source, *found, report);
    if (found->slot) report.refused = objection(source, *found);
    const bool text = options.format == OutputFormat::kText;
    if (text) print(report, options.format);
    if (!report.refused.empty()) {
        if (text) fmt::print(stderr, "{}\n", report.refused);
        return 1;
    }
    if (!found->slot || options.dry_run) return 0;
    if (!options.yes && !text) {
        report.refused = "--yes was not given";
        return 1;
    }
    if (!options.yes && !confirmed(report)) {
        fmt::print("aborted; nothing was dropped\n");
        return 1;
    }
    const auto dropped = postgres::drop_leftovers(**database, rows.slot, *found);
    if (!dropped) return dropped.error();
    if (!*dropped)
        return Error{Next::kRetry, Code::kConflict,
                     "slot " + rows.slot + " has changed meanwhile; run this again"};
    report.dropped = true;
    if (text) fmt::print("dropped slot {}\n", rows.slot);
    return 0;
}

int say_cluster(const SourceDropOptions& options, Report& report) {
    report.says.emplace_back(
        "a Kubernetes source leaves nothing on its API server: it creates nothing there");
    report.by_hand.emplace_back(
        "kubectl delete clusterrole,clusterrolebinding,role,rolebinding,serviceaccount NAME  # "
        "what "
        "its account was given");
    print(report, options.format);
    return 0;
}

int say_query(const SourceDropOptions& options, Report& report) {
    report.says.emplace_back("a query leaves nothing in its database: it has no slot");
    report.by_hand.emplace_back("DROP OWNED BY NAME; DROP ROLE NAME;  -- what its role was given");
    print(report, options.format);
    return 0;
}

}  // namespace

int run_source_drop(const SourceDropOptions& options) {
    const Result<config::Config> config = config::load_config(options.config);
    if (!config) return refuse(config.error().what);
    const SourceConfig* source = config->source(options.name);
    if (source == nullptr) {
        std::vector<std::string> names;
        for (const SourceConfig& one : config->sources) names.push_back(one.name);
        return refuse(
            fmt::format("there is no source {} in {}; it has {}. For a source that was taken out, "
                        "use the configuration from before",
                        options.name, options.config, fmt::join(names, ", ")));
    }
    Report report;
    report.source = source->name;
    report.kind = config::type_of(*source).key;
    if (source->kubernetes() != nullptr) return say_cluster(options, report);
    if (source->only_read()) return say_query(options, report);
    const Result<int> code = drop(options, *source, report);
    if (!code) return refuse(fmt::format("source {}: {}", source->name, code.error().what));
    if (options.format == OutputFormat::kJson) print(report, options.format);
    return *code;
}

}  // namespace trueup::apps
