#include "sandbox/pgoutput.h"

#include <array>
#include <cstdio>

namespace trueup::sandbox {

namespace {

constexpr std::int64_t kPostgresEpochMs = 946'684'800'000;  // 2000-01-01

void put(std::string& out, std::uint64_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
        out += static_cast<char>((value >> static_cast<unsigned>(shift)) & 0xffU);
    }
}

void put_time(std::string& out, std::int64_t wall_ms) {
    put(out, static_cast<std::uint64_t>((wall_ms - kPostgresEpochMs) * 1000), 8);
}

void put_text(std::string& out, std::string_view text) {
    out += text;
    out += '\0';
}

void put_value(std::string& out, const std::optional<std::string>& value) {
    if (!value) {
        out += 'n';
        return;
    }
    out += 't';
    put(out, value->size(), 4);
    out += *value;
}

/// A tuple; values that are long and the same as in `before` are not sent.
void put_tuple(std::string& out, const ports::SqlRow& values, const ports::SqlRow* before,
               std::size_t toast_bytes) {
    put(out, values.size(), 2);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool unchanged =
            before && values[i] && values[i]->size() > toast_bytes && values[i] == (*before)[i];
        if (unchanged) {
            out += 'u';
        } else {
            put_value(out, values[i]);
        }
    }
}

/// The old tuple: all of it under REPLICA IDENTITY FULL, else the key with nulls around it.
void put_old(std::string& out, const ports::SqlRow& before, const WorldSettings& settings,
             std::size_t pk_column) {
    if (settings.replica_identity == 'f') {
        out += 'O';
        put_tuple(out, before, nullptr, 0);
        return;
    }
    out += 'K';
    ports::SqlRow key(before.size());
    key[pk_column] = before[pk_column];
    put_tuple(out, key, nullptr, 0);
}

}  // namespace

std::string begin_message(const Commit& commit) {
    std::string out = "B";
    put(out, commit.commit_lsn, 8);
    put_time(out, commit.wall_ms);
    put(out, commit.xid, 4);
    return out;
}

std::string commit_message(const Commit& commit) {
    std::string out = "C";
    put(out, 0, 1);
    put(out, commit.commit_lsn, 8);
    put(out, commit.end_lsn, 8);
    put_time(out, commit.wall_ms);
    return out;
}

std::string relation_message(const WorldSettings& settings) {
    std::string out = "R";
    put(out, kRelationId, 4);
    put_text(out, settings.table.schema);
    put_text(out, settings.table.name);
    out += settings.replica_identity;
    put(out, settings.columns.size(), 2);
    for (const Column& column : settings.columns) {
        // Under FULL every column is part of the identity, so a real server flags them all.
        const bool key = settings.replica_identity == 'f' || column.name == settings.pk_column;
        put(out, key ? 1 : 0, 1);
        put_text(out, column.name);
        put(out, column.type_oid, 4);
        put(out, 0xffffffffU, 4);
    }
    return out;
}

std::string change_message(const RowChange& change, const WorldSettings& settings,
                           std::size_t pk_column) {
    std::string out(1, change.kind);
    if (change.kind == 'T') {
        put(out, 1, 4);
        put(out, 0, 1);
        put(out, kRelationId, 4);
        return out;
    }
    put(out, kRelationId, 4);
    if (change.kind == 'I') {
        out += 'N';
        put_tuple(out, *change.after, nullptr, 0);
        return out;
    }
    const bool moved = change.after && (*change.after)[pk_column] != (*change.before)[pk_column];
    if (change.kind == 'D' || settings.replica_identity == 'f' || moved) {
        put_old(out, *change.before, settings, pk_column);
    }
    if (change.kind == 'U') {
        out += 'N';
        put_tuple(out, *change.after, change.before.get(), settings.toast_bytes);
    }
    return out;
}

std::string xlog_data(ports::Lsn start, ports::Lsn end, std::int64_t wall_ms,
                      std::string_view payload) {
    std::string out = "w";
    put(out, start, 8);
    put(out, end, 8);
    put_time(out, wall_ms);
    out += payload;
    return out;
}

std::string keepalive(ports::Lsn end, std::int64_t wall_ms, bool reply_now) {
    std::string out = "k";
    put(out, end, 8);
    put_time(out, wall_ms);
    put(out, reply_now ? 1 : 0, 1);
    return out;
}

std::string lsn_text(ports::Lsn lsn) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%llX/%llX",
                  static_cast<unsigned long long>(lsn >> 32U),
                  static_cast<unsigned long long>(lsn & 0xffffffffU));
    return text.data();
}

}  // namespace trueup::sandbox
