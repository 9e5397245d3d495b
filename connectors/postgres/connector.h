// The protocol machine of one PostgreSQL table: a slot's stream, epochs beside it, proofs of
// progress.
//
// After `restart` it connects (link.h), streams from its own durable position (stream.h), and reads
// an epoch under a temporary slot of its own while the stream goes on (epoch.h). Progress (proof.h)
// is claimed only while the stream is up, the table is fit, an epoch of this incarnation is
// complete and no change had to be left out; otherwise Alive says that we are there and the source
// is not.
//
// Invariants:
//   I1  SnapshotEnd follows only a copy that the server finished.
//   I2  The slot is confirmed only up to what `delivered` said, or what held nothing of ours.
//   I3  The server's position is asked only after the marker's append time is known.
//   I4  Once `needs_new_incarnation()`, nothing but Alive comes until `restart`.
//
// Not thread-safe, but for `wake`.
#pragma once

#include "connectors/postgres/epoch.h"
#include "connectors/postgres/link.h"
#include "connectors/postgres/proof.h"
#include "connectors/postgres/settings.h"
#include "connectors/postgres/slot_acks.h"
#include "connectors/postgres/stream.h"
#include "engine/model/fact.h"
#include "engine/ports/call_ids.h"
#include "engine/ports/connector.h"
#include "engine/ports/database.h"
#include "engine/ports/rewind.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trueup::connectors::postgres {

class PostgresConnector : public ports::Connector {
  public:
    /// Sorts the columns; refuses settings without any, or without names. `database` must outlive
    /// the connector and be used by nobody else.
    static Result<std::unique_ptr<PostgresConnector>> open(Settings settings,
                                                           ports::Database& database);

    PostgresConnector(const PostgresConnector&) = delete;
    PostgresConnector& operator=(const PostgresConnector&) = delete;

    void restart(SteadyTime now) override;
    void step(SteadyTime now, Millis max_wait, std::vector<Fact>& out) override;
    void wake() override { database_->wake(); }
    void marker_appended(BrokerTime t, SteadyTime now) override;
    void delivered(std::uint64_t confirm) override;
    void pace_progress(Millis interval) override;
    void relist() override { audit_ = true; }
    bool needs_new_incarnation() const override { return link_.fenced(); }
    ports::SourceHealth health() const override;

  private:
    PostgresConnector(Settings settings, ports::Database& database);

    void start_due(SteadyTime now, std::vector<Fact>& out);
    Millis silence_borne() const;
    void end_silence(SteadyTime now);
    void start_epoch_if_due(SteadyTime now);
    void advance_proof(SteadyTime now, std::vector<Fact>& out);
    void ask_position(SteadyTime now);
    void give_up_proof();
    void see_who_answers(const ports::DatabaseEvent& event, SteadyTime now);
    Millis until_due(SteadyTime now) const;
    void handle(const ports::DatabaseEvent& event, SteadyTime now, std::vector<Fact>& out);
    void handle_link(const ports::DatabaseEvent& event, SteadyTime now, std::vector<Fact>& out);
    void handle_epoch(const ports::DatabaseEvent& event, SteadyTime now, std::vector<Fact>& out);
    void handle_position(const ports::DatabaseEvent& event, SteadyTime now, std::vector<Fact>& out);
    void take_message(const std::string& bytes, SteadyTime now, std::vector<Fact>& out);
    void take_wal(const WalData& data, SteadyTime now, std::vector<Fact>& out);
    void take_keepalive(const Keepalive& keepalive, SteadyTime now, std::vector<Fact>& out);
    void heard_up_to(Lsn position);
    void moved_to(Lsn position, std::vector<Fact>& out);
    void stream_began(SteadyTime now);
    void stream_ended();
    void send_status(SteadyTime now);
    void tell_status(SteadyTime now, bool want_reply);
    bool may_prove() const;

    Settings settings_;
    ports::Database* database_;
    ports::CallIds ids_;
    Link link_;
    Stream stream_;
    Epoch epoch_;
    trueup::Backoff epoch_retry_;
    SlotAcks acks_;
    ProgressProof proof_;
    ports::Rewind rewind_;

    bool complete_ = false;  ///< an epoch of this incarnation ended, and holds
    bool audit_ = false;     ///< another one was asked for
    SteadyTime next_epoch_{};
    Lsn position_ = 0;  ///< all commits before it came in on this connection
    ports::CallId ask_call_ = 0;
    Lsn position_at_ask_ = 0;
    ports::SqlRow ask_row_;
    Millis pace_{15000};
    SteadyTime last_beat_{};
    SteadyTime next_beat_{};
    SteadyTime last_status_{};
    SteadyTime last_message_{};  ///< of the link's calls, the stream included
    Millis silence_{0};          ///< of the stream, that is borne
    Lsn farthest_ = 0;           ///< that was ever heard of
    SteadyTime last_copied_{};   ///< the same of the running epoch
    SteadyTime asked_at_{};
    SteadyTime now_{};
    bool heard_ = false;  ///< this connection brought a message
    bool reply_now_ = false;
    std::uint64_t failures_ = 0;
    std::uint64_t epochs_ = 0;
    std::vector<ports::DatabaseEvent> events_;
};

}  // namespace trueup::connectors::postgres
