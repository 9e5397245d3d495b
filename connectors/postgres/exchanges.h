// The calls of ports::Database as conversations on a session. Internal to the transport.
#pragma once

#include "connectors/postgres/session.h"
#include "engine/ports/database.h"

#include <memory>
#include <string>

namespace trueup::connectors::postgres {

/// `system id/timeline` that the last inspection saw; empty before the first. Calls that lean on
/// the server's position fail when another server answers them.
using ServerName = std::shared_ptr<std::string>;

std::unique_ptr<Exchange> inspect_exchange(ports::CallId call, const ports::Inspect& request,
                                           ServerName server);
std::unique_ptr<Exchange> insert_lsn_exchange(ports::CallId call,
                                              const ports::AskInsertLsn& request,
                                              ServerName server);
std::unique_ptr<Exchange> read_rows_exchange(ports::CallId call, const ports::ReadRows& request);
std::unique_ptr<Exchange> ask_exchange(ports::CallId call, Statement statement);
std::unique_ptr<Exchange> update_exchange(ports::CallId call, const ports::UpdateRow& request);

// On replication sessions.
std::unique_ptr<Exchange> ensure_slot_exchange(ports::CallId call, std::string slot);
std::unique_ptr<Exchange> drop_slot_exchange(ports::CallId call, const std::string& slot);
std::unique_ptr<Exchange> start_wal_exchange(ports::CallId call, const ports::StartWal& request,
                                             ServerName server);
std::unique_ptr<Exchange> copy_exchange(ports::CallId call, ports::CopyTable request,
                                        ServerName server);

}  // namespace trueup::connectors::postgres
