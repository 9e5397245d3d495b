// What a source has left at its server when nobody runs it any more, and its removal: `trueup
// source drop`. A replication slot is all that Trueup makes there for good; what an epoch makes (a
// temporary slot) ends with its session, and publications, roles and replica identities are other
// people's.
#pragma once

#include "connectors/postgres/transport.h"
#include "engine/base/result.h"
#include "engine/ports/clock.h"

#include <cstdint>
#include <optional>
#include <string>

namespace trueup::connectors::postgres {

struct Leftovers {
    std::string server;    ///< its system identifier
    std::string database;  ///< that we are connected to
    std::string role;      ///< as whom

    bool slot = false;          ///< there is one of that name; what follows is of it
    std::string plugin;         ///< empty: a physical slot, as a standby reads
    std::string slot_database;  ///< empty likewise
    std::string active_pid;     ///< of the server's process that reads it; empty: nobody does
    std::string reader;         ///< `application (role)` of that process, as far as we may know
    bool active = false;        ///< somebody reads it
    std::string wal_status;     ///< lost, too
    std::string invalidated;    ///< why it is lost; servers from 17 on
    bool synced = false;        ///< of a standby, which copies it from its primary (17)
    std::optional<std::uint64_t> kept_bytes;  ///< WAL that it keeps

    bool publication = false;  ///< there is one of the configured name
    std::string temporary;     ///< slots of epochs under way in this database, by any source
    std::uint64_t other_sessions = 0;  ///< of anybody called trueup, in this database

    /// Such as this source would have made.
    bool ours() const { return slot && plugin == "pgoutput" && slot_database == database; }
};

/// Asks; changes nothing. Blocks for at most 5 s.
Result<Leftovers> look_for_leftovers(LibpqDatabase& database, const std::string& slot,
                                     const std::string& publication,
                                     ports::Clock& clock = ports::system_clock());

/// Drops the slot that `seen` describes: in one statement with the conditions, so that it is still
/// ours, nobody reads it, and the server is the same. False: such a slot is not there any more, or
/// is read again. Blocks for at most 5 s.
Result<bool> drop_leftovers(LibpqDatabase& database, const std::string& slot, const Leftovers& seen,
                            ports::Clock& clock = ports::system_clock());

}  // namespace trueup::connectors::postgres
