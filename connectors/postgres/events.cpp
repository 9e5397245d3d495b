// What the database says, and what a connector makes of it.
#include "connectors/postgres/connector.h"
#include "engine/base/guard.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors::postgres {

void PostgresConnector::handle(const ports::DatabaseEvent& event, SteadyTime now,
                               std::vector<Fact>& out) {
    if (link_.owns(event.call)) {
        if (!link_.up()) last_message_ = now;  // once it is, only the stream's own words count
        handle_link(event, now, out);
    } else if (epoch_.owns(event.call)) {
        last_copied_ = now;
        handle_epoch(event, now, out);
    } else if (event.call != 0 && event.call == ask_call_) {
        handle_position(event, now, out);
    }
}

void PostgresConnector::handle_link(const ports::DatabaseEvent& event, SteadyTime now,
                                    std::vector<Fact>& out) {
    switch (link_.take(event, now)) {
        case Link::News::kUp:
            stream_began(now);
            break;
        case Link::News::kMessage:
            take_message(event.data, now, out);
            break;
        case Link::News::kDown:
            stream_ended();
            last_message_ = now;  // the next connection is not to blame for this one's silence
            // A copy has a connection of its own and outlives the stream, but not the incarnation.
            if (link_.fenced()) epoch_.cancel();
            break;
        case Link::News::kNothing:
            break;
    }
    if (!link_.take_refit()) return;
    // What was not published or not sent meanwhile is only in the table. An answer to a question of
    // before may lie beside this one already.
    give_up_proof();
    stream_.replace_pk(link_.table().pk_columns, link_.table().partitioned);
    epoch_.cancel();
    complete_ = false;
    next_epoch_ = now;
}

void PostgresConnector::stream_began(SteadyTime now) {
    stream_.reconnect(link_.table().pk_columns, link_.table().partitioned);
    position_ = 0;
    last_message_ = now;
    heard_ = false;
    tell_status(now, true);  // A quiet server would not say a word by itself.
}

void PostgresConnector::stream_ended() {
    give_up_proof();
    // The next connection starts at the durable position: what came behind that comes again.
    position_ = 0;
    heard_ = false;
}

/// Our stream may still hang at a server that is in charge no more: the table's next check tells.
void PostgresConnector::see_who_answers(const ports::DatabaseEvent& event, SteadyTime now) {
    const bool failed = event.kind == ports::DatabaseEvent::Kind::kFailed;
    if (failed && event.error.next == Next::kRefresh) link_.recheck(now);
}

void PostgresConnector::handle_epoch(const ports::DatabaseEvent& event, SteadyTime now,
                                     std::vector<Fact>& out) {
    switch (epoch_.take(event, out)) {
        case Epoch::State::kRunning:
            return;
        case Epoch::State::kFailed:
            ++failures_;
            see_who_answers(event, now);
            next_epoch_ = now + epoch_retry_.next();
            audit_ = audit_ || complete_;  // an audit that failed is still owed
            return;
        case Epoch::State::kComplete:
            break;
    }
    ++epochs_;
    epoch_retry_.reset();
    const bool first = !complete_;
    complete_ = true;
    // What could not be read was committed behind this snapshot: only a later copy shows it.
    if (!stream_.covered_by(epoch_.as_of())) {
        next_epoch_ = now + epoch_retry_.next();
    } else if (first) {
        next_beat_ = now;  // The first proof need not wait for its turn.
    }
}

void PostgresConnector::handle_position(const ports::DatabaseEvent& event, SteadyTime now,
                                        std::vector<Fact>& out) {
    using Kind = ports::DatabaseEvent::Kind;
    if (event.kind == Kind::kRows && !event.rows.empty()) ask_row_ = event.rows.front();
    if (event.kind != Kind::kEnd && event.kind != Kind::kFailed) return;
    ask_call_ = 0;
    const auto column = [this](std::size_t i) {
        return i < ask_row_.size() ? ask_row_[i].value_or("") : std::string();
    };
    const std::optional<Lsn> insert = parse_lsn(column(0));
    if (event.kind == Kind::kFailed || !insert) {
        ++failures_;
        see_who_answers(event, now);
        proof_.not_answered(now);
        return;
    }
    const Lsn target =
        before_page_header(*insert, parse_number(column(2)).value_or(kDefaultSegmentSize));
    // Right behind a page header both are the same place: what was known is compared as it was
    // said.
    if (*insert < position_at_ask_) {
        link_.fence_rewound("the server's log went back to " + format_lsn(*insert));
        stream_ended();
        epoch_.cancel();
        return;
    }
    // What was left out of the publication for a while is behind the position, and was not sent.
    if (!link_.publishes(column(3))) {
        link_.recheck(now);
        proof_.not_answered(now);
        return;
    }
    const auto clock = static_cast<std::int64_t>(parse_number(column(1)).value_or(0));
    if (auto progress = proof_.answered(target, from_millis<SourceTime>(clock), position_)) {
        out.push_back(std::move(*progress));
    }
}

void PostgresConnector::take_message(const std::string& bytes, SteadyTime now,
                                     std::vector<Fact>& out) {
    last_message_ = now;
    heard_ = true;
    Result<StreamMessage> message = decode_stream_message(bytes);
    if (!message) {
        link_.drop(message.error().what, now);
        stream_ended();
    } else if (const auto* data = std::get_if<WalData>(&*message)) {
        take_wal(*data, now, out);
    } else {
        take_keepalive(std::get<Keepalive>(*message), now, out);
    }
}

void PostgresConnector::take_wal(const WalData& data, SteadyTime now, std::vector<Fact>& out) {
    const Result<StreamNote> note = stream_.take(data.payload, out);
    if (!note) {
        link_.drop(note.error().what, now);
        stream_ended();
        return;
    }
    if (note->relation_changed) link_.recheck(now);
    if (note->doubtful && link_.fit()) link_.recheck_soon(now);
    if (note->truncated && epoch_.running()) {
        // Its begin was overtaken by the empty epoch; one of this table starts again.
        epoch_.cancel();
        audit_ = true;
        next_epoch_ = now;
    }
    if (note->commit_end == 0) return;
    heard_up_to(note->commit_end);
    acks_.published(note->commit_end);
    moved_to(note->commit_end, out);
}

void PostgresConnector::take_keepalive(const Keepalive& keepalive, SteadyTime now,
                                       std::vector<Fact>& out) {
    reply_now_ = reply_now_ || keepalive.reply_now;
    heard_up_to(keepalive.end);
    // Within a transaction it says nothing about this transaction's end.
    if (stream_.in_transaction() && TRUEUP_GUARD("postgres_commit_first")) return;
    if (auto confirm = acks_.quiet_until(keepalive.end, now)) {
        out.push_back(std::move(*confirm));
    }
    moved_to(keepalive.end, out);
}

void PostgresConnector::moved_to(Lsn position, std::vector<Fact>& out) {
    position_ = std::max(position_, position);
    if (!may_prove()) return;
    if (auto progress = proof_.moved(position_)) out.push_back(std::move(*progress));
}

}  // namespace trueup::connectors::postgres
