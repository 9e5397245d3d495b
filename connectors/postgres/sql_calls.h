// The calls of ports::Database as conversations on a session. Internal to the transport.
#pragma once

#include "connectors/postgres/sql_call.h"
#include "engine/ports/call_ids.h"
#include "engine/ports/database_calls.h"

#include <memory>
#include <string>

namespace trueup::connectors::postgres {

/// `system id/timeline` that the last table check saw; empty before the first. Calls that lean on
/// the server's position fail when another server answers them.
using ServerName = std::shared_ptr<std::string>;

std::unique_ptr<SqlCall> inspect_call(ports::CallId call, const ports::Inspect& request,
                                      ServerName server);
std::unique_ptr<SqlCall> insert_lsn_call(ports::CallId call, const ports::AskInsertLsn& request,
                                         ServerName server);
std::unique_ptr<SqlCall> read_rows_call(ports::CallId call, const ports::ReadRows& request);
std::unique_ptr<SqlCall> query_call(ports::CallId call, ports::CopyTable request);
std::unique_ptr<SqlCall> ask_call(ports::CallId call, Statement statement);
std::unique_ptr<SqlCall> update_call(ports::CallId call, const ports::UpdateRow& request);
std::unique_ptr<SqlCall> insert_call(ports::CallId call, const ports::InsertRow& request);

// On replication sessions.
std::unique_ptr<SqlCall> ensure_slot_call(ports::CallId call, std::string slot);
std::unique_ptr<SqlCall> drop_slot_call(ports::CallId call, const std::string& slot);
std::unique_ptr<SqlCall> start_wal_call(ports::CallId call, const ports::StartWal& request,
                                        ServerName server);
std::unique_ptr<SqlCall> copy_call(ports::CallId call, ports::CopyTable request, ServerName server);

}  // namespace trueup::connectors::postgres
