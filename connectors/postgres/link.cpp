#include "connectors/postgres/link.h"

#include "engine/base/guard.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors::postgres {

namespace {

constexpr Millis kRecheckEvery{60000};
/// The first pause after a question that a doubt asked.
constexpr Millis kDoubtPause{1000};
/// Within it the server answers, or the question is withdrawn: it holds up all that come after it.
constexpr Millis kRecheckLimit{60000};
/// A slot that takes longer is news: a transaction that was forgotten holds it up.
constexpr Millis kSlotLate{5000};
/// A stream that held for this long was no failed attempt.
constexpr Millis kProvenAfter{10000};

}  // namespace

Link::Link(const Settings& settings, ports::Database& database, ports::CallIds& ids)
    : settings_(&settings),
      database_(&database),
      ids_(&ids),
      retry_(settings.backoff.first, settings.backoff.most, settings.jitter_seed),
      doubts_(kDoubtPause, kRecheckEvery, settings.jitter_seed) {}

void Link::restart(SteadyTime now) {
    if (call_ != 0) database_->cancel(call_);
    call_ = 0;
    withdraw_recheck();
    state_ = State::kDown;
    // A failover or a restore between two incarnations is seen by no stream: what the former one
    // knew is what the next server is held against.
    if (!server_.empty()) former_server_ = std::exchange(server_, {});
    former_floor_ = std::max({former_floor_, floor_, durable_});
    fit_ = false;
    durable_ = floor_ = confirmed_ = 0;
    relied_on_ = false;
    busy_since_.reset();
    publication_failures_ = 0;
    retry_at_ = now;
}

bool Link::owns(ports::CallId call) const {
    return call != 0 && (call == call_ || call == recheck_call_);
}

SteadyTime Link::due() const {
    if (state_ == State::kDown) return retry_at_;
    return up() ? recheck_at_ : SteadyTime::max();
}

void Link::tick(SteadyTime now, Lsn durable) {
    durable_ = durable;
    if (state_ == State::kEnsuring && now - ensuring_since_ >= kSlotLate) {
        trouble_ =
            "waiting for slot " + settings_->slot + "; creating one waits for running transactions";
    }
    // Until then it is most likely our own former walsender, which outlives its connection a bit.
    if (busy_since_ && now - *busy_since_ >= kSlotLate) trouble_ = busy_;
    if (state_ == State::kDown && now >= retry_at_) inspect();
    if (!up() || now < recheck_at_) return;
    if (recheck_call_ != 0) {
        withdraw_recheck();
        ++failures_;
        recheck_at_ = now + kRecheckEvery;
        return;
    }
    recheck_call_ = ids_->next();
    recheck_row_.clear();
    recheck_at_ = now + kRecheckLimit;
    database_->inspect(recheck_call_, {settings_->table, settings_->publication, settings_->slot});
}

void Link::recheck(SteadyTime now) {
    withdraw_recheck();  // its answer may be of before
    recheck_at_ = now;
}

void Link::recheck_soon(SteadyTime now) {
    // Each doubtful change asks, and a busy table may have thousands a second; each answer costs
    // the server a look through its catalogs.
    if (recheck_call_ != 0 || recheck_at_ <= std::max(now, doubt_at_)) return;
    if (now - doubt_at_ >= kRecheckEvery) doubts_.reset();
    recheck_at_ = std::max(now, doubt_at_);
    doubt_at_ = recheck_at_ + doubts_.next();
}

void Link::withdraw_recheck() {
    if (recheck_call_ != 0) database_->cancel(recheck_call_);
    recheck_call_ = 0;
}

void Link::inspect() {
    state_ = State::kInspecting;
    call_ = ids_->next();
    row_.clear();
    database_->inspect(call_, {settings_->table, settings_->publication, settings_->slot});
}

void Link::ensure(SteadyTime now) {
    call_ = ids_->next();
    row_.clear();
    // The slot of a fenced incarnation begins behind what was lost: a stream from it would look
    // whole.
    if (drop_slot_) {
        state_ = State::kDropping;
        database_->drop_slot(call_, settings_->slot);
    } else {
        state_ = State::kEnsuring;
        ensuring_since_ = now;
        database_->ensure_slot(call_, {settings_->slot, settings_->publication});
    }
}

void Link::refuse(const std::string& why, SteadyTime now) {
    if (call_ != 0) database_->cancel(call_);
    call_ = 0;
    withdraw_recheck();
    state_ = State::kDown;
    trouble_ = why;
    busy_since_.reset();
    ++failures_;
    retry_at_ = now + retry_.next();
}

void Link::wait_for_slot(const std::string& who, SteadyTime now) {
    // Counted over all attempts: each one finds the slot busy and would begin the time again.
    const SteadyTime since = busy_since_.value_or(now);
    refuse("", now);
    busy_since_ = since;
    busy_ = who + "; retrying: stop that reader, or give this source its own slot";
}

void Link::drop(const std::string& why, SteadyTime now) {
    // Judged at the end and not at the start: a server that ends each stream right after it began
    // would be asked without a pause otherwise.
    if (now - up_since_ >= kProvenAfter) retry_.reset();
    refuse(why, now);
}

void Link::fence(const std::string& why, bool drop_slot) {
    if (call_ != 0) database_->cancel(call_);
    call_ = 0;
    withdraw_recheck();
    state_ = State::kFenced;
    // A slot that one reason condemned is not saved by the next one.
    drop_slot_ = drop_slot_ || drop_slot;
    fit_ = false;
    ++failures_;
    trouble_ = why + "; changes may be missing, so everything is read again";
}

void Link::fence_rewound(const std::string& why) {
    fence(why, true);
    rewound_ = true;
}

Link::News Link::take(const Event& event, SteadyTime now) {
    if (event.call == recheck_call_) return rechecked(event, now);
    switch (event.kind) {
        case Event::Kind::kFailed:
            return failed(event, now);
        case Event::Kind::kRows:
            if (!event.rows.empty()) row_ = event.rows.front();
            return News::kNothing;
        case Event::Kind::kWal:
            if (!up()) return News::kNothing;
            // A stream that has not said a word yet has mended nothing.
            if (std::exchange(silent_, false)) trouble_.clear();
            busy_since_.reset();
            // From now on facts of this incarnation stand on this slot: where it is replaced, they
            // have a hole.
            relied_on_ = true;
            return News::kMessage;
        case Event::Kind::kEnd:
            return ended(now);
        case Event::Kind::kSnapshot:
            break;
    }
    return News::kNothing;
}

Link::News Link::ended(SteadyTime now) {
    switch (state_) {
        case State::kInspecting:
            return inspected(now);
        case State::kDropping:
            drop_slot_ = false;
            ensure(now);
            return News::kNothing;
        case State::kEnsuring:
            return ensured();
        case State::kComparing:
            return compared(now);
        case State::kStreaming:
            call_ = 0;
            drop("the server ended the replication stream", now);
            return News::kDown;
        case State::kDown:
        case State::kFenced:
            break;
    }
    return News::kNothing;
}

Link::News Link::failed(const Event& event, SteadyTime now) {
    const bool was_up = up();
    call_ = 0;
    const Failure failure = classify_failure(event);
    if (failure == Failure::kPublicationGone) ++publication_failures_;
    // The check found the publication, the slot's position does not: it was made again since,
    // and will be missing there for ever.
    const bool hopeless = failure == Failure::kPublicationGone && publication_failures_ > 1;
    if (hopeless || failure == Failure::kSlotGone) {
        fence(event.error.what, true);
        return News::kDown;
    }
    if (failure == Failure::kSlotBusy) {
        wait_for_slot(event.error.what, now);
    } else {
        drop(event.error.what, now);
    }
    return was_up ? News::kDown : News::kNothing;
}

Link::News Link::inspected(SteadyTime now) {
    call_ = 0;
    Result<TableCheck> read = read_table_check(row_);
    if (!read) fit_ = false;
    const Status judged = read ? judge(*read) : Status(read.error());
    if (!judged) {
        refuse(judged.error().what, now);
        return News::kNothing;
    }
    if (server_.empty()) {
        server_ = read->server();
        // The first server of an incarnation is believed, since no fact stands on another one. It
        // may still lack what was known before.
        rewound_ = rewound_ || (!former_server_.empty() && former_server_ != server_);
    }
    table_ = std::move(*read);
    if (fenced_by(table_)) return News::kDown;
    ensure(now);
    return News::kNothing;
}

Status Link::judge(const TableCheck& read) {
    Status judged = judge_table(read, *settings_);
    table_.slot = read.slot;  // it fills while the table is unfit
    fit_ = judged.ok();
    // The first check of all finds another key than none: nothing was read yet.
    refit_ = refit_ || !fit_ || read.pk_columns != table_.pk_columns || !publishes(read.published);
    return judged;
}

bool Link::publishes(const std::string& published) const {
    return published == table_.published || !TRUEUP_GUARD("postgres_same_publication");
}

bool Link::fenced_by(const TableCheck& read) {
    if (read.server() == server_ || !TRUEUP_GUARD("postgres_same_server")) return false;
    fence_rewound("another server or timeline answers (" + read.server() + " instead of " +
                  server_ + ")");
    return true;
}

std::optional<std::string> Link::answer(std::size_t column) const {
    return column < row_.size() ? row_[column] : std::nullopt;
}

Link::News Link::ensured() {
    call_ = 0;
    const std::optional<Lsn> confirmed = parse_lsn(answer(1).value_or(""));
    if (answer(2) == "lost") {
        fence("slot " + settings_->slot + " lost its WAL (max_slot_wal_keep_size)", true);
        return News::kDown;
    }
    confirmed_ = confirmed.value_or(0);
    // No one but us confirms it. A slot that is ahead of all we told the server was moved, or
    // dropped and made by somebody else: what lies between was sent to us by no stream.
    if (relied_on_ && confirmed_ > floor_) {
        fence("slot " + settings_->slot + " was created again or moved by another client", false);
        return News::kDown;
    }
    floor_ = std::max(floor_, confirmed_);
    // Compared before the stream starts: a server that lost its newest WAL takes a start position
    // that it has not reached, and skips in silence what it writes until then.
    state_ = State::kComparing;
    call_ = ids_->next();
    row_.clear();
    database_->insert_lsn(call_, {});
    return News::kNothing;
}

Link::News Link::compared(SteadyTime now) {
    const std::optional<Lsn> insert = parse_lsn(answer(0).value_or(""));
    if (!insert) {
        refuse("the server did not say its WAL position", now);
        return News::kNothing;
    }
    if (*insert < std::max(floor_, durable_)) {
        fence_rewound("the server's log went back to " + format_lsn(*insert));
        return News::kDown;
    }
    // No fact of this incarnation is in doubt, so it need not end; but the engine has to hear that
    // its first epoch may lack what was known.
    if (*insert < former_floor_) rewound_ = true;
    former_floor_ = 0;
    state_ = State::kStreaming;
    up_since_ = now;
    recheck_at_ = now + kRecheckEvery;
    call_ = ids_->next();
    silent_ = true;
    database_->start_wal(call_, {settings_->slot, settings_->publication, durable_});
    return News::kUp;
}

Link::News Link::rechecked(const Event& event, SteadyTime now) {
    if (event.kind == Event::Kind::kRows) {
        if (!event.rows.empty()) recheck_row_ = event.rows.front();
        return News::kNothing;
    }
    recheck_call_ = 0;
    recheck_at_ = now + kRecheckEvery;
    if (event.kind == Event::Kind::kFailed) return News::kNothing;  // the proof will tell
    Result<TableCheck> read = read_table_check(recheck_row_);
    if (!read) return News::kNothing;
    // Before the table is judged: what another server says of it is no judgement of ours.
    if (fenced_by(*read)) return News::kDown;
    const Status judged = judge(*read);
    trouble_ = judged ? "" : judged.error().what;
    if (judged) table_ = std::move(*read);
    return News::kNothing;
}

}  // namespace trueup::connectors::postgres
