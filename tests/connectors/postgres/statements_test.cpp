// Proves connectors/postgres/statements.h, lsn.h, failure.h and access_check.h: quoting, COPY's
// text form, positions, and what `config check` says.
#include "connectors/postgres/statements.h"

#include "connectors/postgres/access_check.h"
#include "connectors/postgres/failure.h"
#include "connectors/postgres/lsn.h"
#include "connectors/postgres/sqlstate.h"
#include "engine/base/backoff.h"
#include "tests/connectors/postgres/fake_database.h"
#include "tests/support/manual_clock.h"

#include <gtest/gtest.h>

namespace trueup::connectors::postgres {
namespace {

TEST(PostgresStatements, QuoteNamesAndBindValues) {
    ports::UpdateRow update;
    update.table = {"s", "odd\"name"};
    update.pk_columns = {"a", "b"};
    update.pk = "1\x1f'2";
    update.xmin = "77";
    update.guards = {{"status", "running"}, {"pod_name", std::nullopt}};
    update.sets = {{"status", "failed"}};
    const Statement statement = update_statement(update);
    EXPECT_EQ(
        statement.sql,
        "UPDATE \"s\".\"odd\"\"name\" SET \"status\" = $1 WHERE \"a\" = $2 AND \"b\" = $3 AND "
        "xmin = $4::xid AND \"status\" IS NOT DISTINCT FROM $5 AND \"pod_name\" IS NOT "
        "DISTINCT FROM $6");
    EXPECT_EQ(statement.values, (std::vector<std::optional<std::string>>{"failed", "1", "'2", "77",
                                                                         "running", std::nullopt}));
}

TEST(PostgresStatements, AnInsertLooksForTheRowOnceMore) {
    ports::InsertRow insert;
    insert.table = {"s", "workers"};
    insert.unique = "\"k8s_pod\"";
    insert.sets = {{"k8s_pod", "w-1"}, {"note", std::nullopt}};
    insert.none_of = {{"btrim(k8s_pod)", "w-1"}, {"lower(host)", "w-1"}};
    insert.key_columns = {"k8s_pod", "other"};
    const Statement statement = insert_statement(insert);
    EXPECT_EQ(
        statement.sql,
        "INSERT INTO \"s\".\"workers\" (\"k8s_pod\", \"note\") SELECT $1, $2 WHERE NOT EXISTS "
        "(SELECT FROM \"s\".\"workers\" WHERE (btrim(k8s_pod))::text = $3 OR "
        "(lower(host))::text = $4) AND (SELECT (btrim(k8s_pod))::text FROM (SELECT "
        "coalesce($5, (NULL::\"s\".\"workers\").\"k8s_pod\") AS \"k8s_pod\", "
        "(NULL::\"s\".\"workers\").\"other\" AS \"other\") made) = $6 "
        "ON CONFLICT (\"k8s_pod\") DO NOTHING RETURNING ((btrim(k8s_pod))::text IS NOT DISTINCT "
        "FROM "
        "$7)::text");
    EXPECT_EQ(statement.values, (std::vector<std::optional<std::string>>{
                                    "w-1", std::nullopt, "w-1", "w-1", "w-1", "w-1", "w-1"}));
}

TEST(PostgresStatements, QuoteInReplicationCommands) {
    const Statement start = start_wal_statement({"slot", "o'dd\"p", 0x16B374D848});
    EXPECT_EQ(start.sql,
              "START_REPLICATION SLOT \"slot\" LOGICAL 16/B374D848 (proto_version '1', "
              "publication_names '\"o''dd\"\"p\"')");
    EXPECT_TRUE(start.simple);
}

// Design §4.3: the slot's own snapshot; any other may miss a commit that is in the WAL already.
TEST(PostgresStatements, TheCopyReadsAtTheSlotsConsistentPoint) {
    EXPECT_EQ(create_copy_slot_statement("copy").sql,
              "CREATE_REPLICATION_SLOT \"copy\" TEMPORARY LOGICAL pgoutput USE_SNAPSHOT");
}

TEST(PostgresStatements, ReadCopyLines) {
    EXPECT_EQ(parse_copy_line("1\t\\N\t\tx\\ty\\\\z\\n\n"),
              (ports::SqlRow{"1", std::nullopt, "", "x\ty\\z\n"}));
    EXPECT_EQ(parse_copy_line("\\\\N"), (ports::SqlRow{"\\N"}));
    EXPECT_FALSE(parse_copy_line("a\\").has_value());
}

TEST(PostgresStatements, WriteAStandbyStatus) {
    const std::string bytes = standby_status(0x0102, 0x03, 0x04, true);
    EXPECT_EQ(bytes.size(), 34U);
    EXPECT_EQ(bytes.substr(0, 17), std::string("r\0\0\0\0\0\0\1\2\0\0\0\0\0\0\0\3", 17));
    EXPECT_EQ(bytes.back(), '\1');
}

TEST(PostgresLsn, ReadsAndPrints) {
    EXPECT_EQ(format_lsn(0x16B374D848), "16/B374D848");
    EXPECT_EQ(parse_lsn("16/B374D848"), 0x16B374D848U);
    EXPECT_EQ(parse_lsn("0/0"), 0U);
    for (const char* bad :
         {"", "/", "1", "1/", "/1", "1/2/3", "g/1", "123456789/1", "1/123456789", "-1/1", " 1/1"}) {
        EXPECT_FALSE(parse_lsn(bad).has_value()) << bad;
    }
}

TEST(PostgresLsn, RoundsAnEmptyPagesHeaderDown_Details_14) {
    EXPECT_EQ(before_page_header(0x2018), 0x2000U);
    EXPECT_EQ(before_page_header(0x2000), 0x2000U);
    EXPECT_EQ(before_page_header(0x2028), 0x2028U) << "40 only at a segment's start";
    EXPECT_EQ(before_page_header(0x2019), 0x2019U);
    EXPECT_EQ(before_page_header(0x5000028), 0x5000000U);
    EXPECT_EQ(before_page_header(0x5000028, 64ULL << 20U), 0x5000028U);
    EXPECT_EQ(before_page_header(0x4000028, 64ULL << 20U), 0x4000000U);
}

TEST(PostgresLsn, ConvertsTimes) {
    EXPECT_EQ(millis_of_postgres_time(0), 946684800000);
    EXPECT_EQ(millis_of_postgres_time(1999), 946684800001);
    EXPECT_EQ(millis_of_postgres_time(-1), 946684799999);
}

TEST(PostgresFailure, ACodeSaysWhatTheServerFound) {
    EXPECT_EQ(code_of(""), Code::kUnavailable) << "it said nothing";
    EXPECT_EQ(code_of("57P03"), Code::kUnavailable) << "it is starting";
    EXPECT_EQ(code_of("28P01"), Code::kDenied);
    EXPECT_EQ(code_of("42501"), Code::kDenied);
    EXPECT_EQ(code_of("42P01"), Code::kNotFound);
    EXPECT_EQ(code_of("42601"), Code::kInvalid);
    EXPECT_EQ(code_of("53300"), Code::kExhausted);
    EXPECT_EQ(code_of("55006"), Code::kConflict);
    EXPECT_EQ(code_of("58P01"), Code::kLost);
}

TEST(PostgresFailure, TellsRetryFromLoss_S14) {
    const auto classified = [](std::string sqlstate, std::string words, Next next = Next::kRetry) {
        ports::DatabaseEvent event;
        event.sqlstate = std::move(sqlstate);
        event.error = {next, Code::kUnavailable, std::move(words)};
        return classify_failure(event);
    };
    EXPECT_EQ(classified("", "connection refused"), Failure::kTransient);
    EXPECT_EQ(classified("57P01", "terminating connection"), Failure::kTransient);
    EXPECT_EQ(classified("55006", "slot is active for PID 1"), Failure::kSlotBusy);
    EXPECT_EQ(classified("58P01", "requested WAL segment has already been removed"),
              Failure::kSlotGone);
    EXPECT_EQ(classified("55000", "can no longer get changes from replication slot \"x\""),
              Failure::kSlotGone);
    EXPECT_EQ(classified("55000", "recovery is in progress"), Failure::kRefused);
    EXPECT_EQ(classified("42704", "replication slot \"x\" does not exist"), Failure::kSlotGone);
    EXPECT_EQ(classified("42704", "publication \"x\" does not exist"), Failure::kPublicationGone);
    EXPECT_EQ(classified("28P01", "password authentication failed"), Failure::kRefused);
}

TEST(PostgresFailure, BacksOffUpToALimitAndStartsAgain) {
    trueup::Backoff waits(Millis(100), Millis(1000), 7);
    Millis last{0};
    for (int i = 0; i < 40; ++i) last = waits.next();
    EXPECT_GE(last, Millis(500));
    EXPECT_LE(last, Millis(1000));
    waits.reset();
    EXPECT_LE(waits.next(), Millis(100));
}

std::string check(FakeDatabase& database) {
    const Settings settings{.table = {"public", "instances"},
                            .slot = "trueup",
                            .publication = "trueup",
                            .columns = {"status"},
                            .correlate = *Correlation::parse("pod_name"),
                            .source_name = "rows"};
    testing::ManualClock clock{0, Millis(100)};  // time passes with each look
    const Status checked = check_access(database, settings, clock);
    return checked ? "" : checked.error().what;
}

TEST(PostgresCheck, SaysOneSentencePerFailure) {
    FakeDatabase good;
    EXPECT_EQ(check(good), "");
    EXPECT_EQ(good.calls,
              (std::vector<std::string>{"inspect", "read_rows",
                                        "drop_slot trueup_check_there_is_no_such_slot"}));
    const auto with = [](std::size_t field, const char* value) {
        FakeDatabase database;
        database.inspection[field] = value;
        return check(database);
    };
    EXPECT_NE(with(3, "").find("public.instances does not exist"), std::string::npos);
    EXPECT_NE(with(3, "d").find("ALTER TABLE \"public\".\"instances\" REPLICA IDENTITY FULL;"),
              std::string::npos);
    EXPECT_NE(with(4, "").find("has no primary key"), std::string::npos);
    EXPECT_NE(with(5, "none").find("CREATE PUBLICATION \"trueup\""), std::string::npos);
    EXPECT_NE(with(5, "f").find("ADD TABLE \"public\".\"instances\";"), std::string::npos);
    EXPECT_NE(with(5, "kinds").find("ALTER PUBLICATION"), std::string::npos);
    EXPECT_NE(with(6, "replica").find("wal_level is replica"), std::string::npos);
    FakeDatabase refused;
    refused.failures["inspect"] = {"28P01", "password authentication failed for user \"x\""};
    EXPECT_NE(check(refused).find("authentication failed"), std::string::npos);
    FakeDatabase column;
    column.failures["read_rows"] = {"42703", "column \"pod_name\" does not exist"};
    EXPECT_NE(check(column).find("reading public.instances"), std::string::npos);
    FakeDatabase replication;
    replication.failures["drop_slot"] = {"42501", "must be replication role"};
    EXPECT_NE(check(replication).find("REPLICATION"), std::string::npos);
}

TEST(PostgresCheck, KnowsWhichColumnsMayBeUpdated) {
    FakeDatabase database;
    testing::ManualClock clock{0, Millis(100)};  // time passes with each look
    const Settings settings{.table = {"public", "instances"},
                            .slot = "trueup",
                            .publication = "trueup",
                            .columns = {"status"},
                            .correlate = *Correlation::parse("pod_name"),
                            .source_name = "rows"};
    EXPECT_EQ(inspect(database, settings, clock)->updatable,
              (std::vector<std::string>{"status", "pod_name"}));
}

// A table under restore was "PostgreSQL did not answer", as if the server were away.
TEST(PostgresCheck, ATableThatIsLockedIsSaidToBe) {
    class Locked : public FakeDatabase {
      public:
        void read_rows(ports::CallId, const ports::ReadRows&) override {}
    } locked;
    EXPECT_EQ(check(locked),
              "reading public.instances as configured: PostgreSQL did not answer within 5 s; "
              "another session may hold a lock on the table");
}

TEST(PostgresCheck, EndsAfterFiveSeconds) {
    class Silent : public FakeDatabase {
      public:
        void inspect(ports::CallId, const ports::Inspect&) override {}
    } silent;
    EXPECT_NE(check(silent).find("within 5 s"), std::string::npos);
}

/// What is said of a column of that type which the policy reads as that; empty: nothing.
std::string misread(const std::string& type, policy::Field::Type as) {
    Settings settings{.table = {"public", "workers"},
                      .slot = "s",
                      .publication = "p",
                      .columns = {"state"},
                      .correlate = *Correlation::parse("pod"),
                      .source_name = "rows"};
    policy::Field field;
    field.type = as;
    settings.types = {{"state", field}};
    ports::SqlRow row{"1", "1", "170000", "f", "id", "t", "logical", "state"};
    row.resize(15);
    row.push_back("id=bigint,state=" + type);
    const Status fit = judge_table(*read_table_check(row), settings);
    return fit ? std::string() : fit.error().what;
}

// Symptom: a `deleted` of boolean was never the text false, and the pods of its rows were orphans;
// a `char(8)` never the word up.
TEST(Types, WhatNoWordOfAPolicyWouldEverEqualIsRefused) {
    using Type = policy::Field::Type;
    EXPECT_EQ(misread("text", Type::kText), "");
    EXPECT_EQ(misread("uuid", Type::kText), "");
    EXPECT_EQ(misread("boolean", Type::kBoolean), "");
    EXPECT_EQ(misread("bigint", Type::kNumber), "");
    EXPECT_EQ(misread("text", Type::kNumber), "");
    EXPECT_EQ(misread("timestamp with time zone", Type::kTimestamp), "");
    EXPECT_EQ(misread("timestamp without time zone", Type::kTimestamp),
              "column state of public.workers is timestamp without time zone and says no zone; "
              "declare it: {timestamp, zone: UTC}, or what its writers mean");
    EXPECT_EQ(misread("numeric", Type::kText),
              "column state of public.workers is numeric and is read as text, and one number has "
              "several; read a column of type bigint as number");
    EXPECT_NE(misread("text", Type::kBoolean), "") << "it would be written as t";
    EXPECT_NE(misread("json[]", Type::kText), "");
    EXPECT_EQ(misread("boolean", Type::kText),
              "column state of public.workers is boolean and is read as text, and its text is t or "
              "f; declare it boolean");
    EXPECT_EQ(misread("character", Type::kText),
              "column state of public.workers is character and has blanks at its end, so that no "
              "word equals it; make it text");
    EXPECT_EQ(misread("numeric", Type::kNumber),
              "column state of public.workers is numeric and is read as number, which is a whole "
              "one of 64 bits; read a column of type bigint");
    EXPECT_EQ(misread("integer", Type::kBoolean),
              "column state of public.workers is integer and is read as boolean; declare another "
              "type, or text with the words that it has");
    EXPECT_EQ(misread("json", Type::kText),
              "column state of public.workers is json and has no equality there, so that no write "
              "could ask for it as it was read; read another column, or make it jsonb");
}

}  // namespace
}  // namespace trueup::connectors::postgres
