#include "apps/two_sides.h"

#include "apps/connections.h"
#include "connectors/kubernetes/access_check.h"
#include "connectors/postgres/access_check.h"
#include "connectors/postgres/preparation.h"
#include "engine/base/hash.h"
#include "engine/model/object.h"

namespace trueup::apps {

namespace postgres = connectors::postgres;

Status TwoSides::look_at_objects(const Watcher& watcher) {
    auto opened = open_cluster(config::Config{}, objects_);
    if (!opened) return opened.error();
    const config::KubernetesSource& source = *objects_.kubernetes();
    const Status access = connectors::check_access(**opened, source.resource, source.selector);
    if (!access) return about(objects_, access.error());
    connectors::KubernetesSettings settings;
    settings.resource = source.resource;
    settings.label_selector = source.selector;
    settings.source_name = objects_.name;
    settings.fields.hash = [](std::string_view text) { return to_hex(hash128(text)); };
    const auto look = look_at(**opened, std::move(settings), watcher);
    if (!look) return look.error();
    for (const Fact& fact : look->facts) {  // without a prefix the key is the name
        if (fact.kind != Fact::Kind::kUpsert) continue;
        const ObjectView object(fact.object);
        // What has ended says nothing of rows that should have one.
        if (object.is("phase", "Succeeded") || object.is("phase", "Failed")) continue;
        names_.push_back(fact.subject_key);
    }
    return Done{};
}

Status TwoSides::look_at_table() {
    auto opened = open_database(rows_);
    if (!opened) return opened.error();
    database_ = std::move(*opened);
    const ports::Table& table = rows_.postgres()->table;
    // Which key is of no account here: what is asked for is whether the table is there.
    const postgres::Settings settings{table, {},        {}, {}, *postgres::Correlation::parse("x"),
                                      {},    rows_.name};
    const auto check = postgres::inspect(*database_, settings);
    if (!check) return about(rows_, check.error());
    const auto wrong = [](std::string what) {
        return Error{Next::kStop, Code::kConfiguration, std::move(what)};
    };
    const std::string name = postgres::table_text(table);
    if (check->identity.empty()) return wrong("table " + name + " does not exist");
    if (check->pk_columns.empty()) {
        return wrong("table " + name +
                     " has no primary key, so that its rows have no identity: ALTER TABLE " +
                     postgres::quoted_table(table) +
                     " ADD PRIMARY KEY (...); or, if it is a view, name its table");
    }
    looked_ = {table, check->pk_columns};
    auto columns = postgres::look_at_columns(*database_, looked_, names_);
    if (!columns) return about(rows_, columns.error());
    table_ = std::move(*columns);
    return Done{};
}

Result<std::uint64_t> TwoSides::named_by(const postgres::Correlation& key) {
    auto named = postgres::look_at_key(*database_, looked_, key, names_);
    if (!named) return about(rows_, named.error());
    return named;
}

Result<std::vector<postgres::WordLook>> TwoSides::words(const std::string& column,
                                                        const postgres::Correlation& key,
                                                        std::size_t most) {
    auto words = postgres::look_at_words(*database_, looked_, column, key, names_, most);
    if (!words) return about(rows_, words.error());
    return words;
}

Result<std::vector<std::string>> TwoSides::preparation(const config::Config& config,
                                                       std::vector<std::string> columns) {
    const auto settings = table_settings(config, *config.source(rows_.name));
    if (!settings) return settings.error();
    const auto check = postgres::inspect(*database_, *settings);
    if (!check) return about(rows_, check.error());
    return postgres::preparation(*check, *settings,
                                 {table_.role, table_.replicates, std::move(columns)});
}

}  // namespace trueup::apps
