// Writes what a walsender sends: pgoutput messages (protocol 1) in XLogData, and keepalives.
#pragma once

#include "sandbox/records.h"

#include <string>

namespace trueup::sandbox {

constexpr std::uint32_t kRelationId = 16'385;

/// Payloads.
std::string begin_message(const Commit& commit);
std::string commit_message(const Commit& commit);
std::string relation_message(const WorldSettings& settings);
/// An insert, update, delete or truncate.
std::string change_message(const RowChange& change, const WorldSettings& settings,
                           std::size_t pk_column);

/// CopyData: `start` is the payload's own position, `end` how far the server has sent.
std::string xlog_data(ports::Lsn start, ports::Lsn end, std::int64_t wall_ms,
                      std::string_view payload);
std::string keepalive(ports::Lsn end, std::int64_t wall_ms, bool reply_now);

/// "0/16B3748".
std::string lsn_text(ports::Lsn lsn);

}  // namespace trueup::sandbox
