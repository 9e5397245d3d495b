#include "connectors/postgres/leftovers.h"

#include "connectors/postgres/asker.h"

#include <array>
#include <charconv>
#include <vector>

namespace trueup::connectors::postgres {

namespace {

constexpr ports::CallId kLook = 1;
constexpr ports::CallId kDrop = 2;
constexpr std::size_t kFields = 16;

std::optional<std::uint64_t> number(const std::string& text) {
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

Statement look_statement(const std::string& slot, const std::string& publication) {
    // Later servers have more columns of a slot; to_jsonb answers null for those that are not
    // there.
    return {R"(SELECT (SELECT system_identifier::text FROM pg_control_system()),
 current_database()::text, current_user::text, (s.slot_name IS NOT NULL)::text, s.plugin::text,
 s.database::text, s.active_pid::text,
 (SELECT coalesce(nullif(a.application_name, ''), 'unnamed') || ' (' || coalesce(a.usename, '?')
   || ')' FROM pg_stat_activity a WHERE a.pid = s.active_pid),
 s.active::text, to_jsonb(s) ->> 'wal_status', to_jsonb(s) ->> 'invalidation_reason',
 to_jsonb(s) ->> 'synced',
 pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
  ELSE pg_current_wal_lsn() END, s.restart_lsn)::bigint::text,
 EXISTS (SELECT FROM pg_publication WHERE pubname = $2)::text,
 (SELECT string_agg(t.slot_name::text, ', ' ORDER BY t.slot_name) FROM pg_replication_slots t
  WHERE t.temporary AND t.database = current_database() AND t.slot_name LIKE 'trueup\_copy\_%'),
 (SELECT count(*)::text FROM pg_stat_activity WHERE application_name = 'trueup'
  AND datname = current_database() AND pid <> pg_backend_pid())
FROM (SELECT) one LEFT JOIN pg_replication_slots s ON s.slot_name = $1)",
            {slot, publication}};
}

Statement drop_statement(const std::string& slot, const std::string& server) {
    return {R"(SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
 WHERE slot_name = $1 AND plugin = 'pgoutput' AND database = current_database() AND NOT active
 AND (SELECT system_identifier::text FROM pg_control_system()) = $2)",
            {slot, server}};
}

}  // namespace

Result<Leftovers> look_for_leftovers(LibpqDatabase& database, const std::string& slot,
                                     const std::string& publication, ports::Clock& clock) {
    database.ask(kLook, look_statement(slot, publication));
    const auto rows = Asker(database, clock).wait_for(kLook);
    if (!rows) return rows.error();
    if (rows->size() != 1 || rows->front().size() != kFields) {
        return Error{Next::kRetry, Code::kInvalid,
                     "the server's description of the slot is not a single row"};
    }
    std::array<std::string, kFields> text;
    for (std::size_t i = 0; i < kFields; ++i) text[i] = rows->front()[i].value_or("");
    Leftovers found;
    found.server = text[0];
    found.database = text[1];
    found.role = text[2];
    found.slot = text[3] == "true";
    found.plugin = text[4];
    found.slot_database = text[5];
    found.active_pid = text[6];
    found.reader = text[7];
    found.active = text[8] == "true";
    found.wal_status = text[9];
    found.invalidated = text[10];
    found.synced = text[11] == "true";
    found.kept_bytes = number(text[12]);
    found.publication = text[13] == "true";
    found.temporary = text[14];
    found.other_sessions = number(text[15]).value_or(0);
    return found;
}

Result<bool> drop_leftovers(LibpqDatabase& database, const std::string& slot, const Leftovers& seen,
                            ports::Clock& clock) {
    if (!seen.ours()) return false;
    database.ask(kDrop, drop_statement(slot, seen.server));
    const auto rows = Asker(database, clock).wait_for(kDrop);
    if (!rows) return rows.error();
    return !rows->empty();
}

}  // namespace trueup::connectors::postgres
