#include "apps/one_look.h"

#include "connectors/kubernetes/connector.h"
#include "connectors/postgres/access_check.h"
#include "connectors/postgres/epoch.h"
#include "connectors/postgres/query_connector.h"
#include "connectors/postgres/rows.h"

#include <charconv>
#include <utility>
#include <vector>

namespace trueup::apps {

namespace {

namespace postgres = connectors::postgres;

constexpr Millis kPoll{100};
constexpr Millis kTimeout{30'000};
constexpr std::uint64_t kMostFailures = 3;
constexpr ports::CallId kCopy = 11;
constexpr ports::CallId kClock = 12;

Error interrupted() { return {Next::kStop, Code::kCancelled, "interrupted"}; }

Error about(const std::string& source, const std::string& why) {
    return {Next::kRetry, Code::kUnavailable, "source " + source + ": " + why};
}

/// How far the server's clock is ahead of ours, by an answer to ports::AskInsertLsn.
std::optional<Millis> ahead(const std::vector<ports::SqlRow>& rows, std::int64_t ours) {
    if (rows.empty() || rows.front().size() < 2 || !rows.front()[1]) return std::nullopt;
    const std::string& text = *rows.front()[1];
    std::int64_t theirs = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), theirs);
    if (read.ec != std::errc{}) return std::nullopt;
    return Millis{theirs - ours};
}

Error stalled(const Look& look) {
    return about(
        look.source,
        look.facts.empty()
            ? "the copy cannot begin; a long-running transaction keeps its slot from being "
              "created"
            : "the copy makes no progress; another session may hold a lock on the table");
}

}  // namespace

namespace {

/// One epoch of the connector, whose markers are answered at once: nothing is published.
Result<Look> look_by(ports::Connector& connector, const std::string& source, const Watcher& watcher,
                     ports::Clock& clock) {
    Look look;
    look.source = source;
    SteadyTime heard = clock.steady_now();
    connector.restart(heard);
    std::vector<Fact> facts;
    while (watcher(look.source, look.objects())) {
        const SteadyTime now = clock.steady_now();
        facts.clear();
        connector.step(now, kPoll, facts);
        for (Fact& fact : facts) {
            if (fact.kind == Fact::Kind::kMarker) connector.marker_appended(BrokerTime{}, now);
            if (fact.kind == Fact::Kind::kProgress && fact.source_clock != SourceTime{}) {
                look.clock_ahead = Millis{to_millis(fact.source_clock) - clock.wall_millis()};
            }
            // Another begin abandons what was begun: that list was not whole.
            if (fact.kind == Fact::Kind::kSnapshotBegin) look.facts.clear();
            const bool part = fact.kind == Fact::Kind::kSnapshotBegin ||
                              fact.kind == Fact::Kind::kSnapshotEnd || fact.in_epoch;
            if (!part) continue;
            heard = now;
            look.facts.push_back(std::move(fact));
        }
        if (!look.facts.empty() && look.facts.back().kind == Fact::Kind::kSnapshotEnd) return look;
        const ports::SourceHealth health = connector.health();
        if (health.failures < kMostFailures && now - heard < kTimeout) continue;
        return about(look.source,
                     health.trouble.empty() ? "its list does not end within 30 s" : health.trouble);
    }
    return interrupted();
}

}  // namespace

Result<Look> look_at(ports::Cluster& cluster, connectors::KubernetesSettings settings,
                     const Watcher& watcher, ports::Clock& clock) {
    const std::string source = settings.source_name;
    connectors::KubernetesConnector connector(cluster, std::move(settings));
    return look_by(connector, source, watcher, clock);
}

Result<Look> look_at(ports::Database& database, postgres::Settings settings, const Watcher& watcher,
                     ports::Clock& clock) {
    if (!settings.table.query.empty()) {
        const std::string source = settings.source_name;
        auto connector = postgres::QueryConnector::open(std::move(settings), database);
        if (!connector) return about(source, connector.error().what);
        return look_by(**connector, source, watcher, clock);
    }
    postgres::leave_out_dropped(settings);
    const Result<postgres::TableCheck> inspection = postgres::inspect(database, settings, clock);
    if (!inspection) return about(settings.source_name, inspection.error().what);
    Look look;
    look.source = settings.source_name;
    postgres::Epoch epoch(settings, database);
    epoch.start(kCopy, inspection->pk_columns);
    database.insert_lsn(kClock, {});
    bool complete = false;
    SteadyTime heard = clock.steady_now();
    std::vector<ports::DatabaseEvent> events;
    while (watcher(look.source, look.objects())) {
        if (complete && look.clock_ahead) return look;
        const SteadyTime now = clock.steady_now();
        events.clear();
        database.poll(kPoll, events);
        for (const ports::DatabaseEvent& event : events) {
            heard = now;
            if (event.call == kClock && event.kind == ports::DatabaseEvent::Kind::kFailed) {
                return about(look.source, event.error.what);
            }
            if (event.call == kClock && !look.clock_ahead) {
                look.clock_ahead = ahead(event.rows, clock.wall_millis());
            }
            if (!epoch.owns(event.call)) continue;
            const postgres::Epoch::State state = epoch.take(event, look.facts);
            complete = state == postgres::Epoch::State::kComplete;
            if (state == postgres::Epoch::State::kFailed)
                return about(look.source, epoch.trouble());
        }
        if (now - heard < kTimeout) continue;
        return stalled(look);
    }
    return interrupted();
}

}  // namespace trueup::apps
