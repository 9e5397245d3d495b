#include "sandbox/database_port.h"

#include "engine/world/row_text.h"
#include "sandbox/pgoutput.h"

#include <algorithm>

namespace trueup::sandbox {

using ports::CallId;
using ports::DatabaseEvent;

namespace {

/// Where every row is read and written (ports::ReadRows::tell_place).
constexpr const char* kPlace = "sandbox";

/// Whether a later try of the same statement may succeed, by the class of the SQLSTATE.
Next next_move(std::string_view sqlstate) {
    const std::string_view kind = sqlstate.substr(0, 2);
    const bool transient = sqlstate.empty() || kind == "08" || kind == "40" || kind == "53" ||
                           kind == "57" || sqlstate == "55006";
    return transient ? Next::kRetry : Next::kStop;
}

}  // namespace

DatabasePort::DatabasePort(std::shared_ptr<Realm> realm) : realm_(std::move(realm)) {
    const Act act(*realm_);
    restarts_seen_ = realm_->database_restarts;
}

DatabasePort::~DatabasePort() {
    const Act act(*realm_);
    end_streams([](const Stream&) { return true; });
}

void DatabasePort::rows(CallId call, std::vector<ports::SqlRow> rows) {
    DatabaseEvent event;
    event.call = call;
    event.kind = DatabaseEvent::Kind::kRows;
    event.rows = std::move(rows);
    outbox_.push_back(std::move(event));
}

void DatabasePort::snapshot(CallId call, ports::Lsn lsn) {
    DatabaseEvent event;
    event.call = call;
    event.kind = DatabaseEvent::Kind::kSnapshot;
    event.lsn = lsn;
    outbox_.push_back(std::move(event));
}

void DatabasePort::end(CallId call) {
    DatabaseEvent event;
    event.call = call;
    event.kind = DatabaseEvent::Kind::kEnd;
    outbox_.push_back(std::move(event));
}

void DatabasePort::fail(CallId call, std::string sqlstate, std::string what) {
    DatabaseEvent event;
    event.call = call;
    event.kind = DatabaseEvent::Kind::kFailed;
    const Next next = next_move(sqlstate);
    const Code code = next == Next::kRetry ? Code::kUnavailable : Code::kInvalid;
    event.error = {next, code, std::move(what)};
    event.sqlstate = std::move(sqlstate);
    outbox_.push_back(std::move(event));
}

bool DatabasePort::fails(CallId call, Op op, bool& lose_reply) {
    const std::optional<Failure> failure = realm_->take_failure(op);
    if (!failure) return false;
    switch (failure->kind) {
        case Failure::Kind::kLostReply:
        case Failure::Kind::kCutBody:
        case Failure::Kind::kWalsenderKilled:
            lose_reply = true;
            return false;
        case Failure::Kind::kHang:
            if (op != Op::kCopy && op != Op::kStartWal) hung_ = call;
            return true;
        case Failure::Kind::kSqlState:
            fail(call, failure->sqlstate, "the server says " + failure->sqlstate);
            return true;
        case Failure::Kind::kSlotLost:
            for (auto& [name, slot] : realm_->table.slots()) realm_->table.lose(slot);
            return false;
        default:
            fail(call, {}, "connection refused");
            return true;
    }
}

void DatabasePort::run(const Queued& queued, const Act& act) {
    bool lose_reply = false;
    if (!fails(queued.call, queued.op, lose_reply)) queued.work(act, lose_reply);
}

void DatabasePort::on_sql_session(CallId call, Op op, Work work) {
    const Act act(*realm_);
    open_.insert(call);
    Queued queued{call, op, std::move(work)};
    if (hung_) {
        queued_.push_back(std::move(queued));
    } else {
        run(queued, act);
    }
}

bool DatabasePort::is_our_table(CallId call, const ports::Table& table) {
    const ports::Table& ours = realm_->settings.table;
    if (table.schema == ours.schema && table.name == ours.name) return true;
    fail(call, "42P01", "relation \"" + table.schema + "." + table.name + "\" does not exist");
    return false;
}

std::optional<std::vector<std::size_t>> DatabasePort::columns(
    CallId call, const std::vector<std::string>& names) {
    std::vector<std::size_t> positions;
    for (const std::string& name : names) {
        const std::optional<std::size_t> at = realm_->table.column(name);
        if (!at) {
            fail(call, "42703", "column \"" + name + "\" does not exist");
            return std::nullopt;
        }
        positions.push_back(*at);
    }
    return positions;
}

std::optional<std::optional<std::string>> DatabasePort::key_of(CallId call,
                                                               const std::string& expression,
                                                               const ports::SqlRow& values) {
    if (const std::optional<std::string> column = world::column_named_in(expression)) {
        const auto at = columns(call, {*column});
        if (!at) return std::nullopt;
        const std::optional<std::string>& text = values[at->front()];
        return text ? std::optional<std::string>(world::named_in(*text)) : std::nullopt;
    }
    if (realm_->settings.evaluate_key) {
        const auto column_of = [&](const std::string& column) {
            realm_->mutex.assert_held();
            const std::optional<std::size_t> at = realm_->table.column(column);
            return at ? &values[*at] : nullptr;
        };
        return realm_->settings.evaluate_key(expression, column_of);
    }
    if (const std::optional<std::size_t> at = realm_->table.column(expression)) return values[*at];
    fail(call, "42601", "the sandbox needs WorldSettings::evaluate_key for " + expression);
    return std::nullopt;
}

std::optional<bool> DatabasePort::has_name(CallId call, const std::vector<ports::RowName>& names,
                                           const ports::SqlRow& values) {
    bool named = false;
    for (const ports::RowName& name : names) {
        const auto key = key_of(call, name.expression, values);
        if (!key) return std::nullopt;
        named = named || *key == name.value;
    }
    return named;
}

void DatabasePort::inspect(CallId call, const ports::Inspect& request) {
    on_sql_session(call, Op::kInspect, [=, this](const Act&, bool lose_reply) {
        realm_->mutex.assert_held();
        if (lose_reply) return fail(call, {}, "connection lost");
        if (!is_our_table(call, request.table)) return;
        const WorldSettings& settings = realm_->settings;
        const bool known = request.publication == settings.publication;
        const char* const covered = !known ? "none" : realm_->table.published() ? "t" : "f";
        const std::uint64_t system_id = 7'000'000'000'000'000'000U + realm_->seed % 1'000'000'000U;
        std::string all;
        for (const Column& column : settings.columns) {
            all += (all.empty() ? "" : ",") + column.name;
        }
        rows(call,
             {{std::to_string(system_id), std::to_string(realm_->timeline), "150020",
               std::string(1, settings.replica_identity), settings.pk_column, covered, "logical",
               std::move(all), "", "r", "", "", "", "", realm_->table.publication()}});
        end(call);
    });
}

void DatabasePort::drop_slot(CallId call, const std::string& slot) {
    on_sql_session(call, Op::kDropSlot, [=, this](const Act&, bool lose_reply) {
        realm_->mutex.assert_held();
        if (realm_->slot_users.contains(slot)) {
            return fail(call, "55006", "replication slot \"" + slot + "\" is active for PID 4711");
        }
        if (realm_->table.slots().contains(slot)) realm_->table.drop_slot(slot);
        if (lose_reply) return fail(call, {}, "connection lost");
        end(call);
    });
}

void DatabasePort::insert_lsn(CallId call, const ports::AskInsertLsn& request) {
    on_sql_session(call, Op::kInsertLsn, [=, this](const Act& act, bool lose_reply) {
        realm_->mutex.assert_held();
        if (request.emit_message) realm_->table.write_elsewhere(40);
        if (lose_reply) return fail(call, {}, "connection lost");
        // On a page boundary the insert position lies behind the header of a page that nothing was
        // written to yet.
        ports::Lsn lsn = realm_->table.lsn();
        if (lsn % 8192 == 0) lsn += 0x18;
        rows(call, {{lsn_text(lsn), std::to_string(act.database_ms()), std::nullopt,
                     realm_->table.publication()}});
        end(call);
    });
}

void DatabasePort::read_rows(CallId call, const ports::ReadRows& request) {
    on_sql_session(call, Op::kRead, [=, this](const Act&, bool lose_reply) {
        realm_->mutex.assert_held();
        if (lose_reply) return fail(call, {}, "connection lost");
        if (!is_our_table(call, request.table)) return;
        const auto positions = columns(call, request.columns);
        if (!positions) return;
        std::vector<ports::RowName> names{{request.key_expression, request.key}};
        names.insert(names.end(), request.also.begin(), request.also.end());
        std::vector<ports::SqlRow> found;
        for (const auto& [pk, row] : realm_->table.rows()) {
            if (request.pk) {
                if (pk != *request.pk) continue;
            } else {
                const auto named = has_name(call, names, *row.values);
                if (!named) return;
                if (!*named) continue;
            }
            ports::SqlRow answer{pk, std::to_string(row.xmin)};
            for (const std::size_t at : *positions) answer.push_back((*row.values)[at]);
            if (request.tell_place) answer.emplace_back(kPlace);
            found.push_back(std::move(answer));
        }
        if (request.tell_place && found.empty()) found.push_back({kPlace});
        rows(call, std::move(found));
        end(call);
    });
}

std::string DatabasePort::why_refused(const ports::UpdateRow& request) const {
    const auto row = realm_->table.rows().find(request.pk);
    if (row == realm_->table.rows().end()) return "no row";
    const std::string xmin = std::to_string(row->second.xmin);
    if (!request.xmin.empty() && xmin != request.xmin) return "xmin";
    for (const ports::ColumnValue& guard : request.guards) {
        const std::size_t at = *realm_->table.column(guard.column);
        if ((*row->second.values)[at] != guard.value) return "guard " + guard.column;
    }
    return {};
}

Effect DatabasePort::attempt(const ports::UpdateRow& request, const Act& act) {
    Effect effect;
    effect.kind = Effect::Kind::kUpdate;
    effect.wall_ms = act.wall_ms();
    effect.pk = request.pk;
    effect.xmin = request.xmin;
    effect.guards = request.guards;
    effect.sets = request.sets;
    effect.why = why_refused(request);
    if (!effect.why.empty()) return effect;
    PendingChange change{'U', request.pk, {}};
    for (const ports::ColumnValue& set : request.sets) change.columns[set.column] = set.value;
    effect.accepted = realm_->table.commit({change}, act.database_ms()) == 1;
    if (!effect.accepted) effect.why = "duplicate key";
    return effect;
}

/// Else the call is answered. `names`: further columns that it is about.
template <typename Request>
bool DatabasePort::may_write(CallId call, const Request& request, Millis kept,
                             std::vector<std::string> names) {
    if (kept > request.send_within) {
        fail(call, {}, "not sent in time");
        return false;
    }
    if (!is_our_table(call, request.table)) return false;
    for (const ports::ColumnValue& one : request.sets) names.push_back(one.column);
    if (!columns(call, names)) return false;
    if (request.only_at.empty() || request.only_at == kPlace) return true;
    rows(call, {{"0", kPlace}});
    end(call);
    return false;
}

void DatabasePort::tell(CallId call, Effect effect, bool lose_reply) {
    const bool accepted = effect.accepted;
    realm_->add_effect(std::move(effect));
    if (lose_reply) return fail(call, {}, "connection lost");
    rows(call, {{accepted ? "1" : "0"}});
    end(call);
}

void DatabasePort::update_row(CallId call, const ports::UpdateRow& request) {
    const SteadyTime asked = Act(*realm_).now();
    on_sql_session(call, Op::kUpdate, [=, this](const Act& act, bool lose_reply) {
        realm_->mutex.assert_held();
        std::vector<std::string> names;
        for (const ports::ColumnValue& one : request.guards) names.push_back(one.column);
        if (!may_write(call, request, act.now() - asked, std::move(names))) return;
        tell(call, attempt(request, act), lose_reply);
    });
}

// Nothing runs beside it here, so that its look alone keeps two of a key apart.
void DatabasePort::insert_row(CallId call, const ports::InsertRow& request) {
    const SteadyTime asked = Act(*realm_).now();
    on_sql_session(call, Op::kUpdate, [=, this](const Act& act, bool lose_reply) {
        realm_->mutex.assert_held();
        if (!may_write(call, request, act.now() - asked, {})) return;
        Effect effect;
        effect.kind = Effect::Kind::kInsert;
        effect.wall_ms = act.wall_ms();
        effect.sets = request.sets;
        if (!request.none_of.empty()) effect.name = request.none_of.front().value;
        for (const auto& [pk, row] : realm_->table.rows()) {
            const auto named = has_name(call, request.none_of, *row.values);
            if (!named) return;
            if (*named) effect.why = "row " + pk;
        }
        if (effect.why.empty()) {
            PendingChange change{'I', realm_->table.next_pk(), {}};
            change.columns[realm_->settings.pk_column] = change.pk;
            for (const ports::ColumnValue& set : request.sets) {
                change.columns[set.column] = set.value;
            }
            effect.pk = change.pk;
            effect.accepted = realm_->table.commit({change}, act.database_ms()) == 1;
            if (!effect.accepted) effect.why = "duplicate key";
        }
        tell(call, std::move(effect), lose_reply);
    });
}

void DatabasePort::cancel(CallId call) {
    const Act act(*realm_);
    open_.erase(call);
    std::erase_if(queued_, [&](const Queued& one) { return one.call == call; });
    std::erase_if(waiting_, [&](const Waiting& one) { return one.call == call; });
    std::erase_if(outbox_, [&](const DatabaseEvent& one) { return one.call == call; });
    end_streams([&](const Stream& one) { return one.call == call; });
    if (hung_ != call) return;
    hung_.reset();
    while (!hung_ && !queued_.empty()) {
        const Queued next = std::move(queued_.front());
        queued_.pop_front();
        run(next, act);
    }
}

void DatabasePort::collect(const Act& act, std::vector<DatabaseEvent>& out) {
    now_ = act.now();
    wall_ms_ = act.database_ms();
    if (restarts_seen_ != realm_->database_restarts) {
        restarts_seen_ = realm_->database_restarts;
        end_streams([](const Stream&) { return true; });
        hung_.reset();
        queued_.clear();
        waiting_.clear();
        outbox_.clear();
        for (const CallId call : open_) {
            fail(call, "57P01", "terminating connection due to administrator command");
        }
    }
    const std::uint64_t oldest =
        realm_->open_transactions.empty() ? UINT64_MAX : *realm_->open_transactions.begin();
    for (std::size_t i = 0; i < waiting_.size();) {
        if (oldest < waiting_[i].horizon) {
            ++i;
            continue;
        }
        const Waiting ready = std::move(waiting_[i]);
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
        ready.work(act, ready.lose_reply);
    }
    end_streams([&](Stream& one) {
        realm_->mutex.assert_held();
        return !feed(one, act);
    });
    for (DatabaseEvent& event : outbox_) {
        const bool last =
            event.kind == DatabaseEvent::Kind::kEnd || event.kind == DatabaseEvent::Kind::kFailed;
        if (last) open_.erase(event.call);
        out.push_back(std::move(event));
    }
    outbox_.clear();
}

void DatabasePort::poll(Millis max_wait, std::vector<DatabaseEvent>& out) {
    Act act(*realm_);
    const std::size_t before = out.size();
    collect(act, out);
    if (out.size() != before || max_wait.count() <= 0) return;
    act.wait(max_wait, next_due(), woken_);
    collect(act, out);
}

}  // namespace trueup::sandbox
