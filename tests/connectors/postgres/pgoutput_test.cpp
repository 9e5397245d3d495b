// Proves connectors/postgres/pgoutput.h: every message decodes to its values, and no bytes at all
// are read past their end.
#include "connectors/postgres/pgoutput.h"

#include "tests/support/pgoutput_bytes.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace trueup::connectors::postgres {
namespace {

using namespace test_support;

std::vector<std::string> samples() {
    const PgTuple row = {pg_text("1"), pg_null(), pg_unchanged(), pg_text("")};
    return {
        pg_begin(0x1234567890, 5),
        pg_commit(0x10, 0x20),
        pg_relation(9, "public", "instances", 'f', {{"id", true}, {"slug", false}}),
        PgBytes('Y').number(3, 4).text("public").text("mood").take(),
        pg_insert(9, row),
        pg_update(9, 'O', row, row),
        pg_update(9, 'K', row, row),
        pg_update(9, 0, {}, row),
        pg_delete(9, 'K', row),
        pg_truncate({9, 10}),
        PgBytes('O').number(5, 8).text("origin").take(),
        PgBytes('M').number(1, 1).number(5, 8).text("trueup").number(2, 4).raw("hi").take(),
    };
}

TEST(Pgoutput, DecodesBeginAndCommit) {
    const auto begin = decode_payload(pg_begin(0xabc, 5));
    ASSERT_TRUE(begin.ok());
    EXPECT_EQ(std::get<BeginMessage>(*begin).final_lsn, 0xabcU);
    EXPECT_EQ(std::get<BeginMessage>(*begin).commit_micros, 5);
    const auto commit = decode_payload(pg_commit(0x10, 0x20));
    ASSERT_TRUE(commit.ok());
    EXPECT_EQ(std::get<CommitMessage>(*commit).commit_lsn, 0x10U);
    EXPECT_EQ(std::get<CommitMessage>(*commit).end_lsn, 0x20U);
}

TEST(Pgoutput, DecodesARelation) {
    const std::string bytes = pg_relation(9, "s", "t", 'd', {{"id", true, 20}, {"b", false, 25}});
    const auto payload = decode_payload(bytes);
    ASSERT_TRUE(payload.ok());
    const auto& relation = std::get<RelationMessage>(*payload);
    EXPECT_EQ(relation.id, 9U);
    EXPECT_EQ(relation.schema, "s");
    EXPECT_EQ(relation.name, "t");
    EXPECT_EQ(relation.identity, 'd');
    ASSERT_EQ(relation.columns.size(), 2U);
    EXPECT_TRUE(relation.columns[0].key);
    EXPECT_EQ(relation.columns[0].type, 20U);
    EXPECT_FALSE(relation.columns[1].key);
    EXPECT_EQ(relation.columns[1].name, "b");
    EXPECT_EQ(relation.columns[1].modifier, -1);
}

TEST(Pgoutput, TellsNullFromEmptyFromUnchanged_S16) {
    const std::string bytes = pg_update(9, 'O', {pg_text("old")}, {pg_unchanged()});
    const auto payload = decode_payload(bytes);
    ASSERT_TRUE(payload.ok());
    const auto& update = std::get<UpdateMessage>(*payload);
    EXPECT_EQ(update.old.kind, OldTuple::Kind::kFull);
    EXPECT_EQ(update.old.cells, (Tuple{{Cell::Kind::kText, "old"}}));
    EXPECT_EQ(update.row, (Tuple{{Cell::Kind::kUnchanged}}));
    const std::string other = pg_insert(9, {pg_null(), pg_text("")});
    const auto insert = decode_payload(other);
    ASSERT_TRUE(insert.ok());
    EXPECT_EQ(std::get<InsertMessage>(*insert).row,
              (Tuple{{Cell::Kind::kNull}, {Cell::Kind::kText, ""}}));
}

TEST(Pgoutput, DecodesBothEnvelopes) {
    const std::string keepalive_bytes = pg_keepalive(0x77, true);
    const auto keepalive = decode_stream_message(keepalive_bytes);
    ASSERT_TRUE(keepalive.ok());
    EXPECT_EQ(std::get<Keepalive>(*keepalive).end, 0x77U);
    EXPECT_TRUE(std::get<Keepalive>(*keepalive).reply_now);
    const std::string wal_bytes = pg_wal(pg_truncate({4}), 0x66);
    const auto wal = decode_stream_message(wal_bytes);
    ASSERT_TRUE(wal.ok());
    EXPECT_EQ(std::get<WalData>(*wal).start, 0x66U);
    const auto& truncate = std::get<TruncateMessage>(std::get<WalData>(*wal).payload);
    EXPECT_EQ(truncate.relations, std::vector<std::uint32_t>{4});
}

TEST(Pgoutput, RefusesEveryMessageCutAnywhere) {
    for (const std::string& whole : samples()) {
        ASSERT_TRUE(decode_payload(whole).ok()) << whole.front();
        EXPECT_FALSE(decode_payload(whole + "x").ok()) << whole.front();
        for (std::size_t cut = 0; cut < whole.size(); ++cut) {
            // A copy of exactly that size, so that the sanitizer sees a read past its end.
            const std::vector<char> part(whole.begin(),
                                         whole.begin() + static_cast<std::ptrdiff_t>(cut));
            EXPECT_FALSE(decode_payload({part.data(), part.size()}).ok())
                << whole.front() << " cut at " << cut;
        }
    }
    const std::string wrapped = pg_wal(samples().front());
    for (std::size_t cut = 0; cut < wrapped.size(); ++cut) {
        EXPECT_FALSE(decode_stream_message(wrapped.substr(0, cut)).ok()) << cut;
    }
}

TEST(Pgoutput, RandomBytesNeverCrash) {
    const char* given = std::getenv("TRUEUP_SEED");
    const auto seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
    SCOPED_TRACE("replay: TRUEUP_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    const std::vector<std::string> all = samples();
    for (int round = 0; round < 50000; ++round) {
        std::string bytes = all[random() % all.size()];
        for (std::uint64_t flips = 1 + random() % 4; flips > 0; --flips) {
            bytes[random() % bytes.size()] = static_cast<char>(random());
        }
        bytes.resize(random() % (bytes.size() + 1));
        const std::vector<char> exact(bytes.begin(), bytes.end());
        (void)decode_payload({exact.data(), exact.size()}).ok();
        (void)decode_stream_message({exact.data(), exact.size()}).ok();
    }
}

}  // namespace
}  // namespace trueup::connectors::postgres
