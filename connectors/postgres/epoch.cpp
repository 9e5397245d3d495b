#include "connectors/postgres/epoch.h"

#include "connectors/postgres/lsn.h"
#include "engine/base/guard.h"

#include <utility>

namespace trueup::connectors::postgres {

namespace {

std::string shown(const std::optional<std::string>& value) {
    return value ? "'" + *value + "'" : "null";
}

}  // namespace

void Epoch::start(ports::CallId call, const std::vector<std::string>& pk_columns) {
    cancel();
    ports::CopyTable request;
    request.table = settings_->table;
    request.columns = RowMap::needed(*settings_, pk_columns);
    request.key_expression = settings_->correlate.sql();
    // Made for each copy: the primary key may be another one by now.
    Result<RowMap> map = RowMap::make(*settings_, pk_columns, request.columns);
    TRUEUP_CHECK(map.ok());  // made of the very columns that it needs
    map_ = std::move(*map);
    call_ = call;
    begun_ = false;
    database_->copy(call_, request);
}

void Epoch::cancel() {
    if (call_ != 0) database_->cancel(call_);
    call_ = 0;
}

Epoch::State Epoch::fail(const std::string& why) {
    trouble_ = "copy of " + table_text(settings_->table) + ": " + why;
    call_ = 0;
    return State::kFailed;
}

Epoch::State Epoch::take(const ports::DatabaseEvent& event, std::vector<Fact>& out) {
    using Kind = ports::DatabaseEvent::Kind;
    const bool cut = event.kind == Kind::kFailed;
    // What came before the cut is true; without an end it proves no absence.
    if (cut && TRUEUP_GUARD("postgres_whole_copy")) {
        const bool waited = !begun_ && event.sqlstate == "55P03";  // for longer than we wait
        return fail(waited ? std::string(kNoSnapshotYet) : event.error.what);
    }
    if (event.kind == Kind::kSnapshot) {
        begun_ = true;
        // The slot's consistent point: what was committed before it is in the copy, and what comes
        // later in the stream is newer than every row of it.
        as_of_ = event.lsn;
        Fact begin;
        begin.kind = Fact::Kind::kSnapshotBegin;
        begin.version = {as_of_, 0};
        out.push_back(std::move(begin));
        return State::kRunning;
    }
    if (!begun_) {
        cancel();
        return fail("rows without a snapshot");
    }
    if (event.kind == Kind::kRows) {
        for (const ports::SqlRow& row : event.rows) {
            if (copy_row(row, out)) continue;
            cancel();
            return State::kFailed;
        }
        return State::kRunning;
    }
    if (event.kind != Kind::kEnd && !cut) return State::kRunning;
    Fact end;
    end.kind = Fact::Kind::kSnapshotEnd;
    end.version = {as_of_, 0};
    out.push_back(std::move(end));
    call_ = 0;
    trouble_.clear();
    return State::kComplete;
}

bool Epoch::copy_row(const ports::SqlRow& row, std::vector<Fact>& out) {
    const auto failed = [this](const std::string& why) {
        trouble_ = "copy of " + table_text(settings_->table) + ": " + why;
        return false;
    };
    if (row.size() != map_->width() + 1) return failed("a row of another width");
    Tuple cells;
    cells.reserve(map_->width());
    for (std::size_t i = 0; i < map_->width(); ++i) {
        cells.push_back(row[i] ? Cell{Cell::Kind::kText, *row[i]} : Cell{Cell::Kind::kNull});
    }
    const Correlated name = map_->correlate(cells);
    // The stream brings columns as text, over which we evaluate the expression; the server
    // evaluates it over the values. Where the two differ (blanks of a char(n), say) a row would
    // have one name here and another in the stream, and in the executor's look: it is not published
    // at all.
    const bool null = name.kind == Correlated::Kind::kNull;
    if (null ? row.back().has_value() : row.back() != name.text) {
        return failed("the correlation expression is " + shown(row.back()) + " on the server and " +
                      shown(null ? std::nullopt : std::optional(name.text)) +
                      " over the text of its columns; let it read columns of type text");
    }
    const std::optional<std::string> id = map_->object_id(cells);
    const std::optional<std::string> subject = map_->subject_key(cells);
    if (!id || !subject) return failed("a row without a primary key");
    Fact fact;
    fact.kind = Fact::Kind::kUpsert;
    fact.in_epoch = true;
    fact.event_id = format_lsn(as_of_) + ":0";
    fact.object_id = *id;
    fact.subject_key = *subject;
    fact.version = {as_of_, 0};
    fact.object = map_->object(cells);
    out.push_back(std::move(fact));
    return true;
}

}  // namespace trueup::connectors::postgres
