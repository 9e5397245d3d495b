// The protocol machine of a query: a view, a join, what lies within JSON. Nothing streams what a
// query answers, so it is asked again and again, each time in a transaction of its own that reads
// the primary as of one moment, after a marker is in our log: such an answer is complete, and
// proves progress up to the marker.
//
// What an answer says otherwise than the one before it is published as changes. What it lacks is
// never published as a removal: then the whole answer is an epoch, whose sweep the engine's breaker
// watches, as it does for a list. So an answer that is empty by mistake proves nothing.
//
// Invariants:
//   I1  SnapshotEnd and Progress follow only an answer that the server finished.
//   I2  The server is asked only after the marker's append time is known.
//   I3  A later answer has a greater version, also where the WAL has not moved: a query may go by
//       the clock.
//   I4  Once `needs_new_incarnation()`, nothing but Alive comes until `restart`.
//
// Holds the last answer's digests and, while it comes in, the whole answer. Not thread-safe, but
// for `wake`.
#pragma once

#include "connectors/postgres/epoch.h"
#include "connectors/postgres/settings.h"
#include "engine/base/backoff.h"
#include "engine/base/hash.h"
#include "engine/model/fact.h"
#include "engine/ports/call_ids.h"
#include "engine/ports/connector.h"
#include "engine/ports/database.h"
#include "engine/ports/rewind.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace trueup::connectors::postgres {

class QueryConnector : public ports::Connector {
  public:
    /// More rows than this, or bytes of their objects, are no answer: fill a table with them.
    static constexpr std::size_t kMostRows = 200'000;
    static constexpr std::size_t kMostBytes = 256UL << 20U;
    /// How long the server may say nothing of an answer.
    static constexpr Millis kAnswerLimit{60'000};

    /// `settings.table.query` is the query, `settings.primary_key` what tells its rows apart;
    /// refuses settings without either. `database` must outlive the connector and be used by nobody
    /// else.
    static Result<std::unique_ptr<QueryConnector>> open(Settings settings,
                                                        ports::Database& database);

    QueryConnector(const QueryConnector&) = delete;
    QueryConnector& operator=(const QueryConnector&) = delete;

    void restart(SteadyTime now) override;
    void step(SteadyTime now, Millis max_wait, std::vector<Fact>& out) override;
    void wake() override { database_->wake(); }
    void marker_appended(BrokerTime t, SteadyTime now) override;
    /// How often to ask.
    void pace_progress(Millis interval) override;
    void relist() override { audit_ = true; }
    bool needs_new_incarnation() const override { return fenced_; }
    ports::SourceHealth health() const override;

  private:
    enum class State : std::uint8_t { kIdle, kMarker, kAsked };
    /// What the last answer said of a row.
    struct Known {
        std::string subject;
        Hash128 object;
    };
    using Rows = std::unordered_map<std::string, Known>;  ///< by object id

    QueryConnector(Settings settings, ports::Database& database);

    void start_due(SteadyTime now, std::vector<Fact>& out);
    Millis until_due(SteadyTime now) const;
    void handle(const ports::DatabaseEvent& event, SteadyTime now, std::vector<Fact>& out);
    void fail(const std::string& why, SteadyTime now);
    Millis beat() const;
    bool went_back(const std::string& place, ports::Lsn position);
    bool too_large();
    void publish(SteadyTime now, std::vector<Fact>& out);
    Result<Rows> rows_of_answer() const;
    bool lacks_some(const Rows& rows) const;
    void tell(Fact fact, const Rows& rows, bool whole, std::vector<Fact>& out) const;

    Settings settings_;
    ports::Database* database_;
    ports::CallIds ids_;
    Epoch epoch_;
    trueup::Backoff retry_;
    ports::Rewind rewind_;

    State state_ = State::kIdle;
    BrokerTime marker_{};
    SourceTime clock_{};  ///< the server's, when the answer began
    std::string place_;   ///< server, timeline and database of the last answer
    Version version_;     ///< of the last answer
    std::vector<Fact> answer_;
    std::size_t bytes_ = 0;    ///< of the objects in it that were counted
    std::size_t counted_ = 0;  ///< facts
    Rows known_;
    bool complete_ = false;  ///< an epoch of this incarnation was published
    bool audit_ = false;
    bool fenced_ = false;
    Millis pace_{30'000};
    SteadyTime started_{};
    SteadyTime heard_{};   ///< the server, of the running answer
    SteadyTime next_{};    ///< when to ask again ...
    SteadyTime rested_{};  ///< ... which is never sooner than this
    SteadyTime next_beat_{};
    SteadyTime last_beat_{};
    std::string trouble_;
    std::uint64_t failures_ = 0;
    std::uint64_t epochs_ = 0;
    std::vector<ports::DatabaseEvent> events_;
};

}  // namespace trueup::connectors::postgres
