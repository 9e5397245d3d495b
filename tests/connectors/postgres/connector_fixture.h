// A connector on a scripted server, and the steps that most of its tests take.
#pragma once

#include "connectors/postgres/connector.h"
#include "engine/model/fact.h"
#include "tests/connectors/postgres/fake_database.h"
#include "tests/support/pgoutput_bytes.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trueup::connectors::postgres {

inline Settings instances() {
    return {.table = {"public", "instances"},
            .slot = "trueup",
            .publication = "trueup",
            .columns = {"url_slug", "status", "pod_name"},
            .correlate = *Correlation::parse("coalesce(pod_name, 'wrapper-' || url_slug)"),
            .source_name = "rows"};
}

inline test_support::PgTuple row(const std::string& id, const std::string& slug) {
    return {test_support::pg_text(id), test_support::pg_text(slug), test_support::pg_null(),
            test_support::pg_text("running")};
}

/// As a copy answers it: id, pod_name, status, url_slug and the server's own key.
inline ports::SqlRow copied(const std::string& id, const std::string& slug) {
    return {id, std::nullopt, "running", slug, "wrapper-" + slug};
}

class ConnectorFixture {
  public:
    explicit ConnectorFixture(Settings settings = instances()) {
        connector = PostgresConnector::open(std::move(settings), database).value();
    }
    void start() {
        connector->restart(now);
        settle();
    }
    /// Steps until nothing happens any more at this time.
    void settle() {
        for (int i = 0; i < 20; ++i) connector->step(now, Millis(0), facts);
    }
    void pass(Millis time) {
        now += time;
        settle();
    }
    /// Connected, heard, and through its first epoch.
    void start_and_copy() {
        start();
        say(test_support::pg_keepalive(0x900));
    }
    void say(std::string bytes) {
        database.stream(std::move(bytes));
        settle();
    }
    void transaction(Lsn lsn, Lsn end, const std::vector<std::string>& changes) {
        database.stream(test_support::pg_wal(test_support::pg_begin(lsn)));
        database.stream(test_support::pg_wal(
            test_support::pg_relation(9, "public", "instances", 'f',
                                      {{"id", true}, {"url_slug"}, {"pod_name"}, {"status"}})));
        for (const std::string& change : changes) database.stream(test_support::pg_wal(change));
        database.stream(test_support::pg_wal(test_support::pg_commit(lsn, end)));
        settle();
    }
    std::vector<Fact::Kind> kinds() const {
        std::vector<Fact::Kind> all;
        for (const Fact& fact : facts) {
            if (fact.kind != Fact::Kind::kAlive) all.push_back(fact.kind);
        }
        return all;
    }
    std::size_t count(Fact::Kind kind) const {
        return static_cast<std::size_t>(std::count_if(
            facts.begin(), facts.end(), [kind](const Fact& f) { return f.kind == kind; }));
    }
    std::string trouble() const { return connector->health().trouble; }

    FakeDatabase database;
    std::unique_ptr<PostgresConnector> connector;
    SteadyTime now = from_millis<SteadyTime>(1000000);
    std::vector<Fact> facts;
};

}  // namespace trueup::connectors::postgres
