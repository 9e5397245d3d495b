// The way to the live stream: inspect the server, see to the slot, compare positions, start
// streaming; once a minute see whether the table is still fit to be watched; begin anew with
// backoff when the stream ends.
//
// Fencing (S14). An incarnation relies on a stream without holes. Where that is not certain
// (another server or timeline, a slot that is missing, lost, recreated or moved by others, a log
// that went back), the link stays down and `fenced()` until a new incarnation restarts it.
//
// A slot that another client reads is waited for and never taken from it; after 5 s that is a
// trouble which names the reader.
#pragma once

#include "connectors/postgres/failure.h"
#include "connectors/postgres/lsn.h"
#include "connectors/postgres/settings.h"
#include "connectors/postgres/table_check.h"
#include "engine/base/backoff.h"
#include "engine/ports/call_ids.h"
#include "engine/ports/database.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace trueup::connectors::postgres {

/// Keeps references to what it is given. Not thread-safe.
class Link {
  public:
    enum class News : std::uint8_t {
        kNothing,
        kUp,       ///< the stream was started
        kMessage,  ///< the event carries a message of the stream
        kDown,     ///< the stream ended, or a new incarnation is needed
    };

    Link(const Settings& settings, ports::Database& database, ports::CallIds& ids);

    /// A new incarnation: everything that it relied on may be new.
    void restart(SteadyTime now);
    /// Starts what is due. `durable`: all commits that end at or before it are durable in our log.
    void tick(SteadyTime now, Lsn durable);
    bool owns(ports::CallId call) const;
    News take(const ports::DatabaseEvent& event, SteadyTime now);

    /// The stream cannot be used any further; it is started anew after a backoff.
    void drop(const std::string& why, SteadyTime now);
    /// See above. `drop_slot`: the slot is of no use any more.
    void fence(const std::string& why, bool drop_slot);
    /// The same, since the database went back in time, or another one took its place, which may
    /// lack what the former one had.
    void fence_rewound(const std::string& why);
    /// Inspects the table again at the next tick.
    void recheck(SteadyTime now);
    /// The same, but for a question that is open already: however often it is called, it is
    /// answered. The first time at once, then after pauses that grow to those of a calm stream.
    void recheck_soon(SteadyTime now);
    /// The server was told that everything up to here is safe with us.
    void told_flushed(Lsn flushed) { floor_ = std::max(floor_, flushed); }

    bool up() const { return state_ == State::kStreaming; }
    /// A question is open that the server answers from memory.
    bool asks() const { return state_ == State::kInspecting || state_ == State::kComparing; }
    bool fenced() const { return state_ == State::kFenced; }
    /// The database went back in time, or another one took its place, since the last call: seen by
    /// this incarnation, or between the one before and this one.
    bool take_rewound() { return std::exchange(rewound_, false); }
    /// The last table check found nothing to complain about.
    bool fit() const { return fit_; }
    /// Is that what the last table check found published (ports::Inspect)? Otherwise changes may be
    /// missing in the stream even if all is again as it was.
    bool publishes(const std::string& published) const;
    /// The table was unfit for a while, or published in another way, or has another key, since the
    /// last call that said so, and the stream runs now: the table has to be read anew. Changes were
    /// not sent meanwhile, or could not be followed; under another key each row is another object.
    /// The stream tells none of it, whichever connection it goes on in.
    bool take_refit() { return up() && fit_ && std::exchange(refit_, false); }
    ports::CallId stream_call() const { return up() ? call_ : 0; }
    const TableCheck& table() const { return table_; }
    const std::string& trouble() const { return trouble_; }
    std::uint64_t failures() const { return failures_; }
    SteadyTime due() const;

  private:
    enum class State : std::uint8_t {
        kDown,
        kInspecting,
        kDropping,
        kEnsuring,
        kComparing,
        kStreaming,
        kFenced,
    };
    using Event = ports::DatabaseEvent;

    void inspect();
    void ensure(SteadyTime now);
    News ended(SteadyTime now);
    News failed(const Event& event, SteadyTime now);
    News inspected(SteadyTime now);
    News ensured();
    News compared(SteadyTime now);
    News rechecked(const Event& event, SteadyTime now);
    void withdraw_recheck();
    /// What a check says of the table, and whether it is fit. Nothing is lost of what one before
    /// said.
    Status judge(const TableCheck& read);
    /// Another history answers than the one that this incarnation relies on.
    bool fenced_by(const TableCheck& read);
    void wait_for_slot(const std::string& who, SteadyTime now);
    void refuse(const std::string& why, SteadyTime now);
    std::optional<std::string> answer(std::size_t column) const;

    const Settings* settings_;
    ports::Database* database_;
    ports::CallIds* ids_;
    trueup::Backoff retry_;
    trueup::Backoff doubts_;
    State state_ = State::kDown;
    ports::CallId call_ = 0;
    ports::CallId recheck_call_ = 0;
    ports::SqlRow row_;  ///< of the running call's answer
    ports::SqlRow recheck_row_;
    TableCheck table_;
    std::string server_;         ///< of this incarnation; empty before its first table check
    std::string former_server_;  ///< of the incarnation before; empty: there was none
    Lsn former_floor_ = 0;       ///< positions that it knew of
    bool fit_ = false;
    bool refit_ = false;
    bool drop_slot_ = false;
    bool rewound_ = false;
    Lsn durable_ = 0;
    Lsn floor_ = 0;           ///< the slot cannot be confirmed beyond this without others' doing
    Lsn confirmed_ = 0;       ///< what the slot says
    bool relied_on_ = false;  ///< the slot's stream brought something in this incarnation
    bool silent_ = false;     ///< this connection's stream has not said a word yet
    std::optional<SteadyTime> busy_since_;  ///< somebody else reads the slot
    std::string busy_;
    unsigned publication_failures_ = 0;
    SteadyTime retry_at_{};
    SteadyTime recheck_at_{};  ///< when to ask, or to give the question up
    SteadyTime doubt_at_{};    ///< when a doubt may ask again
    SteadyTime up_since_{};
    SteadyTime ensuring_since_{};
    std::string trouble_;
    std::uint64_t failures_ = 0;
};

}  // namespace trueup::connectors::postgres
