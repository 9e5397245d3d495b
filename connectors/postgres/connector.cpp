#include "connectors/postgres/connector.h"

#include "engine/base/guard.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors::postgres {

namespace {

constexpr Millis kStatusEvery{10000};
/// TCP keepalives find a dead peer sooner; this is for a server that lives and says nothing. It may
/// be busy for long with one large transaction or with a copy, and begins with that again where it
/// is cut off: each silence after which it does not get any further is borne for twice as long.
constexpr Millis kSilence{180000};
constexpr Millis kLongestSilence{3'600'000};
constexpr Millis kAnswerLimit{60000};
constexpr Millis kCopyLate{5000};

Error refuse(const std::string& what) {
    return {Next::kStop, Code::kConfiguration, "PostgreSQL source: " + what};
}

}  // namespace

Result<std::unique_ptr<PostgresConnector>> PostgresConnector::open(Settings settings,
                                                                   ports::Database& database) {
    leave_out_dropped(settings);
    if (settings.columns.empty()) return refuse("no columns are mapped");
    if (settings.table.name.empty() || settings.table.schema.empty()) {
        return refuse("the table has no name");
    }
    if (settings.slot.empty() || settings.publication.empty() || settings.source_name.empty()) {
        return refuse("slot, publication and source need a name");
    }
    std::sort(settings.columns.begin(), settings.columns.end());
    settings.columns.erase(std::unique(settings.columns.begin(), settings.columns.end()),
                           settings.columns.end());
    return std::unique_ptr<PostgresConnector>(new PostgresConnector(std::move(settings), database));
}

PostgresConnector::PostgresConnector(Settings settings, ports::Database& database)
    : settings_(std::move(settings)),
      database_(&database),
      link_(settings_, database, ids_),
      stream_(settings_),
      epoch_(settings_, database),
      epoch_retry_(settings_.backoff.first, settings_.backoff.most, settings_.jitter_seed + 1) {}

void PostgresConnector::restart(SteadyTime now) {
    stream_ended();
    epoch_.cancel();
    link_.restart(now);
    // Its holes are those of facts that are void now.
    stream_ = Stream(settings_);
    acks_.restart();
    rewind_.restart();
    complete_ = false;
    audit_ = false;
    next_epoch_ = now;
    next_beat_ = now;
    last_message_ = now;
    silence_ = kSilence;
    farthest_ = 0;
    now_ = now;
}

void PostgresConnector::step(SteadyTime now, Millis max_wait, std::vector<Fact>& out) {
    now_ = now;
    const std::size_t before = out.size();
    start_due(now, out);
    send_status(now);
    const Millis wait = out.size() > before ? Millis(0) : std::min(max_wait, until_due(now));
    events_.clear();
    database_->poll(wait, events_);
    for (const ports::DatabaseEvent& event : events_) handle(event, now, out);
    if (!events_.empty()) {
        start_due(now, out);
        send_status(now);
    }
    if (link_.take_rewound()) rewind_.happened();
    rewind_.tell(out, before);
}

void PostgresConnector::marker_appended(BrokerTime t, SteadyTime now) {
    (void)now;
    rewind_.marker_appended();
    proof_.marker_appended(t);
}

void PostgresConnector::delivered(std::uint64_t confirm) { acks_.delivered(confirm); }

void PostgresConnector::pace_progress(Millis interval) {
    pace_ = interval;
    next_beat_ = std::min(next_beat_, last_beat_ + interval);
}

ports::SourceHealth PostgresConnector::health() const {
    ports::SourceHealth health;
    health.failures = failures_ + link_.failures();
    health.epochs = epochs_;
    if (!link_.trouble().empty()) {
        health.trouble = link_.trouble();
    } else if (!stream_.trouble().empty()) {
        health.trouble = stream_.trouble();
    } else if (!epoch_.trouble().empty()) {
        health.trouble = epoch_.trouble();
    } else if (epoch_.waits() && !complete_ && now_ - last_copied_ >= kCopyLate) {
        health.trouble = kNoSnapshotYet;
    } else if (proof_.stale(now_)) {
        health.trouble = "the stream has not caught up with the server for 15 s";
    }
    health.remark = slot_remark(link_.table(), settings_);
    health.slot = link_.table().slot;
    health.answering = heard_ && link_.up() && health.trouble.empty();
    return health;
}

void PostgresConnector::start_due(SteadyTime now, std::vector<Fact>& out) {
    link_.tick(now, acks_.durable());
    end_silence(now);
    start_epoch_if_due(now);
    advance_proof(now, out);
    if (now < next_beat_) return;
    last_beat_ = now;
    next_beat_ = now + pace_;
    if (may_prove() && proof_.idle()) {
        proof_.start(now);
        advance_proof(now, out);
    } else {
        out.emplace_back().kind = Fact::Kind::kAlive;
    }
}

/// How long the server may be silent.
Millis PostgresConnector::silence_borne() const { return link_.asks() ? kAnswerLimit : silence_; }

/// A server that begins again with a transaction says nothing new until it is behind it.
void PostgresConnector::heard_up_to(Lsn position) {
    if (position <= farthest_) return;
    farthest_ = position;
    silence_ = kSilence;
}

/// What the server leaves unanswered is given up and tried again: a connection that died without a
/// word must not keep the source stale for ever.
void PostgresConnector::end_silence(SteadyTime now) {
    const Millis limit = silence_borne();
    if (now - last_message_ >= limit && !link_.fenced()) {
        last_message_ = now;
        // A connection that never spoke tells nothing of how long this server is busy.
        if (!link_.asks() && heard_) silence_ = std::min(2 * silence_, kLongestSilence);
        link_.drop("the server was silent for " + std::to_string(limit.count() / 1000) + " s", now);
        stream_ended();
    }
    if (epoch_.running() && now - last_copied_ >= kSilence) {
        epoch_.cancel();
        next_epoch_ = now + epoch_retry_.next();
        ++failures_;
    }
    if (ask_call_ != 0 && now - asked_at_ >= kAnswerLimit) {
        give_up_proof();
        ++failures_;
    }
}

void PostgresConnector::start_epoch_if_due(SteadyTime now) {
    // Only beside a stream that runs: what is committed behind the snapshot has to come from there.
    const bool wanted = !complete_ || audit_ || stream_.hole() != 0 || !stream_.trouble().empty();
    if (!wanted || epoch_.running() || !heard_ || !link_.up() || !link_.fit() || now < next_epoch_)
        return;
    audit_ = false;
    last_copied_ = now;
    epoch_.start(ids_.next(), link_.table().pk_columns);
}

bool PostgresConnector::may_prove() const {
    // The position passes a change that had to be left out like any other: it alone proves nothing
    // then.
    const bool whole = stream_.hole() == 0 && stream_.trouble().empty();
    return (complete_ || !TRUEUP_GUARD("postgres_epoch_first")) && link_.up() && link_.fit() &&
           (whole || !TRUEUP_GUARD("postgres_no_hole"));
}

void PostgresConnector::advance_proof(SteadyTime now, std::vector<Fact>& out) {
    // A proof that began under a fit table and a whole stream must not end under others.
    if (!proof_.idle() && !may_prove()) give_up_proof();
    switch (proof_.next(now)) {
        case ProgressProof::Step::kMarker:
            out.emplace_back().kind = Fact::Kind::kMarker;
            break;
        case ProgressProof::Step::kAsk:
            ask_position(now);
            break;
        case ProgressProof::Step::kUrge:
            tell_status(now, true);
            break;
        case ProgressProof::Step::kNothing:
            break;
    }
}

void PostgresConnector::ask_position(SteadyTime now) {
    ask_call_ = ids_.next();
    asked_at_ = now;
    ask_row_.clear();
    // What the stream says later may be ahead of the answer without the server having gone back.
    position_at_ask_ = position_;
    database_->insert_lsn(ask_call_,
                          {settings_.emit_message, settings_.table, settings_.publication});
}

/// With its question: unanswered, all that is asked later would wait behind that.
void PostgresConnector::give_up_proof() {
    proof_.abandon();
    if (ask_call_ != 0) database_->cancel(std::exchange(ask_call_, 0));
}

Millis PostgresConnector::until_due(SteadyTime now) const {
    SteadyTime due = std::min(next_beat_, link_.due());
    if (const std::optional<SteadyTime> proof = proof_.due()) due = std::min(due, *proof);
    if (link_.up()) due = std::min(due, last_status_ + kStatusEvery);
    if (link_.up() && next_epoch_ > now) due = std::min(due, next_epoch_);
    if (!link_.fenced()) due = std::min(due, last_message_ + silence_borne());
    if (epoch_.running()) due = std::min(due, last_copied_ + kSilence);
    if (ask_call_ != 0) due = std::min(due, asked_at_ + kAnswerLimit);
    return due > now ? due - now : Millis(0);
}

void PostgresConnector::send_status(SteadyTime now) {
    if (!link_.up()) return;
    const bool moved = acks_.take_moved();
    const bool due = now - last_status_ >= kStatusEvery;
    if (!moved && !reply_now_ && !due) return;
    tell_status(now, due && now - last_message_ >= kStatusEvery);
}

void PostgresConnector::tell_status(SteadyTime now, bool want_reply) {
    // The server frees its WAL by `flushed` alone (I2); the other position only tells it that we
    // live and how far we read.
    const Lsn flushed = acks_.durable();
    database_->wal_status(link_.stream_call(), std::max(position_, flushed), flushed, want_reply);
    link_.told_flushed(flushed);
    last_status_ = now;
    reply_now_ = false;
}

}  // namespace trueup::connectors::postgres
