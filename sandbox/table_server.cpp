#include "sandbox/table_server.h"

#include "engine/base/check.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace trueup::sandbox {

namespace {

constexpr ports::Lsn kPage = 8192;
constexpr ports::Lsn kPageHeader = 0x18;
constexpr ports::Lsn kCommitRecord = 0x30;

/// Where a record of this size, begun at `at`, ends.
ports::Lsn advance(ports::Lsn at, std::size_t bytes) {
    if (at % kPage == 0) at += kPageHeader;
    return (at + bytes + 7) / 8 * 8;
}

std::size_t size_of(const ports::SqlRow& values) {
    std::size_t bytes = 64;
    for (const auto& value : values) bytes += value ? value->size() + 1 : 0;
    return bytes;
}

}  // namespace

std::vector<Column> instance_columns() {
    return {{"id", 20},
            {"name"},
            {"owner_username"},
            {"owner_email"},
            {"owner_slack_channel"},
            {"url_slug"},
            {"status"},
            {"pod_name"},
            {"pod_ip"},
            {"instance_url"},
            {"error_code"},
            {"error_message"},
            {"stack_trace"},
            {"created_at", 1184},
            {"ttl"},
            {"last_activity_at", 1184},
            {"inactivity_timeout"},
            {"memory_usage_bytes", 20}};
}

TableServer::TableServer(const WorldSettings& settings, std::vector<Record>& records)
    : settings_(settings), records_(records), pk_column_(0) {
    const std::optional<std::size_t> at = column(settings.pk_column);
    TRUEUP_CHECK(at.has_value());
    pk_column_ = *at;
}

std::optional<std::size_t> TableServer::column(const std::string& name) const {
    for (std::size_t i = 0; i < settings_.columns.size(); ++i) {
        if (settings_.columns[i].name == name) return i;
    }
    return std::nullopt;
}

Row TableServer::named(const ports::SqlRow& values) const {
    Row row;
    for (std::size_t i = 0; i < values.size(); ++i) row[settings_.columns[i].name] = values[i];
    return row;
}

std::optional<RowChange> TableServer::resolve(const PendingChange& change,
                                              std::map<std::string, Values>& view) const {
    const auto here = [&](const std::string& pk) -> Values {
        if (const auto seen = view.find(pk); seen != view.end()) return seen->second;
        const auto found = rows_.find(pk);
        return found == rows_.end() ? nullptr : found->second.values;
    };
    RowChange resolved;
    resolved.kind = change.kind;
    if (change.kind == 'T') {
        for (const auto& [pk, row] : rows_) view[pk] = nullptr;
        for (auto& [pk, values] : view) values = nullptr;
        return resolved;
    }
    resolved.before = here(change.pk);
    if ((change.kind == 'I') == (resolved.before != nullptr)) return std::nullopt;
    if (change.kind == 'D') {
        view[change.pk] = nullptr;
        return resolved;
    }
    ports::SqlRow next =
        resolved.before ? *resolved.before : ports::SqlRow(settings_.columns.size());
    if (change.kind == 'I') next[pk_column_] = change.pk;
    for (const auto& [name, value] : change.columns) {
        const std::optional<std::size_t> at = column(name);
        TRUEUP_CHECK(at.has_value());
        next[*at] = value;
    }
    TRUEUP_CHECK(next[pk_column_].has_value());
    if (pk_of(next) != change.pk && here(pk_of(next))) return std::nullopt;
    view[change.pk] = nullptr;
    resolved.after = std::make_shared<const ports::SqlRow>(std::move(next));
    view[pk_of(*resolved.after)] = resolved.after;
    return resolved;
}

std::size_t TableServer::commit(const std::vector<PendingChange>& changes, std::int64_t wall_ms) {
    Commit commit;
    commit.xid = next_xid_;
    commit.wall_ms = wall_ms;
    std::map<std::string, Values> view;
    ports::Lsn at = lsn_;
    for (const PendingChange& change : changes) {
        std::optional<RowChange> resolved = resolve(change, view);
        if (!resolved) continue;
        if (at % kPage == 0) at += kPageHeader;
        resolved->lsn = at;
        at = advance(at, resolved->after ? size_of(*resolved->after) : 64);
        commit.changes.push_back(std::move(*resolved));
    }
    if (commit.changes.empty()) return 0;
    commit.commit_lsn = at % kPage == 0 ? at + kPageHeader : at;
    commit.end_lsn = advance(commit.commit_lsn, kCommitRecord);
    const std::size_t touched = commit.changes.size();
    apply(commit);
    records_.emplace_back(std::move(commit));
    return touched;
}

TableServer::Undo TableServer::undo_of(const Commit& commit) const {
    Undo undo{{}, lsn_, next_xid_};
    const auto keep = [&](const std::string& pk) {
        const auto found = rows_.find(pk);
        undo.rows.emplace(pk, found == rows_.end() ? std::nullopt : std::optional(found->second));
    };
    for (const RowChange& change : commit.changes) {
        if (change.before) keep(pk_of(*change.before));
        if (change.after) keep(pk_of(*change.after));
        if (change.kind != 'T') continue;
        for (const auto& [pk, row] : rows_) keep(pk);
    }
    return undo;
}

void TableServer::rewind(std::size_t commits) {
    TRUEUP_CHECK(slots_.empty());
    Commit lost;
    for (; commits > 0 && !undo_.empty(); --commits) {
        Undo undo = std::move(undo_.back());
        undo_.pop_back();
        for (auto& [pk, row] : undo.rows) {
            const auto now = rows_.find(pk);
            RowChange change;
            if (now != rows_.end()) change.before = now->second.values;
            if (row) change.after = row->values;
            change.kind = !change.after ? 'D' : change.before ? 'U' : 'I';
            if (change.before || change.after) lost.changes.push_back(std::move(change));
            if (now != rows_.end()) rows_.erase(now);
            if (row) rows_[pk] = std::move(*row);
        }
        lsn_ = undo.lsn;
        next_xid_ = undo.xid;
    }
    log_.clear();
    unpublished_.clear();  // no stream is left, and a slot of later begins behind them
    if (!lost.changes.empty()) records_.emplace_back(std::move(lost));
}

void TableServer::apply(const Commit& commit) {
    undo_.push_back(undo_of(commit));
    if (undo_.size() > kMostLost) undo_.pop_front();
    Commit known = commit;
    for (RowChange& change : known.changes) {
        if (change.kind == 'T') rows_.clear();
        if (change.before) {
            rows_.erase(pk_of(*change.before));
        }
        if (!change.after) continue;
        const std::string& pk = pk_of(*change.after);
        rows_[pk] = {change.after, known.xid};
        std::uint64_t number = 0;
        const auto parsed = std::from_chars(pk.data(), pk.data() + pk.size(), number);
        if (parsed.ec == std::errc{} && parsed.ptr == pk.data() + pk.size()) {
            next_pk_ = std::max(next_pk_, number + 1);
        }
    }
    lsn_ = known.end_lsn;
    next_xid_ = known.xid + 1;
    if (!published_) unpublished_.insert(known.commit_lsn);
    log_.push_back(std::move(known));
    trim();
}

void TableServer::publish(bool yes) {
    if (published_ == yes) return;
    published_ = yes;
    ++alterations_;
    write_elsewhere(200);  // as each change of a catalog
}

void TableServer::write_elsewhere(std::size_t bytes) {
    const WalMark mark{advance(lsn_, bytes)};
    apply(mark);
    records_.emplace_back(mark);
}

void TableServer::apply(const WalMark& mark) { lsn_ = mark.lsn; }

Slot& TableServer::make_slot(const std::string& name) {
    // A real slot's consistent point lies behind a running-transactions record of its own.
    write_elsewhere(56);
    const Slot slot{name, lsn_, lsn_, false};
    apply(slot);
    records_.emplace_back(slot);
    return slots_.at(name);
}

void TableServer::apply(const Slot& slot) {
    slots_[slot.name] = slot;
    trim();
}

void TableServer::drop_slot(const std::string& name) {
    const SlotDropped dropped{name};
    records_.emplace_back(dropped);
    apply(dropped);
}

void TableServer::apply(const SlotDropped& dropped) {
    slots_.erase(dropped.name);
    trim();
}

void TableServer::confirm(Slot& slot, ports::Lsn flushed) {
    if (flushed <= slot.confirmed) return;
    slot.saved = slot.confirmed;
    slot.confirmed = std::min(flushed, lsn_);
    records_.emplace_back(slot);
    trim();
}

void TableServer::lose(Slot& slot) {
    slot.lost = true;
    records_.emplace_back(slot);
    trim();
}

void TableServer::rewind_slots() {
    for (auto& [name, slot] : slots_) {
        slot.confirmed = slot.saved;
        records_.emplace_back(slot);
    }
}

void TableServer::trim() {
    ports::Lsn needed = lsn_;
    for (const auto& [name, slot] : slots_) {
        if (!slot.lost) needed = std::min(needed, slot.saved);
    }
    while (!log_.empty() && log_.front().commit_lsn < needed) log_.pop_front();
}

}  // namespace trueup::sandbox
