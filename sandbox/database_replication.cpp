// Slots, copies and streams of DatabasePort.
#include "sandbox/database_port.h"
#include "sandbox/pgoutput.h"

#include <algorithm>

namespace trueup::sandbox {

using ports::CallId;
using ports::DatabaseEvent;

void DatabasePort::when_quiet(CallId call, Work work, const Act& act, bool lose_reply) {
    if (realm_->open_transactions.empty()) return work(act, lose_reply);
    waiting_.push_back({call, realm_->next_transaction, std::move(work), lose_reply});
}

void DatabasePort::ensure_slot(CallId call, const ports::EnsureSlot& request) {
    const auto report = [=, this](const Act&, bool lose_reply) {
        realm_->mutex.assert_held();
        const auto found = realm_->table.slots().find(request.slot);
        const Slot& slot = found != realm_->table.slots().end()
                               ? found->second
                               : realm_->table.make_slot(request.slot);
        if (lose_reply) return fail(call, {}, "connection lost");
        rows(call, {{slot.name, lsn_text(slot.confirmed), slot.lost ? "lost" : "reserved"}});
        end(call);
    };
    on_sql_session(call, Op::kEnsureSlot, [=, this](const Act& act, bool lose_reply) {
        realm_->mutex.assert_held();
        if (realm_->table.slots().contains(request.slot)) return report(act, lose_reply);
        when_quiet(call, report, act, lose_reply);
    });
}

void DatabasePort::copy(CallId call, const ports::CopyTable& request) {
    const Act act(*realm_);
    open_.insert(call);
    bool cut = false;
    if (fails(call, Op::kCopy, cut)) return;
    const auto send = [=, this](const Act&, bool lose_reply) {
        realm_->mutex.assert_held();
        send_copy(call, request, lose_reply);
    };
    when_quiet(call, send, act, cut);
}

void DatabasePort::send_copy(CallId call, const ports::CopyTable& request, bool cut) {
    if (!is_our_table(call, request.table)) return;
    const auto positions = columns(call, request.columns);
    if (!positions) return;
    realm_->table.write_elsewhere(56);  // making the temporary slot
    snapshot(call, realm_->table.lsn());
    const std::map<std::string, StoredRow>& table = realm_->table.rows();
    std::vector<ports::SqlRow> batch;
    const std::size_t all = table.size();
    std::size_t sent = 0;
    for (const auto& [pk, row] : table) {
        if (cut && sent >= all / 2) break;
        const auto key = key_of(call, request.key_expression, *row.values);
        if (!key) return;
        ports::SqlRow line;
        for (const std::size_t at : *positions) line.push_back((*row.values)[at]);
        line.push_back(*key);
        batch.push_back(std::move(line));
        ++sent;
        if (batch.size() < realm_->settings.copy_batch) continue;
        rows(call, std::move(batch));
        batch.clear();
    }
    if (!batch.empty()) rows(call, std::move(batch));
    if (cut) return fail(call, {}, "server closed the connection unexpectedly");
    end(call);
}

void DatabasePort::start_wal(CallId call, const ports::StartWal& request) {
    const Act act(*realm_);
    open_.insert(call);
    now_ = act.now();
    bool dies_soon = false;
    if (fails(call, Op::kStartWal, dies_soon)) return;
    begin_stream(call, request, dies_soon);
}

void DatabasePort::begin_stream(CallId call, const ports::StartWal& request, bool dies_soon) {
    const std::string named = "replication slot \"" + request.slot + "\"";
    const auto found = realm_->table.slots().find(request.slot);
    if (found == realm_->table.slots().end()) {
        return fail(call, "42704", named + " does not exist");
    }
    const Slot& slot = found->second;
    if (realm_->slot_users.contains(slot.name)) {
        return fail(call, "55006", named + " is active for PID 4711");
    }
    if (slot.lost) {
        return fail(call, "55000",
                    "cannot read from logical " + named +
                        ": it has been invalidated because it exceeded the maximum reserved size");
    }
    if (request.publication != realm_->settings.publication) {
        return fail(call, "42704", "publication \"" + request.publication + "\" does not exist");
    }
    Stream stream;
    stream.number = realm_->next_stream++;
    realm_->slot_users[slot.name] = stream.number;
    stream.call = call;
    stream.slot = slot.name;
    stream.position = std::max(request.from, slot.confirmed);
    stream.sent = stream.position;
    stream.kills = realm_->walsender_kills;
    stream.last_status = now_;
    stream.dies_soon = dies_soon;
    streams_.push_back(std::move(stream));
}

void DatabasePort::end_streams(const std::function<bool(Stream&)>& which) {
    std::erase_if(streams_, [&](Stream& stream) {
        if (!which(stream)) return false;
        realm_->mutex.assert_held();
        const auto user = realm_->slot_users.find(stream.slot);
        if (user != realm_->slot_users.end() && user->second == stream.number) {
            realm_->slot_users.erase(user);
        }
        return true;
    });
}

void DatabasePort::wal(Stream& stream, std::string data) {
    DatabaseEvent event;
    event.call = stream.call;
    event.kind = DatabaseEvent::Kind::kWal;
    event.data = std::move(data);
    outbox_.push_back(std::move(event));
}

void DatabasePort::wal_status(CallId call, ports::Lsn written, ports::Lsn flushed,
                              bool want_reply) {
    (void)written;
    const Act act(*realm_);
    for (Stream& stream : streams_) {
        if (stream.call != call) continue;
        stream.last_status = act.now();
        stream.pinged = false;
        stream.reply_due = stream.reply_due || want_reply;
        const auto slot = realm_->table.slots().find(stream.slot);
        if (slot != realm_->table.slots().end()) realm_->table.confirm(slot->second, flushed);
    }
}

void DatabasePort::send_commit(Stream& stream, const Commit& commit) {
    const ports::Lsn first = commit.changes.front().lsn;
    wal(stream, xlog_data(first, first, wall_ms_, begin_message(commit)));
    if (stream.dies_soon) return;
    for (const RowChange& change : commit.changes) {
        if (!stream.relation_sent) {
            // A real walsender gives a relation no position of its own.
            wal(stream, xlog_data(0, 0, wall_ms_, relation_message(realm_->settings)));
        }
        stream.relation_sent = change.kind != 'T';
        wal(stream, xlog_data(change.lsn, change.lsn, wall_ms_,
                              change_message(change, realm_->settings, realm_->table.pk_column())));
    }
    wal(stream, xlog_data(commit.end_lsn, commit.end_lsn, wall_ms_, commit_message(commit)));
}

bool DatabasePort::feed(Stream& stream, const Act& act) {
    const auto slot = realm_->table.slots().find(stream.slot);
    const bool killed = stream.kills != realm_->walsender_kills;
    if (killed || slot == realm_->table.slots().end() || slot->second.lost) {
        fail(stream.call, "57P01", "terminating connection due to administrator command");
        return false;
    }
    const std::deque<Commit>& log = realm_->table.log();
    auto commit =
        std::lower_bound(log.begin(), log.end(), stream.position,
                         [](const Commit& one, ports::Lsn at) { return one.commit_lsn < at; });
    for (; commit != log.end(); ++commit) {
        // Its end is passed in silence: a keepalive tells that the stream is behind it.
        if (!realm_->table.is_published(*commit)) {
            stream.position = commit->end_lsn;
            continue;
        }
        send_commit(stream, *commit);
        if (stream.dies_soon) {
            fail(stream.call, "57P01", "terminating connection due to administrator command");
            return false;
        }
        stream.position = commit->end_lsn;
        stream.sent = commit->end_lsn;
    }
    return keep_alive(stream, act);
}

bool DatabasePort::keep_alive(Stream& stream, const Act& act) {
    const Millis timeout = realm_->settings.wal_sender_timeout;
    const Millis silent = act.now() - stream.last_status;
    const ports::Lsn newest = realm_->table.lsn();
    if (silent >= timeout) {
        fail(stream.call, {}, "server closed the connection unexpectedly (replication timeout)");
        return false;
    }
    const bool ping = silent >= timeout / 2 && !stream.pinged;
    const bool moved = newest > stream.sent;
    if (!ping && !moved && !stream.reply_due) return true;
    stream.sent = std::max(stream.sent, newest);
    stream.pinged = stream.pinged || ping;
    stream.reply_due = false;
    wal(stream, keepalive(stream.sent, act.database_ms(), ping));
    return true;
}

std::optional<SteadyTime> DatabasePort::next_due() const {
    std::optional<SteadyTime> due = realm_->api.next_due();
    const Millis timeout = realm_->settings.wal_sender_timeout;
    for (const Stream& stream : streams_) {
        const SteadyTime t = stream.last_status + (stream.pinged ? timeout : timeout / 2);
        due = due ? std::min(*due, t) : t;
    }
    return due;
}

}  // namespace trueup::sandbox
