#include "connectors/postgres/query_connector.h"

#include "connectors/postgres/lsn.h"
#include "connectors/postgres/rows.h"
#include "connectors/postgres/table_check.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace trueup::connectors::postgres {

namespace {

constexpr Millis kBeat{10'000};

SourceTime time_of(const std::optional<std::string>& millis) {
    std::int64_t value = 0;
    if (millis) std::from_chars(millis->data(), millis->data() + millis->size(), value);
    return from_millis<SourceTime>(value);
}

Error refuse(const std::string& what) {
    return {Next::kStop, Code::kConfiguration, "PostgreSQL source: " + what};
}

}  // namespace

Result<std::unique_ptr<QueryConnector>> QueryConnector::open(Settings settings,
                                                             ports::Database& database) {
    leave_out_dropped(settings);
    if (settings.table.query.empty()) return refuse("there is no query");
    if (settings.primary_key.empty()) return refuse("nothing tells the rows of a query apart");
    std::sort(settings.columns.begin(), settings.columns.end());
    return std::unique_ptr<QueryConnector>(new QueryConnector(std::move(settings), database));
}

QueryConnector::QueryConnector(Settings settings, ports::Database& database)
    : settings_(std::move(settings)),
      database_(&database),
      epoch_(settings_, database),
      retry_(settings_.backoff.first, settings_.backoff.most, settings_.jitter_seed) {}

void QueryConnector::restart(SteadyTime now) {
    epoch_.cancel();
    rewind_.restart();
    state_ = State::kIdle;
    answer_.clear();
    known_.clear();
    complete_ = false;
    audit_ = false;
    fenced_ = false;
    next_ = rested_ = now;
    next_beat_ = now;
}

void QueryConnector::step(SteadyTime now, Millis max_wait, std::vector<Fact>& out) {
    const std::size_t before = out.size();
    start_due(now, out);
    const Millis wait = out.size() > before ? Millis(0) : std::min(max_wait, until_due(now));
    events_.clear();
    database_->poll(wait, events_);
    for (const ports::DatabaseEvent& event : events_) handle(event, now, out);
    rewind_.tell(out, before);
}

void QueryConnector::marker_appended(BrokerTime t, SteadyTime now) {
    rewind_.marker_appended();
    if (state_ != State::kMarker) return;
    marker_ = t;
    state_ = State::kAsked;
    started_ = heard_ = now;
    answer_.clear();
    bytes_ = counted_ = 0;
    epoch_.start(ids_.next(), settings_.primary_key);
}

void QueryConnector::pace_progress(Millis interval) {
    pace_ = interval;
    next_beat_ = std::min(next_beat_, last_beat_ + beat());
    if (state_ != State::kIdle || !trouble_.empty()) return;
    next_ = std::min(next_, std::max(started_ + interval, rested_));
}

/// Whoever says nothing for three of the longest paces has its source taken over.
Millis QueryConnector::beat() const { return std::min(kBeat, pace_); }

ports::SourceHealth QueryConnector::health() const {
    ports::SourceHealth health;
    health.failures = failures_;
    health.epochs = epochs_;
    health.trouble = trouble_;
    health.answering = complete_ && trouble_.empty();
    return health;
}

void QueryConnector::start_due(SteadyTime now, std::vector<Fact>& out) {
    if (state_ == State::kAsked && now - heard_ >= kAnswerLimit) {
        epoch_.cancel();
        fail("the query was not answered within 60 s", now);
    }
    if (state_ == State::kIdle && !fenced_ && now >= next_) {
        state_ = State::kMarker;
        out.emplace_back().kind = Fact::Kind::kMarker;
    }
    if (now < next_beat_) return;
    last_beat_ = now;
    next_beat_ = now + beat();
    out.emplace_back().kind = Fact::Kind::kAlive;
}

Millis QueryConnector::until_due(SteadyTime now) const {
    SteadyTime due = next_beat_;
    if (state_ == State::kIdle && !fenced_) due = std::min(due, next_);
    if (state_ == State::kAsked) due = std::min(due, heard_ + kAnswerLimit);
    return due > now ? due - now : Millis(0);
}

void QueryConnector::fail(const std::string& why, SteadyTime now) {
    trouble_ = why;
    ++failures_;
    state_ = State::kIdle;
    answer_.clear();
    next_ = now + retry_.next();
}

/// Another server, or timeline, or database; or the same from before what it said last.
bool QueryConnector::went_back(const std::string& place, ports::Lsn position) {
    const std::string before = std::exchange(place_, place);
    return (!before.empty() && before != place) || position < version_.hi;
}

bool QueryConnector::too_large() {
    for (; counted_ < answer_.size(); ++counted_) bytes_ += answer_[counted_].object.size();
    return counted_ > kMostRows + 2 || bytes_ > kMostBytes;
}

void QueryConnector::handle(const ports::DatabaseEvent& event, SteadyTime now,
                            std::vector<Fact>& out) {
    if (!epoch_.owns(event.call)) return;
    heard_ = now;
    if (event.kind == ports::DatabaseEvent::Kind::kSnapshot) {
        const ports::SqlRow& row = event.rows.front();
        if (const Status right = judge_moment(row, settings_); !right) {
            epoch_.cancel();
            return fail(right.error().what, now);
        }
        clock_ = time_of(row[1]);
        if (went_back(row[2].value_or(""), event.lsn)) {
            // Older versions are the truth from now on, in an incarnation of their own.
            epoch_.cancel();
            rewind_.happened();
            version_ = {};
            fenced_ = true;
            state_ = State::kIdle;
            return;
        }
    }
    const Epoch::State state = epoch_.take(event, answer_);
    if (state == Epoch::State::kFailed) return fail(epoch_.trouble(), now);
    if (too_large()) {
        epoch_.cancel();
        return fail("the query answers more than " + std::to_string(kMostRows) + " rows, or " +
                        std::to_string(kMostBytes >> 20U) +
                        " MiB; fill a table with them, and write table",
                    now);
    }
    if (state == Epoch::State::kComplete) publish(now, out);
}

Result<QueryConnector::Rows> QueryConnector::rows_of_answer() const {
    Rows rows;
    for (const Fact& fact : answer_) {
        if (fact.kind != Fact::Kind::kUpsert) continue;
        const auto [row, fresh] =
            rows.try_emplace(fact.object_id, Known{fact.subject_key, hash128(fact.object)});
        if (fresh) continue;
        return Error{Next::kRetry, Code::kInvalid,
                     "two rows of the query have one primary_key, " + row->first +
                         "; name the columns that tell its rows apart"};
    }
    return rows;
}

/// Or has it under another subject: there it is gone, too.
bool QueryConnector::lacks_some(const Rows& rows) const {
    return std::any_of(known_.begin(), known_.end(), [&](const auto& known) {
        const auto row = rows.find(known.first);
        return row == rows.end() || row->second.subject != known.second.subject;
    });
}

void QueryConnector::tell(Fact fact, const Rows& rows, bool whole, std::vector<Fact>& out) const {
    fact.version = version_;
    if (fact.kind == Fact::Kind::kUpsert) {
        const auto known = known_.find(fact.object_id);
        const bool same =
            known != known_.end() && known->second.object == rows.at(fact.object_id).object;
        if (same && !whole) return;
        fact.in_epoch = whole;
        fact.event_id = format_lsn(version_.hi) + ":" + std::to_string(version_.lo);
    } else if (!whole) {
        return;
    }
    out.push_back(std::move(fact));
}

void QueryConnector::publish(SteadyTime now, std::vector<Fact>& out) {
    Result<Rows> rows = rows_of_answer();
    if (!rows) return fail(rows.error().what, now);
    const bool whole = !complete_ || audit_ || lacks_some(*rows);
    const std::uint64_t position = epoch_.as_of();
    version_ = {position, position == version_.hi ? version_.lo + 1 : 0};
    for (Fact& fact : answer_) tell(std::move(fact), *rows, whole, out);
    Fact progress;
    progress.kind = Fact::Kind::kProgress;
    progress.complete_as_of = marker_;
    progress.source_clock = clock_;
    out.push_back(std::move(progress));
    if (whole) ++epochs_;
    complete_ = true;
    audit_ = audit_ && !whole;
    known_ = std::move(*rows);
    answer_.clear();
    trouble_.clear();
    retry_.reset();
    state_ = State::kIdle;
    rested_ = now + (now - started_);  // at most half of the time is spent in asking
    next_ = std::max(started_ + pace_, rested_);
}

}  // namespace trueup::connectors::postgres
