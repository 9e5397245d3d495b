// One complete copy of the table, under the exported snapshot of a temporary slot: a begin, every
// row, and an end only when the server said that this was all.
#pragma once

#include "connectors/postgres/rows.h"
#include "connectors/postgres/settings.h"
#include "engine/model/fact.h"
#include "engine/ports/database.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::connectors::postgres {

/// Why a copy has no snapshot yet, and how to see who keeps it from one.
inline constexpr std::string_view kNoSnapshotYet =
    "the table is not read yet: this waits for running transactions; list them, oldest first: "
    "SELECT pid, xact_start, query FROM pg_stat_activity WHERE backend_xid IS NOT NULL ORDER BY "
    "xact_start;";

/// Keeps references to settings and port. Not thread-safe.
class Epoch {
  public:
    enum class State : std::uint8_t { kRunning, kComplete, kFailed };

    Epoch(const Settings& settings, ports::Database& database)
        : settings_(&settings), database_(&database) {}

    /// Starts a copy under `call`; a running one is cancelled.
    void start(ports::CallId call, const std::vector<std::string>& pk_columns);
    /// No end will be published for what was begun.
    void cancel();

    bool running() const { return call_ != 0; }
    /// For the transactions that run, without which there is no snapshot.
    bool waits() const { return call_ != 0 && !begun_; }
    bool owns(ports::CallId call) const { return call_ != 0 && call == call_; }

    /// Handles an event of the running copy.
    State take(const ports::DatabaseEvent& event, std::vector<Fact>& out);

    /// The consistent point of the last copy that began.
    ports::Lsn as_of() const { return as_of_; }
    /// Why the last copy failed; empty after one that did not.
    const std::string& trouble() const { return trouble_; }

  private:
    State fail(const std::string& why);
    bool copy_row(const ports::SqlRow& row, std::vector<Fact>& out);

    const Settings* settings_;
    ports::Database* database_;
    ports::CallId call_ = 0;
    bool begun_ = false;
    ports::Lsn as_of_ = 0;
    std::optional<RowMap> map_;
    std::string trouble_;
};

}  // namespace trueup::connectors::postgres
