// Proves connectors/postgres against a real server: transport.h, access_check.h, and the
// connector's word on epochs, progress, restarts and lost slots (S14-S17). PG_OWNER (superuser) and
// PG_REPL (REPLICATION, may read every table) are connection strings; tools/services/postgres
// prints them.
#include "connectors/postgres/access_check.h"
#include "connectors/postgres/connector.h"
#include "connectors/postgres/leftovers.h"
#include "connectors/postgres/transport.h"
#include "engine/model/object.h"
#include "engine/ports/clock.h"

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

namespace trueup::connectors::postgres {
namespace {

using Kind = Fact::Kind;

/// The superuser: makes what a test needs and drops it at its end.
class PostgresReal : public ::testing::Test {
  protected:
    void SetUp() override {
        const char* owner = std::getenv("PG_OWNER");
        const char* repl = std::getenv("PG_REPL");
        ASSERT_TRUE(owner != nullptr && repl != nullptr)
            << "PG_OWNER and PG_REPL are not set: eval \"$(tools/services/postgres up)\"";
        repl_ = repl;
        owner_ = PQconnectdb(owner);
        ASSERT_EQ(PQstatus(owner_), CONNECTION_OK) << PQerrorMessage(owner_);
        static int tests = 0;
        name_ = "trueup_real_" + std::to_string(getpid()) + "_" + std::to_string(++tests);
        sql("SET client_min_messages = warning");
        sql("CREATE TABLE " + name_ +
            " (id bigserial PRIMARY KEY, url_slug text, pod_name text, status text NOT NULL, "
            "notes text)");
        sql("ALTER TABLE " + name_ + " REPLICA IDENTITY FULL");
        sql("ALTER TABLE " + name_ + " ALTER notes SET STORAGE EXTERNAL");
        sql("CREATE PUBLICATION " + name_ + " FOR TABLE " + name_);
        sql("GRANT UPDATE, INSERT ON " + name_ + " TO repl");
        sql("GRANT USAGE ON SEQUENCE " + name_ + "_id_seq TO repl");
        settings_.table.name = settings_.slot = settings_.publication = name_;
        connect();
    }

    void TearDown() override {
        connector_.reset();
        database_.reset();
        if (owner_ == nullptr || PQstatus(owner_) != CONNECTION_OK) return;
        if (!name_.empty()) {
            drop_slot();
            sql("DROP PUBLICATION IF EXISTS " + name_);
            sql("DROP TABLE IF EXISTS " + name_);
        }
        PQfinish(owner_);
    }

    /// Runs a statement; the first value of its first row, if there is one. One that waits may wait
    /// for the lock of a copy that our connector left open: the task would go on stepping, too.
    std::string sql(const std::string& statement) {
        PQsendQuery(owner_, statement.c_str());
        const SteadyTime limit = clock_.steady_now() + Millis(1000);
        while (PQconsumeInput(owner_) == 1 && PQisBusy(owner_) == 1) {
            pollfd answer{PQsocket(owner_), POLLIN, 0};
            poll(&answer, 1, 20);
            if (connector_ != nullptr && clock_.steady_now() > limit) step();
        }
        PGresult* result = PQgetResult(owner_);
        while (PGresult* next = PQgetResult(owner_)) {
            PQclear(result);
            result = next;
        }
        const ExecStatusType status = PQresultStatus(result);
        EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
            << statement << ": " << PQerrorMessage(owner_);
        std::string value;
        if (PQntuples(result) > 0) value = PQgetvalue(result, 0, 0);
        PQclear(result);
        return value;
    }

    void end_walsender() {
        sql("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = "
            "'" +
            name_ + "' AND active");
    }

    void drop_slot() {
        end_walsender();
        for (int tries = 0; tries < 200; ++tries) {
            if (sql("SELECT count(*) FROM pg_replication_slots WHERE active AND slot_name = '" +
                    name_ + "'") == "0") {
                break;
            }
            sql("SELECT pg_sleep(0.02)");
        }
        sql("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name "
            "= '" +
            name_ + "'");
    }

    /// The server has noticed that nobody reads the slot any more.
    bool until_idle() {
        for (int tries = 0; tries < 500; ++tries) {
            if (sql("SELECT count(*) FROM pg_replication_slots WHERE active AND slot_name = '" +
                    name_ + "'") == "0") {
                return true;
            }
            sql("SELECT pg_sleep(0.02)");
        }
        return false;
    }

    /// An output plugin of another kind, which not every installation of the server has.
    bool has_test_decoding() {
        return sql("SELECT count(*) FROM pg_ls_dir((SELECT setting FROM pg_config WHERE name = "
                   "'PKGLIBDIR')) f WHERE f = 'test_decoding.so'") == "1";
    }

    void connect() {
        connector_.reset();
        database_ = LibpqDatabase::open(repl_).value();
        connector_ = PostgresConnector::open(settings_, *database_).value();
        connector_->pace_progress(Millis(200));
        connector_->restart(clock_.steady_now());
    }

    /// Plays the task: everything is durable at once; progress is as of the number of markers.
    void step() {
        std::vector<Fact> now;
        connector_->step(clock_.steady_now(), Millis(50), now);
        for (Fact& fact : now) {
            if (fact.kind == Kind::kMarker) {
                connector_->marker_appended(from_millis<BrokerTime>(++markers_),
                                            clock_.steady_now());
            }
            if (fact.kind == Kind::kConfirm) connector_->delivered(fact.confirm);
            take(fact);
            if (fact.kind == Kind::kProgress) proven_ = to_millis(fact.complete_as_of);
            sweep(fact);
            facts_.push_back(std::move(fact));
        }
    }

    /// As the engine does: a copy brings a row as it was when it began, which may be after a later
    /// word of the stream, and a stream that starts again says once more what it said.
    void take(const Fact& fact) {
        if (fact.kind != Kind::kUpsert && fact.kind != Kind::kRemove) return;
        const auto [newest, first] = newest_.try_emplace(fact.object_id, fact.version);
        if (fact.version < newest->second || fact.version < complete_) return;
        newest->second = fact.version;
        if (fact.kind == Kind::kUpsert) rows_[fact.object_id] = fact;
        if (fact.kind == Kind::kRemove) rows_.erase(fact.object_id);
    }

    void sweep(const Fact& fact) {
        if (fact.kind == Kind::kSnapshotBegin) {
            as_of_ = fact.version;
            seen_.clear();
        }
        if (fact.kind == Kind::kUpsert && fact.in_epoch) seen_.insert(fact.object_id);
        if (fact.kind != Kind::kSnapshotEnd) return;
        complete_ = as_of_;
        std::erase_if(rows_, [this](const auto& row) {
            return row.second.version <= as_of_ && !seen_.contains(row.first);
        });
    }

    /// WAL of no commit, as of a page that a SELECT pruned, an idle server may leave unflushed
    /// until its background writer logs the running transactions, each 15 s: a proof waits for
    /// that, too.
    bool until(const std::function<bool()>& reached, Millis limit = Millis(60000)) {
        const SteadyTime end = clock_.steady_now() + limit;
        while (!reached()) {
            if (clock_.steady_now() > end) return false;
            step();
        }
        return true;
    }

    /// Until a marker that was appended after this call is proven.
    bool caught_up() {
        const std::int64_t after = markers_;
        return until([this, after] { return proven_ > after; });
    }

    std::string trouble() const { return connector_->health().trouble; }
    std::string id(int n) const { return "public." + name_ + "/" + std::to_string(n); }
    std::size_t count(Kind kind) const {
        std::size_t n = 0;
        for (const Fact& fact : facts_) n += fact.kind == kind ? 1 : 0;
        return n;
    }

    /// Runs one call to its end.
    std::vector<ports::DatabaseEvent> ask(ports::Database& database) {
        std::vector<ports::DatabaseEvent> events;
        const SteadyTime end = clock_.steady_now() + Millis(20000);
        const auto done = [&events] {
            using EventKind = ports::DatabaseEvent::Kind;
            return !events.empty() && (events.back().kind == EventKind::kEnd ||
                                       events.back().kind == EventKind::kFailed);
        };
        while (!done() && clock_.steady_now() < end) database.poll(Millis(100), events);
        return events;
    }

    ports::Clock& clock_ = ports::system_clock();
    PGconn* owner_ = nullptr;
    std::string repl_;
    std::string name_;
    Settings settings_{
        .table = {"public", ""},
        .slot = "",
        .publication = "",
        .columns = {"notes", "pod_name", "status", "url_slug"},
        .correlate = *Correlation::parse("coalesce(pod_name, 'wrapper-' || url_slug)"),
        .source_name = "rows",
        .backoff = {Millis(50), Millis(500)}};
    std::unique_ptr<LibpqDatabase> database_;
    std::unique_ptr<PostgresConnector> connector_;
    std::vector<Fact> facts_;
    std::map<std::string, Fact> rows_;
    std::map<std::string, Version> newest_;  ///< of each that was told, gone or not
    std::set<std::string> seen_;
    Version as_of_;     ///< of the copy that began last
    Version complete_;  ///< of the last whole one
    std::int64_t markers_ = 0;
    std::int64_t proven_ = 0;
};

TEST_F(PostgresReal, FollowsATable_S16_S17) {
    sql("INSERT INTO " + name_ +
        " (url_slug, status, notes) VALUES ('a', 'running', "
        "repeat('x', 9000)), ('b', 'starting', NULL)");
    ASSERT_TRUE(caught_up()) << trouble();
    ASSERT_EQ(rows_.size(), 2U);
    EXPECT_EQ(rows_[id(1)].subject_key, "graph-instances/wrapper-a");
    EXPECT_TRUE(rows_[id(1)].in_epoch);

    sql("UPDATE " + name_ + " SET status = E'odd\\ttext\\\\', pod_name = 'p' WHERE id = 1");
    sql("UPDATE " + name_ + " SET id = 7 WHERE id = 2");
    sql("BEGIN; INSERT INTO " + name_ + " (status) VALUES ('rolled back'); ROLLBACK");
    ASSERT_TRUE(caught_up()) << trouble();
    ASSERT_EQ(rows_.size(), 2U);
    EXPECT_EQ(rows_[id(1)].subject_key, "graph-instances/p");
    const ObjectView object(rows_[id(1)].object);
    EXPECT_TRUE(object.is("status", "odd\ttext\\"));
    EXPECT_TRUE(object.is("notes", std::string(9000, 'x'))) << "unchanged TOAST is not null";
    EXPECT_TRUE(rows_.contains(id(7)));

    sql("DELETE FROM " + name_ + " WHERE id = 1");
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_FALSE(rows_.contains(id(1)));
    sql("TRUNCATE " + name_);
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_TRUE(rows_.empty());
    EXPECT_TRUE(connector_->health().answering) << trouble();
}

TEST_F(PostgresReal, CopiesALargeTableInPieces) {
    sql("INSERT INTO " + name_ +
        " (url_slug, status) SELECT 's' || n, E'line\\nbreak' FROM generate_series(1, 50000) n");
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_EQ(rows_.size(), 50000U);
    EXPECT_TRUE(ObjectView(rows_[id(50000)].object).is("status", "line\nbreak"));
    sql("UPDATE " + name_ + " SET status = 'x'");
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_TRUE(ObjectView(rows_[id(1)].object).is("status", "x"));
    EXPECT_TRUE(ObjectView(rows_[id(50000)].object).is("status", "x"));
}

TEST_F(PostgresReal, LosesNothingOverAKilledStream_S14) {
    ASSERT_TRUE(caught_up()) << trouble();
    for (int round = 1; round <= 3; ++round) {
        sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('before', 'running')");
        end_walsender();
        sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('while', 'running')");
        ASSERT_TRUE(caught_up()) << trouble();
        EXPECT_EQ(rows_.size(), static_cast<std::size_t>(round) * 2);
    }
    EXPECT_FALSE(connector_->needs_new_incarnation());
    EXPECT_EQ(connector_->health().epochs, 1U);
}

TEST_F(PostgresReal, ConfirmsWhatIsDurable) {
    ASSERT_TRUE(caught_up()) << trouble();
    sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('a', 'running')");
    const std::string position = sql("SELECT pg_current_wal_lsn()");
    EXPECT_TRUE(until([&] {
        return sql("SELECT confirmed_flush_lsn >= '" + position +
                   "' FROM pg_replication_slots WHERE slot_name = '" + name_ + "'") == "t";
    }));
}

TEST_F(PostgresReal, ASlotDroppedBehindOurBackNeedsANewIncarnation_S14_S15) {
    sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('a', 'running'), ('b', 'running')");
    ASSERT_TRUE(caught_up()) << trouble();
    drop_slot();
    sql("DELETE FROM " + name_ + " WHERE id = 1");
    ASSERT_TRUE(until([this] { return connector_->needs_new_incarnation(); })) << trouble();
    EXPECT_TRUE(rows_.contains(id(1)));
    connector_->restart(clock_.steady_now());
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_FALSE(rows_.contains(id(1))) << "the epoch swept what was deleted meanwhile";
    EXPECT_TRUE(rows_.contains(id(2)));
}

TEST_F(PostgresReal, AnEpochWaitsForOpenTransactionsAndMissesNoCommit_Design_4_3) {
    ASSERT_TRUE(caught_up()) << trouble();
    sql("BEGIN");
    sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('open', 'running')");
    connector_->relist();
    const std::size_t epochs = connector_->health().epochs;
    for (int i = 0; i < 10; ++i) step();
    EXPECT_EQ(connector_->health().epochs, epochs);
    sql("COMMIT");
    ASSERT_TRUE(until([&] { return connector_->health().epochs > epochs; })) << trouble();
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_TRUE(rows_.contains(id(1)));
}

// Symptom: while a transaction was open for half an hour, each epoch that was given up left a slot
// and a walsender behind, until the server had none left for anybody.
TEST_F(PostgresReal, AnEpochThatIsGivenUpLeavesNoSlotAndNoWalsender) {
    ASSERT_TRUE(caught_up()) << trouble();
    const auto count = [this](const std::string& what) {
        // Else a transaction has the list of processes as it was when it first looked.
        sql("SELECT pg_stat_clear_snapshot()");
        return sql("SELECT count(*) FROM " + what);
    };
    const std::string slots = "pg_replication_slots WHERE slot_name LIKE 'trueup_copy_%'";
    const std::string waiting =
        "pg_stat_activity WHERE backend_type = 'walsender' AND wait_event_type "
        "= 'Lock'";
    sql("BEGIN");
    sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('open', 'running')");
    connector_->relist();
    ASSERT_TRUE(until([&] { return count(slots) == "1" && count(waiting) == "1"; }))
        << count(slots) << " slots, " << count(waiting) << " waiting, " << trouble();
    connector_.reset();  // with the transaction still open
    database_.reset();
    const SteadyTime began = clock_.steady_now();
    while (count(slots) != "0" || count(waiting) != "0") {
        ASSERT_LT(clock_.steady_now() - began, Millis(30'000)) << count(slots) << " slots left";
        sql("SELECT pg_sleep(0.05)");
    }
    sql("COMMIT");
    connect();
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_TRUE(rows_.contains(id(1)));
}

TEST_F(PostgresReal, ProvesProgressOnAFreshSegment_Details_14) {
    ASSERT_TRUE(caught_up()) << trouble();
    sql("SELECT pg_switch_wal()");
    const SteadyTime began = clock_.steady_now();
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_LT(clock_.steady_now() - began, Millis(8000));
}

TEST_F(PostgresReal, AMessageOfOurOwnProvesProgressBesideAnOpenTransaction_Details_14) {
    settings_.emit_message = true;
    connect();
    ASSERT_TRUE(caught_up()) << trouble();
    sql("BEGIN");
    sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('open', 'running')");
    const SteadyTime began = clock_.steady_now();
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_LT(clock_.steady_now() - began, Millis(5000));
    EXPECT_TRUE(rows_.empty());
    sql("COMMIT");
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_EQ(rows_.size(), 1U);
}

TEST_F(PostgresReal, ASecondReaderWaitsForTheSlot) {
    ASSERT_TRUE(caught_up()) << trouble();
    const std::string ask =
        "SELECT active_pid FROM pg_replication_slots WHERE slot_name = '" + name_ + "'";
    const std::string reader = sql(ask);
    auto other_database = LibpqDatabase::open(repl_).value();
    auto other = PostgresConnector::open(settings_, *other_database).value();
    other->restart(clock_.steady_now());
    std::vector<Fact> facts;
    ASSERT_TRUE(until([&] {
        other->step(clock_.steady_now(), Millis(20), facts);
        return other->health().trouble.find("is active for PID " + reader) != std::string::npos;
    })) << other->health().trouble;
    EXPECT_FALSE(other->needs_new_incarnation());
    EXPECT_EQ(sql(ask), reader) << "the slot is not taken from its reader";
    connector_ = std::move(other);
    database_ = std::move(other_database);
    ASSERT_TRUE(until([this] { return connector_->health().epochs > 0; })) << trouble();
    EXPECT_EQ(trouble(), "");
}

TEST_F(PostgresReal, APublicationThatIsDroppedIsNamedAndOneMadeAgainHeals) {
    sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('a', 'running')");
    ASSERT_TRUE(caught_up()) << trouble();
    sql("DROP PUBLICATION " + name_);
    sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('b', 'running')");
    ASSERT_TRUE(until([this] {
        return trouble().find("does not exist: CREATE PUBLICATION") != std::string::npos;
    })) << trouble();
    EXPECT_EQ(rows_.size(), 1U);
    sql("CREATE PUBLICATION " + name_);
    ASSERT_TRUE(until([this] { return trouble().find("ADD TABLE") != std::string::npos; }))
        << trouble();
    sql("ALTER PUBLICATION " + name_ + " ADD TABLE " + name_);
    ASSERT_TRUE(until([this] { return connector_->needs_new_incarnation(); })) << trouble();
    connector_->restart(clock_.steady_now());
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_EQ(rows_.size(), 2U);
}

TEST_F(PostgresReal, AProofBringsTheServersClock) {
    const auto clock = [this] {
        return std::stoll(sql("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"));
    };
    const std::int64_t before = clock();
    ASSERT_TRUE(caught_up()) << trouble();
    const auto progress = std::find_if(facts_.rbegin(), facts_.rend(), [](const Fact& fact) {
        return fact.kind == Kind::kProgress;
    });
    ASSERT_NE(progress, facts_.rend());
    EXPECT_GE(to_millis(progress->source_clock), before);
    EXPECT_LE(to_millis(progress->source_clock), clock());
}

TEST_F(PostgresReal, WritesOnlyTheRowThatItRead_Details_16) {
    sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('a', 'running')");
    ports::ReadRows read;
    read.table = settings_.table;
    read.pk_columns = {"id"};
    read.columns = {"status", "pod_name"};
    read.key_expression = settings_.correlate.sql();
    read.key = "wrapper-a";
    auto database = LibpqDatabase::open(repl_).value();
    database->read_rows(1, read);
    const auto answer = ask(*database);
    ASSERT_EQ(answer.size(), 2U) << answer.back().error.what;
    ASSERT_EQ(answer[0].rows.size(), 1U);
    const ports::SqlRow row = answer[0].rows[0];
    EXPECT_EQ(row[0], "1");
    EXPECT_EQ(row[2], "running");
    EXPECT_EQ(row[3], std::nullopt);

    ports::UpdateRow update{.table = settings_.table,
                            .pk_columns = {"id"},
                            .pk = "1",
                            .xmin = *row[1],
                            .guards = {{"status", "running"}, {"pod_name", std::nullopt}},
                            .sets = {{"status", "failed"}}};
    database->update_row(2, update);
    const auto first = ask(*database);
    ASSERT_EQ(first.size(), 2U) << first.back().error.what;
    EXPECT_EQ(first[0].rows[0][0], "1");
    database->update_row(3, update);
    EXPECT_EQ(ask(*database)[0].rows[0][0], "0") << "xmin moved on";
    EXPECT_EQ(sql("SELECT status FROM " + name_), "failed");
}

// A connection to write with that led to another database could write to a row of the same key.
TEST_F(PostgresReal, ARowIsWrittenOnlyInTheDatabaseThatWasRead) {
    sql("INSERT INTO " + name_ + " (pod_name, status) VALUES ('wrapper-a', 'running')");
    auto database = LibpqDatabase::open(repl_).value();
    ports::ReadRows read;
    read.table = settings_.table;
    read.pk_columns = {"id"};
    read.columns = {"status"};
    read.pk = "1";
    read.tell_place = true;
    database->read_rows(1, read);
    const ports::SqlRow row = ask(*database).at(0).rows.at(0);
    ASSERT_EQ(row.size(), 4U);
    EXPECT_EQ(row[3], place_of(*LibpqDatabase::open(repl_).value()).value());

    ports::UpdateRow update{.table = settings_.table,
                            .pk_columns = {"id"},
                            .pk = "1",
                            .xmin = *row[1],
                            .guards = {},
                            .sets = {{"status", "failed"}}};
    update.only_at = "1/1/elsewhere";
    database->update_row(2, update);
    EXPECT_EQ(ask(*database).at(0).rows.at(0), (ports::SqlRow{"0", row[3]}));
    EXPECT_EQ(sql("SELECT status FROM " + name_), "running");
    update.only_at = *row[3];
    database->update_row(3, update);
    EXPECT_EQ(ask(*database).at(0).rows.at(0), ports::SqlRow{"1"});
    EXPECT_EQ(sql("SELECT status FROM " + name_), "failed");
    database->update_row(4, update);
    EXPECT_EQ(ask(*database).at(0).rows.at(0), ports::SqlRow{"0"}) << "the row has changed";
}

TEST_F(PostgresReal, ARowIsInsertedWhereNoneHasTheKey) {
    sql("ALTER TABLE " + name_ +
        " ADD COLUMN since timestamptz, ADD COLUMN big boolean, "
        "ADD COLUMN size bigint");
    ports::InsertRow insert;
    insert.table = settings_.table;
    insert.unique = "\"pod_name\"";
    insert.sets = {{"pod_name", "w-1"},
                   {"status", "running"},
                   {"size", "7"},
                   {"big", "t"},
                   {"since", "2026-11-26T10:00:00.000Z"},
                   {"url_slug", std::nullopt}};
    insert.none_of = {{"pod_name", "w-1"}, {world::named_in_sql("pod_name"), "w-1"}};
    insert.key_columns = {"pod_name"};
    auto database = LibpqDatabase::open(repl_).value();
    database->insert_row(1, insert);
    const auto without = ask(*database);
    ASSERT_EQ(without.size(), 1U);
    EXPECT_EQ(without[0].sqlstate, "42P10") << "two could come at once: " << without[0].error.what;

    sql("CREATE UNIQUE INDEX ON " + name_ + " (pod_name)");
    database->insert_row(2, insert);
    const auto first = ask(*database);
    ASSERT_EQ(first.size(), 2U) << first.back().error.what;
    EXPECT_EQ(first[0].rows.at(0), ports::SqlRow{"1"});
    EXPECT_EQ(sql("SELECT concat_ws(' ', pod_name, status, size, big, since AT TIME ZONE 'UTC') "
                  "FROM " +
                  name_),
              "w-1 running 7 t 2026-11-26 10:00:00");
    database->insert_row(3, insert);
    EXPECT_EQ(ask(*database).at(0).rows.at(0), ports::SqlRow{"0"});
    // Another session's that is not committed yet: nobody waits for it for long.
    insert.sets[0].value = insert.none_of[0].value = insert.none_of[1].value = "w-3";
    sql("BEGIN; INSERT INTO " + name_ + " (pod_name, status) VALUES ('w-3', 'starting')");
    database->insert_row(4, insert);
    EXPECT_EQ(ask(*database).at(0).sqlstate, "55P03");
    sql("COMMIT");
    database->insert_row(11, insert);
    EXPECT_EQ(ask(*database).at(0).rows.at(0), ports::SqlRow{"0"});
    EXPECT_EQ(sql("SELECT count(*) FROM " + name_), "2");
    // One that means the same name, of which the index knows nothing.
    sql("UPDATE " + name_ + " SET pod_name = ' w-3' WHERE pod_name = 'w-3'");
    database->insert_row(12, insert);
    EXPECT_EQ(ask(*database).at(0).rows.at(0), ports::SqlRow{"0"});
    sql("UPDATE " + name_ + " SET pod_name = 'w-3' WHERE pod_name = ' w-3'");

    insert.unique = "(" + settings_.correlate.sql() + ")";
    database->insert_row(9, insert);
    EXPECT_EQ(ask(*database).at(0).sqlstate, "42P10") << "an index over something else";
    sql("CREATE UNIQUE INDEX ON " + name_ + " (" + insert.unique + ")");
    database->insert_row(10, insert);
    EXPECT_EQ(ask(*database).at(0).rows.at(0), ports::SqlRow{"0"});
    insert.unique = "\"pod_name\"";

    // Whoever reads where there is no row is told the place all the same.
    ports::ReadRows read;
    read.table = settings_.table;
    read.pk_columns = {"id"};
    read.columns = {"status"};
    read.key_expression = "pod_name";
    read.key = "w-2";
    read.also = {{"status", "gone"}};
    read.tell_place = true;
    database->read_rows(5, read);
    const auto place = ask(*database).at(0).rows;
    ASSERT_EQ(place.size(), 1U);
    EXPECT_EQ(place[0], ports::SqlRow{place_of(*LibpqDatabase::open(repl_).value()).value()});
    read.also = {{"status", "running"}};
    database->read_rows(6, read);
    EXPECT_EQ(ask(*database).at(0).rows.at(0).size(), 4U) << "by the other one";
    insert.only_at = "1/1/elsewhere";
    insert.sets[0].value = "w-2";
    insert.none_of = {{"pod_name", "w-2"}};
    database->insert_row(7, insert);
    EXPECT_EQ(ask(*database).at(0).rows.at(0), (ports::SqlRow{"0", *place[0][0]}));
    insert.only_at = *place[0][0];
    database->insert_row(8, insert);
    EXPECT_EQ(ask(*database).at(0).rows.at(0), ports::SqlRow{"1"});
}

// A row of another subject was inserted, and told as done: the column's type spells a key its own
// way.
TEST_F(PostgresReal, NoRowIsInsertedWhoseKeyWouldBeAnotherOne) {
    auto database = LibpqDatabase::open(repl_).value();
    ports::CallId call = 0;
    const auto inserted = [&](const std::string& type, const std::string& key) {
        sql("TRUNCATE " + name_ + "; ALTER TABLE " + name_ +
            " DROP COLUMN IF EXISTS k, ADD COLUMN k " + type + " UNIQUE");
        ports::InsertRow insert;
        insert.table = settings_.table;
        insert.unique = "k";
        insert.sets = {{"k", key}, {"status", "running"}};
        insert.none_of = {{"nullif(btrim(k::text), '')", key}};
        insert.key_columns = {"k"};
        database->insert_row(++call, insert);
        const auto answer = ask(*database);
        return answer.front().rows.empty() ? answer.front().sqlstate
                                           : answer.front().rows[0][0].value_or("");
    };
    EXPECT_EQ(inserted("text", "007"), "1");
    EXPECT_EQ(inserted("varchar(40)", "w-1"), "1");
    EXPECT_EQ(inserted("integer", "7"), "1");
    EXPECT_EQ(inserted("integer", "007"), "0");
    EXPECT_EQ(inserted("uuid", "a0eebc999c0b4ef8bb6d6bb9bd380a11"), "0");
    EXPECT_EQ(inserted("integer", "w-1"), "22P02");
    EXPECT_EQ(sql("SELECT count(*) FROM " + name_), "0");
}

// A trigger gave the row another key, and it was told as done.
TEST_F(PostgresReal, SaysThatATriggerMadeItAnotherRow) {
    sql("CREATE UNIQUE INDEX ON " + name_ + " (pod_name)");
    sql("CREATE FUNCTION " + name_ +
        "_f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "NEW.pod_name := 'x-' || NEW.pod_name; RETURN NEW; END $$; CREATE TRIGGER t BEFORE INSERT "
        "ON " +
        name_ + " FOR EACH ROW EXECUTE FUNCTION " + name_ + "_f()");
    ports::InsertRow insert;
    insert.table = settings_.table;
    insert.unique = "pod_name";
    insert.sets = {{"pod_name", "w-1"}, {"status", "running"}};
    insert.none_of = {{"pod_name", "w-1"}};
    insert.key_columns = {"pod_name"};
    auto database = LibpqDatabase::open(repl_).value();
    database->insert_row(1, insert);
    EXPECT_EQ(ask(*database).at(0).rows.at(0), ports::SqlRow{ports::InsertRow::kOther});
    sql("DROP FUNCTION " + name_ + "_f() CASCADE");
}

TEST_F(PostgresReal, SaysWhatMayBeInsertedAndWhatHasTo) {
    sql("ALTER TABLE " + name_ +
        " ADD COLUMN must text, ADD COLUMN filled text NOT NULL DEFAULT 'x',"
        " ADD COLUMN a text, ADD COLUMN b text;"
        "ALTER TABLE " +
        name_ +
        " ALTER COLUMN must SET NOT NULL;"
        "CREATE UNIQUE INDEX ON " +
        name_ +
        " (pod_name);"
        "CREATE UNIQUE INDEX ON " +
        name_ +
        " (url_slug) WHERE status = 'running';"
        "CREATE UNIQUE INDEX ON " +
        name_ +
        " (a, b);"
        "CREATE UNIQUE INDEX ON " +
        name_ +
        " (lower(a));"
        "CREATE INDEX ON " +
        name_ + " (b)");
    auto database = LibpqDatabase::open(repl_).value();
    const auto table = inspect(*database, settings_);
    ASSERT_TRUE(table) << table.error().what;
    const auto has = [](const std::vector<std::string>& all, const std::string& one) {
        return std::find(all.begin(), all.end(), one) != all.end();
    };
    const auto apart = [&](const std::string& indexed) {
        return keeps_apart(*database, settings_.table, indexed).value();
    };
    EXPECT_TRUE(apart("id"));
    EXPECT_TRUE(apart("pod_name"));
    for (const char* not_alone : {"url_slug", "a", "b", "lower(b)"}) {
        EXPECT_FALSE(apart(not_alone)) << not_alone;
    }
    EXPECT_TRUE(apart("lower(a)"));
    sql("ALTER TABLE " + name_ + " ADD CONSTRAINT " + name_ + "_later UNIQUE (b) DEFERRABLE");
    EXPECT_FALSE(apart("b")) << "it keeps nothing apart before the end of a transaction";
    sql("ALTER TABLE " + name_ + " ADD COLUMN c text UNIQUE, ADD CONSTRAINT \"Later_" + name_ +
        "\" UNIQUE (c) DEFERRABLE");
    EXPECT_FALSE(apart("c")) << "one of both";
    EXPECT_TRUE(has(table->required, "must"));
    EXPECT_FALSE(has(table->required, "filled"));
    EXPECT_FALSE(has(table->required, "id"));
    EXPECT_TRUE(has(table->insertable, "pod_name"));
    EXPECT_TRUE(table->sequences.empty());
    sql("REVOKE INSERT ON " + name_ + " FROM repl; REVOKE USAGE ON SEQUENCE " + name_ +
        "_id_seq FROM repl; GRANT INSERT (status) ON " + name_ + " TO repl");
    const auto less = inspect(*database, settings_);
    ASSERT_TRUE(less) << less.error().what;
    EXPECT_EQ(less->insertable, std::vector<std::string>{"status"});
    EXPECT_TRUE(apart("pod_name"));
    EXPECT_FALSE(apart("url_slug"));
    EXPECT_EQ(less->sequences, std::vector<std::string>{"public." + name_ + "_id_seq"});
}

// What a row means is read by the connector here and by the executor's live look there.
TEST_F(PostgresReal, ANameIsReadOnTheServerAsHere_G25) {
    const std::vector<std::string> texts = {"",
                                            " ",
                                            "\t\n\r\f\v",
                                            " v ",
                                            "v",
                                            "wrapper-a",
                                            " wrapper-a\n",
                                            "a/b",
                                            "/",
                                            "x/graph/ w-a\v",
                                            "graph/\nw\n",
                                            "w-a/ ",
                                            "\xc2\xa0",
                                            "\xe2\x80\x83",
                                            "\\x0B",
                                            "\x0B",
                                            "'\"",
                                            "\xc3\xa4/\xc3\xa4 "};
    auto database = LibpqDatabase::open(repl_).value();
    ports::CallId call = 0;
    ports::ReadRows read;
    read.table = settings_.table;
    read.pk_columns = {"id"};
    for (const std::string& text : texts) {
        char* literal = PQescapeLiteral(owner_, text.data(), text.size());
        sql("TRUNCATE " + name_ + "; INSERT INTO " + name_ +
            " (url_slug, pod_name, status) VALUES ('s', " + literal + ", 'running')");
        PQfreemem(literal);
        const Correlated key =
            settings_.correlate.evaluate({{Cell::Kind::kText, text}, {Cell::Kind::kText, "s"}});
        ASSERT_EQ(key.kind, Correlated::Kind::kText);
        read.key_expression = settings_.correlate.sql();
        read.key = key.text;
        database->read_rows(++call, read);
        auto answer = ask(*database);
        ASSERT_EQ(answer.size(), 2U) << answer.back().error.what;
        EXPECT_EQ(answer[0].rows.size(), 1U) << "'" << text << "' is " << key.text << " here";
        read.key_expression = world::named_in_sql("pod_name");
        read.key = world::named_in(text);
        database->read_rows(++call, read);
        answer = ask(*database);
        ASSERT_EQ(answer.size(), 2U) << answer.back().error.what;
        EXPECT_EQ(answer[0].rows.size(), 1U) << "'" << text << "' names " << read.key << " here";
    }
    // For whoever makes an index of it: what SQL would not let into one is refused here.
    sql("CREATE INDEX ON " + name_ + " ((" + settings_.correlate.sql() + "))");
    sql("CREATE INDEX ON " + name_ + " ((" + world::named_in_sql("pod_name") + "))");
}

// An UPDATE that waited for others was written long after what it rested on.
TEST_F(PostgresReal, AnUpdateWaitsForNobodyForLong_S24) {
    sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('a', 'running')");
    ports::UpdateRow update{.table = settings_.table,
                            .pk_columns = {"id"},
                            .pk = "1",
                            .xmin = sql("SELECT xmin FROM " + name_),
                            .guards = {{"status", "running"}},
                            .sets = {{"status", "failed"}}};
    auto database = LibpqDatabase::open(repl_).value();
    sql("BEGIN; SELECT 1 FROM " + name_ + " FOR UPDATE");
    database->update_row(1, update);
    const auto locked = ask(*database);
    ASSERT_EQ(locked.size(), 1U);
    EXPECT_EQ(locked[0].sqlstate, "55P03") << locked[0].error.what;

    sql("LOCK TABLE " + name_);
    database->read_rows(2, {settings_.table, {"id"}, {"status"}, "1", {}, {}});
    update.send_within = Millis(50);
    database->update_row(3, update);
    auto behind = ask(*database);
    while (behind.size() == 1) database->poll(Millis(100), behind);
    EXPECT_EQ(behind[0].sqlstate, "55P03") << behind[0].error.what;
    EXPECT_EQ(behind[1].error.what, "not sent: the deadline had passed");
    sql("ROLLBACK");

    update.send_within = Millis(10'000);
    database->update_row(4, update);
    EXPECT_EQ(ask(*database)[0].rows[0][0], "1") << "nothing was written before";
}

TEST_F(PostgresReal, RowsHiddenByAPolicyAreAnErrorNotAbsent) {
    sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('a', 'running')");
    sql("ALTER TABLE " + name_ + " ENABLE ROW LEVEL SECURITY");
    ASSERT_TRUE(until([this] { return trouble().find("row-level security") != std::string::npos; }))
        << trouble();
    EXPECT_EQ(count(Kind::kSnapshotEnd), 0U);
    EXPECT_EQ(count(Kind::kProgress), 0U);
}

TEST_F(PostgresReal, CheckSaysWhatIsMissing) {
    const auto check = [this](const std::string& conninfo, const Settings& settings) {
        auto database = LibpqDatabase::open(conninfo).value();
        const Status checked = check_access(*database, settings);
        return checked ? std::string() : checked.error().what;
    };
    EXPECT_EQ(check(repl_, settings_), "");
    Settings other = settings_;
    other.publication = "no_such_publication";
    EXPECT_NE(check(repl_, other).find("CREATE PUBLICATION"), std::string::npos);
    other = settings_;
    other.table.name = "no_such_table";
    EXPECT_NE(check(repl_, other).find("does not exist"), std::string::npos);
    other = settings_;
    other.columns.emplace_back("no_such_column");
    EXPECT_NE(check(repl_, other).find("no_such_column"), std::string::npos);
    other = settings_;
    other.correlate = *Correlation::parse("coalesce(id, 'x')");
    EXPECT_EQ(check(repl_, other), "") << "a number is read as its text";
    other.correlate = *Correlation::parse("coalesce(no_such_column, 'x')");
    EXPECT_NE(check(repl_, other).find("as configured"), std::string::npos);
    const std::string refused = check(repl_ + " password=wrong-secret", settings_);
    EXPECT_NE(refused.find("authentication failed"), std::string::npos) << refused;
    EXPECT_EQ(refused.find("wrong-secret"), std::string::npos);
    const std::string unreachable = check("host=127.0.0.1 port=1 user=x password=y", settings_);
    EXPECT_NE(unreachable.find("refused"), std::string::npos) << unreachable;
    sql("ALTER TABLE " + name_ + " REPLICA IDENTITY DEFAULT");
    EXPECT_NE(check(repl_, settings_).find("REPLICA IDENTITY FULL"), std::string::npos);
    sql("ALTER TABLE " + name_ + " REPLICA IDENTITY FULL");
    sql("CREATE TABLE " + name_ + "_child () INHERITS (" + name_ + ")");
    EXPECT_NE(check(repl_, settings_).find("inheriting"), std::string::npos);
    sql("DROP TABLE " + name_ + "_child");
    sql("ALTER PUBLICATION " + name_ + " SET TABLE " + name_ + " WHERE (status <> 'x')");
    EXPECT_NE(check(repl_, settings_).find("only some rows"), std::string::npos);
    sql("ALTER PUBLICATION " + name_ + " SET TABLE " + name_);
    sql("ALTER PUBLICATION " + name_ + " SET (publish = 'insert')");
    EXPECT_NE(check(repl_, settings_).find("must publish"), std::string::npos);
    EXPECT_FALSE(LibpqDatabase::open("password=hidden and then nonsense").ok());
}

/// The same table in partitions: ranges of its key.
class PostgresPartitions : public PostgresReal {
  protected:
    void SetUp() override {
        PostgresReal::SetUp();
        if (HasFatalFailure()) return;
        connector_.reset();
        sql("DROP TABLE " + name_);
        sql("CREATE TABLE " + name_ +
            " (id bigint, url_slug text, pod_name text, status text NOT NULL, notes text, PRIMARY "
            "KEY (id)) PARTITION BY RANGE (id)");
        sql("ALTER TABLE " + name_ + " REPLICA IDENTITY FULL");
        add("low", 0, 100);
        sql("ALTER PUBLICATION " + name_ + " SET (publish_via_partition_root = true)");
        sql("ALTER PUBLICATION " + name_ + " ADD TABLE " + name_);
    }

    /// A new partition: its replica identity is DEFAULT, whatever the root's is.
    void add(const std::string& part, int from, int to) {
        sql("CREATE TABLE " + name_ + "_" + part + " PARTITION OF " + name_ + " FOR VALUES FROM (" +
            std::to_string(from) + ") TO (" + std::to_string(to) + ")");
    }
    void full(const std::string& part) {
        sql("ALTER TABLE " + name_ + "_" + part + " REPLICA IDENTITY FULL");
    }
    void insert(int n, const std::string& slug) {
        sql("INSERT INTO " + name_ + " (id, url_slug, status) VALUES (" + std::to_string(n) +
            ", '" + slug + "', 'running')");
    }
    bool troubled(const std::string& words) {
        return until([&] { return trouble().find(words) != std::string::npos; });
    }
    /// Every Remove so far named the subject that the row claimed.
    void expect_true_removals() {
        for (const Fact& fact : facts_) {
            if (fact.kind != Kind::kRemove) continue;
            EXPECT_TRUE(fact.subject_key.starts_with("graph-instances/")) << fact.subject_key;
        }
    }
};

// Symptom: a partition's own replica identity was never looked at, so that its deletes went to the
// subject of a row without a name while progress was claimed.
TEST_F(PostgresPartitions, AreJudgedByTheWeakestOfTheirLeaves_S16) {
    connect();
    const std::string weak =
        "the replica identity of public." + name_ + "_low, a partition of " + "public." + name_ +
        ", does not log which name a deleted row had: " + "ALTER TABLE public." + name_ +
        "_low REPLICA IDENTITY FULL;";
    ASSERT_TRUE(troubled(weak)) << trouble();
    EXPECT_EQ(count(Kind::kProgress), 0U);
    full("low");
    insert(1, "a");
    insert(2, "b");
    ASSERT_TRUE(caught_up()) << trouble();
    sql("UPDATE " + name_ + " SET pod_name = 'p' WHERE id = 1");
    sql("DELETE FROM " + name_ + " WHERE id = 2");
    ASSERT_TRUE(caught_up()) << trouble();
    ASSERT_EQ(rows_.size(), 1U);
    EXPECT_EQ(rows_[id(1)].subject_key, "graph-instances/p");
    EXPECT_EQ(connector_->health().epochs, 1U) << "nothing of it was doubted";
    sql("ALTER PUBLICATION " + name_ + " SET (publish_via_partition_root = false)");
    connect();
    EXPECT_TRUE(troubled("SET (publish_via_partition_root = true)")) << trouble();
}

TEST_F(PostgresPartitions, OneThatIsAddedLeadsToNoWrongFactAndIsNamed_S16) {
    full("low");
    connect();
    insert(1, "a");
    ASSERT_TRUE(caught_up()) << trouble();
    add("high", 100, 200);
    insert(101, "b");
    insert(102, "c");
    insert(103, "d");
    sql("UPDATE " + name_ + " SET pod_name = 'moved' WHERE id = 101");
    sql("DELETE FROM " + name_ + " WHERE id = 102");
    sql("UPDATE " + name_ + " SET id = 104 WHERE id = 103");
    ASSERT_TRUE(troubled(name_ + "_high, a partition of")) << trouble();
    const std::int64_t proven = proven_;
    for (int i = 0; i < 20; ++i) step();
    EXPECT_EQ(proven_, proven) << "what may be missing is not proven";
    full("high");
    connector_->restart(clock_.steady_now());
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_EQ(rows_.size(), 3U);
    EXPECT_EQ(rows_[id(101)].subject_key, "graph-instances/moved");
    EXPECT_TRUE(rows_.contains(id(104)));
    expect_true_removals();
}

TEST_F(PostgresPartitions, OneThatIsAttachedHealsByItselfOnceItIsFull_S16) {
    full("low");
    connect();
    insert(1, "a");
    ASSERT_TRUE(caught_up()) << trouble();
    sql("CREATE TABLE " + name_ + "_high (LIKE " + name_ + " INCLUDING ALL)");
    sql("INSERT INTO " + name_ + "_high (id, url_slug, status) VALUES (101, 'b', 'running')");
    sql("ALTER TABLE " + name_ + " ATTACH PARTITION " + name_ + "_high FOR VALUES FROM (100) TO " +
        "(200)");
    sql("DELETE FROM " + name_ + " WHERE id = 101");
    insert(102, "c");
    ASSERT_TRUE(troubled(name_ + "_high, a partition of")) << trouble();
    full("high");
    insert(103, "d");
    sql("DELETE FROM " + name_ + " WHERE id = 102");
    end_walsender();
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_EQ(rows_.size(), 2U);
    expect_true_removals();
}

// Symptom: rows that came with a partition that was filled before it was attached were in no
// stream, and proven absent.
TEST_F(PostgresPartitions, OneThatIsAttachedWithItsRowsIsReadBeforeTheNextProof_S16) {
    full("low");
    connect();
    ASSERT_TRUE(caught_up()) << trouble();
    sql("CREATE TABLE " + name_ + "_high (LIKE " + name_ + " INCLUDING ALL)");
    full("high");
    sql("INSERT INTO " + name_ + "_high (id, url_slug, status) VALUES (101, 'b', 'running')");
    sql("ALTER TABLE " + name_ + " ATTACH PARTITION " + name_ + "_high FOR VALUES FROM (100) TO " +
        "(200)");
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_TRUE(rows_.contains(id(101)));
    sql("ALTER TABLE " + name_ + " DETACH PARTITION " + name_ + "_high");
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_FALSE(rows_.contains(id(101)));
    sql("DROP TABLE " + name_ + "_high");
}

TEST_F(PostgresPartitions, OneWhoseChangesAreNotInTheLogIsRefused_S16) {
    full("low");
    sql("CREATE UNLOGGED TABLE " + name_ + "_high (LIKE " + name_ + " INCLUDING ALL)");
    sql("ALTER TABLE " + name_ + " ATTACH PARTITION " + name_ + "_high FOR VALUES FROM (100) TO " +
        "(200)");
    connect();
    EXPECT_TRUE(troubled("_high SET LOGGED;")) << trouble();
}

// Symptom: what was written while a publication left it out was missing until the next audit, and
// its absence counted as proven, if all was again as before when the table was looked at.
TEST_F(PostgresReal, WhatAPublicationLeftOutForAMomentIsReadBeforeTheNextProof_S16) {
    const std::string parts[] = {
        "ALTER PUBLICATION " + name_ + " SET (publish = 'update')|ALTER PUBLICATION " + name_ +
            " SET (publish = 'insert, update, delete, truncate')",
        "ALTER PUBLICATION " + name_ + " DROP TABLE " + name_ + "|ALTER PUBLICATION " + name_ +
            " ADD TABLE " + name_,
    };
    ASSERT_TRUE(caught_up()) << trouble();
    int rows = 0;
    for (const std::string& both : parts) {
        const std::size_t bar = both.find('|');
        const std::size_t epochs = connector_->health().epochs;
        sql(both.substr(0, bar));
        sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('a', 'running')");
        sql(both.substr(bar + 1));
        ASSERT_TRUE(caught_up()) << trouble();
        EXPECT_TRUE(rows_.contains(id(++rows))) << both;
        EXPECT_EQ(connector_->health().epochs, epochs + 1);
    }
    sql("CREATE TABLE " + name_ + "_other (id int PRIMARY KEY)");
    sql("ALTER PUBLICATION " + name_ + " ADD TABLE " + name_ + "_other");
    const std::size_t epochs = connector_->health().epochs;
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_EQ(connector_->health().epochs, epochs) << "another table is no reason to read this one";
    sql("DROP TABLE " + name_ + "_other");
}

// Symptom: a generated column was looked for in a stream that never has it.
TEST_F(PostgresReal, AGeneratedColumnIsRefusedWithASentence) {
    sql("ALTER TABLE " + name_ +
        " ADD COLUMN pod text GENERATED ALWAYS AS ('wrapper-' || url_slug) STORED");
    settings_.columns.emplace_back("pod");
    connect();
    ASSERT_TRUE(until([this] { return trouble().find("is generated") != std::string::npos; }))
        << trouble();
    EXPECT_NE(trouble().find("ALTER \"pod\" DROP EXPRESSION;"), std::string::npos) << trouble();
    if (PQserverVersion(owner_) < 180000) return;
    sql("ALTER PUBLICATION " + name_ + " SET (publish_generated_columns = stored)");
    EXPECT_TRUE(caught_up()) << trouble();
}

TEST_F(PostgresReal, HowMuchWalItsSlotKeepsIsTold) {
    ASSERT_TRUE(caught_up()) << trouble();
    connect();  // the first look found no slot
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_EQ(connector_->health().slot.wal_status, "reserved");
    const std::string limit = sql("SHOW max_slot_wal_keep_size");
    EXPECT_EQ(connector_->health().remark.empty(), limit != "-1");
}

// A source that was taken out of the configuration left its slot, and the server kept WAL for it.
TEST_F(PostgresReal, WhatASourceLeftIsToldAndDroppedOnlyOnceNobodyReadsIt) {
    const auto look = [&] {
        const auto database = LibpqDatabase::open(repl_).value();
        return look_for_leftovers(*database, name_, name_).value();
    };
    const auto drop = [&](const Leftovers& seen) {
        const auto database = LibpqDatabase::open(repl_).value();
        return drop_leftovers(*database, name_, seen).value();
    };
    EXPECT_FALSE(look().slot);
    ASSERT_TRUE(until([&] { return proven_ > 0; }));
    const Leftovers read = look();
    EXPECT_TRUE(read.ours() && read.active && !read.active_pid.empty() && read.publication);
    EXPECT_EQ(read.reader, "trueup (repl)");
    EXPECT_GE(read.other_sessions, 2U);
    EXPECT_FALSE(drop(read)) << "it is being read";

    connector_.reset();
    database_.reset();
    ASSERT_TRUE(until_idle());
    Leftovers idle = look();
    EXPECT_TRUE(idle.ours() && !idle.active && idle.kept_bytes && idle.wal_status == "reserved");
    Leftovers elsewhere = idle;
    elsewhere.server = "1";
    EXPECT_FALSE(drop(elsewhere)) << "another server than the one that was shown";
    EXPECT_TRUE(look().slot);
    EXPECT_TRUE(drop(idle));
    EXPECT_FALSE(look().slot);
    EXPECT_FALSE(drop(idle)) << "as nothing is left";
}

TEST_F(PostgresReal, ASlotThatIsNotSuchAsTheSourceMakesStays) {
    connector_.reset();
    database_.reset();
    for (const std::string& make :
         {"pg_create_physical_replication_slot('" + name_ + "', true)",
          "pg_create_logical_replication_slot('" + name_ + "', 'test_decoding')"}) {
        if (make.find("test_decoding") != std::string::npos && !has_test_decoding()) continue;
        sql("SELECT " + make);
        const auto database = LibpqDatabase::open(repl_).value();
        Leftovers found = look_for_leftovers(*database, name_, name_).value();
        EXPECT_TRUE(found.slot && !found.ours()) << make;
        EXPECT_FALSE(drop_leftovers(*database, name_, found).value());
        found.plugin = "pgoutput";
        found.slot_database = found.database;
        EXPECT_FALSE(drop_leftovers(*database, name_, found).value()) << "the server knows better";
        EXPECT_TRUE(look_for_leftovers(*database, name_, name_).value().slot);
        drop_slot();
    }
}

// Each deletion of a pod read a table of millions of rows from one end to the other, twice.
TEST_F(PostgresReal, ALookThatReadsALargeTableWholeIsNamedWithTheIndexThatSparesIt) {
    connector_.reset();
    sql("INSERT INTO " + name_ +
        " (url_slug, pod_name, status) SELECT 's' || i, CASE WHEN i % 2 "
        "= 0 THEN 'wrapper-s' || i END, 'running' FROM generate_series(1, 20000) i");
    const auto slow = [&](std::uint64_t rows) {
        const auto inspection = inspect(*database_, settings_).value();
        return slow_looks(*database_, settings_, {"pod_name"}, inspection, rows).value();
    };
    EXPECT_EQ(slow(100).size(), 0U) << "a small one is read in no time";
    std::vector<std::string> found = slow(20000);
    ASSERT_EQ(found.size(), 2U);
    while (!found.empty()) {
        const std::size_t left = found.size();
        const std::size_t from = found.front().find("CREATE INDEX CONCURRENTLY ON ");
        ASSERT_NE(from, std::string::npos) << found.front();
        sql(found.front().substr(from));
        found = slow(20000);
        ASSERT_EQ(found.size(), left - 1) << "the index that it names is used";
    }
}

TEST_F(PostgresReal, DdlUnderOurFeetEndsFreshnessUntilItIsMended) {
    sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('a', 'running')");
    ASSERT_TRUE(caught_up()) << trouble();
    sql("ALTER TABLE " + name_ + " RENAME COLUMN notes TO remarks");
    sql("INSERT INTO " + name_ + " (url_slug, status) VALUES ('b', 'running')");
    ASSERT_TRUE(until([this] { return trouble().find("column notes") != std::string::npos; }))
        << trouble();
    sql("ALTER TABLE " + name_ + " RENAME COLUMN remarks TO notes");
    ASSERT_TRUE(caught_up()) << trouble();
    EXPECT_EQ(rows_.size(), 2U);
}

}  // namespace
}  // namespace trueup::connectors::postgres
