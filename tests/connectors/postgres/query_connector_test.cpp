// What a query answers, as facts: which answers prove something, and what of them is published.
#include "connectors/postgres/query_connector.h"

#include "engine/model/object.h"
#include "tests/connectors/postgres/fake_database.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trueup::connectors::postgres {
namespace {

using Kind = Fact::Kind;

Settings accounts() {
    Settings settings{.table = {"query", "accounts", "SELECT id, data ->> 'state' AS state FROM u"},
                      .slot = {},
                      .publication = {},
                      .columns = {"state"},
                      .correlate = *Correlation::parse("id"),
                      .subject_prefix = "accounts/",
                      .source_name = "accounts"};
    settings.primary_key = {"id"};
    return settings;
}

/// As the server copies it: id, state, and the key.
ports::SqlRow account(const std::string& id, const std::string& state) { return {id, state, id}; }

class QueryConnectorTest : public testing::Test {
  protected:
    QueryConnectorTest() : connector_(QueryConnector::open(accounts(), database_).value()) {
        connector_->pace_progress(kEvery);
        connector_->restart(now_);
    }

    /// Steps until nothing happens any more; markers are in the log at once.
    std::vector<Fact> settle() {
        std::vector<Fact> all;
        for (int i = 0; i < 20; ++i) {
            std::vector<Fact> facts;
            connector_->step(now_, Millis(0), facts);
            for (Fact& fact : facts) {
                if (fact.kind == Kind::kMarker) {
                    ++markers_;
                    connector_->marker_appended(BrokerTime(Millis(1'000 * markers_)), now_);
                } else if (fact.kind != Kind::kAlive) {
                    all.push_back(std::move(fact));
                }
            }
        }
        return all;
    }
    /// The server's next answer.
    std::vector<Fact> answers(std::vector<ports::SqlRow> rows, ports::Lsn position) {
        database_.rows = std::move(rows);
        database_.consistent_point = position;
        now_ += kEvery;
        return settle();
    }
    static std::vector<Kind> kinds(const std::vector<Fact>& facts) {
        std::vector<Kind> all;
        for (const Fact& fact : facts) all.push_back(fact.kind);
        return all;
    }

    static constexpr Millis kEvery{30'000};
    using Kinds = std::vector<Kind>;
    FakeDatabase database_;
    std::unique_ptr<QueryConnector> connector_;
    SteadyTime now_{Millis(1'000'000)};
    int markers_ = 0;
};

TEST_F(QueryConnectorTest, TheFirstAnswerIsACompleteEpochAndProvesProgressUpToItsMarker) {
    const std::vector<Fact> facts = answers({account("a", "up"), account("b", "down")}, 0x900);
    ASSERT_EQ(kinds(facts), (Kinds{Kind::kSnapshotBegin, Kind::kUpsert, Kind::kUpsert,
                                   Kind::kSnapshotEnd, Kind::kProgress}));
    EXPECT_EQ(facts[1].object_id, "query.accounts/a");
    EXPECT_EQ(facts[1].subject_key, "accounts/a");
    EXPECT_TRUE(facts[1].in_epoch);
    EXPECT_TRUE(ObjectView(facts[1].object).is("state", "up"));
    EXPECT_EQ(facts[1].version, (Version{0x900, 0}));
    EXPECT_EQ(facts.back().complete_as_of, BrokerTime(Millis(1'000 * markers_)));
    EXPECT_EQ(facts.back().source_clock, from_millis<SourceTime>(1'700'000'000'000));
    EXPECT_TRUE(connector_->health().answering);
}

TEST_F(QueryConnectorTest, ALaterAnswerIsPublishedByWhatItSaysOtherwise) {
    answers({account("a", "up"), account("b", "down")}, 0x900);
    const auto facts = answers({account("a", "up"), account("b", "up"), account("c", "up")}, 0x980);
    ASSERT_EQ(kinds(facts), (Kinds{Kind::kUpsert, Kind::kUpsert, Kind::kProgress}));
    EXPECT_EQ(facts[0].object_id, "query.accounts/b");
    EXPECT_FALSE(facts[0].in_epoch);
    EXPECT_EQ(facts[1].object_id, "query.accounts/c");
    EXPECT_EQ(kinds(answers({account("a", "up"), account("b", "up"), account("c", "up")}, 0x990)),
              Kinds{Kind::kProgress});
}

TEST_F(QueryConnectorTest, WhatAnAnswerLacksIsNeverARemoval) {
    // An answer that was empty by mistake would have been believed row by row; as an epoch it meets
    // the engine's breaker.
    answers({account("a", "up"), account("b", "down")}, 0x900);
    const auto facts = answers({}, 0x980);
    EXPECT_EQ(kinds(facts), (Kinds{Kind::kSnapshotBegin, Kind::kSnapshotEnd, Kind::kProgress}));
    EXPECT_EQ(kinds(answers({account("b", "down")}, 0x990)),
              (Kinds{Kind::kUpsert, Kind::kProgress}));
}

TEST_F(QueryConnectorTest, ARowThatGoesToAnotherSubjectIsGoneFromItsOwn) {
    Settings settings = accounts();
    settings.correlate = *Correlation::parse("state");
    connector_ = QueryConnector::open(settings, database_).value();
    connector_->pace_progress(kEvery);
    connector_->restart(now_);
    answers({{"1", "east", "east"}}, 0x900);
    const auto facts = answers({{"1", "west", "west"}}, 0x980);
    ASSERT_EQ(kinds(facts),
              (Kinds{Kind::kSnapshotBegin, Kind::kUpsert, Kind::kSnapshotEnd, Kind::kProgress}));
    EXPECT_EQ(facts[1].subject_key, "accounts/west");
}

TEST_F(QueryConnectorTest, WhereTheLogHasNotMovedALaterAnswerIsNewerAllTheSame) {
    // A query that goes by the clock: `WHERE expires_at < now()`.
    answers({account("a", "up")}, 0x900);
    const auto facts = answers({account("a", "down")}, 0x900);
    ASSERT_EQ(kinds(facts), (Kinds{Kind::kUpsert, Kind::kProgress}));
    EXPECT_EQ(facts[0].version, (Version{0x900, 1}));
}

TEST_F(QueryConnectorTest, AnAnswerThatIsCutProvesNothing) {
    answers({account("a", "up")}, 0x900);
    database_.answer_copies = false;
    EXPECT_EQ(kinds(answers({}, 0x980)), Kinds{});
    database_.fail(database_.copy_call, "57014", "canceling statement due to statement timeout");
    EXPECT_EQ(kinds(settle()), Kinds{});
    EXPECT_FALSE(connector_->health().answering);
    EXPECT_NE(connector_->health().trouble.find("statement timeout"), std::string::npos);
    database_.answer_copies = true;
    EXPECT_EQ(kinds(answers({account("a", "up")}, 0x990)), Kinds{Kind::kProgress});
    EXPECT_TRUE(connector_->health().answering);
}

TEST_F(QueryConnectorTest, AServerThatSaysNothingIsGivenUpAndAskedAgain) {
    database_.answer_copies = false;
    EXPECT_EQ(kinds(answers({account("a", "up")}, 0x900)), Kinds{});
    const std::size_t asked = database_.count("copy");
    now_ += QueryConnector::kAnswerLimit;
    EXPECT_EQ(kinds(settle()), Kinds{});
    EXPECT_FALSE(connector_->health().answering);
    now_ += Millis(30'000);
    settle();
    EXPECT_EQ(database_.count("copy"), asked + 1);
}

TEST_F(QueryConnectorTest, TheServerIsAskedOnlyOnceTheMarkerIsInTheLog) {
    now_ += kEvery;
    std::vector<Fact> facts;
    for (int i = 0; i < 5; ++i) connector_->step(now_, Millis(0), facts);
    EXPECT_EQ(database_.count("copy"), 0U);
    connector_->marker_appended(BrokerTime(Millis(7)), now_);
    connector_->step(now_, Millis(0), facts);
    EXPECT_EQ(database_.count("copy"), 1U);
    EXPECT_EQ(facts.back().kind, Kind::kProgress);
    EXPECT_EQ(facts.back().complete_as_of, BrokerTime(Millis(7)));
}

TEST_F(QueryConnectorTest, TwoRowsOfOnePrimaryKeyAreNoAnswer) {
    EXPECT_EQ(kinds(answers({account("a", "up"), account("a", "down")}, 0x900)), Kinds{});
    EXPECT_NE(connector_->health().trouble.find("primary_key"), std::string::npos);
}

TEST_F(QueryConnectorTest, AnotherServerBeginsANewIncarnationWhoseEpochSaysThatItWentBack) {
    answers({account("a", "up")}, 0x900);
    database_.place = "77/2/main";
    EXPECT_EQ(kinds(answers({account("a", "down")}, 0x400)), Kinds{});
    ASSERT_TRUE(connector_->needs_new_incarnation());
    connector_->restart(now_);
    const auto facts = answers({account("a", "down")}, 0x400);
    ASSERT_EQ(facts.front().kind, Kind::kSnapshotBegin);
    EXPECT_TRUE(facts.front().rewound);
    EXPECT_EQ(facts[1].version, (Version{0x400, 0}));
}

TEST_F(QueryConnectorTest, ALogThatWentBackDoesTheSame) {
    answers({account("a", "up")}, 0x900);
    EXPECT_EQ(kinds(answers({account("a", "down")}, 0x400)), Kinds{});
    EXPECT_TRUE(connector_->needs_new_incarnation());
}

TEST_F(QueryConnectorTest, AColumnThatIsOfAnotherTypeThanItIsReadAsMakesNoAnswer) {
    // `active` was a boolean and read as text: no row said `true`, and every map was found.
    Settings settings = accounts();
    settings.types["state"] = {};
    connector_ = QueryConnector::open(settings, database_).value();
    connector_->pace_progress(kEvery);
    connector_->restart(now_);
    database_.types = {"text", "boolean"};  // of id and state
    EXPECT_EQ(kinds(answers({account("a", "t")}, 0x900)), Kinds{});
    EXPECT_NE(connector_->health().trouble.find("declare it boolean"), std::string::npos);
    database_.types = {"text", "text"};
    EXPECT_FALSE(answers({account("a", "true")}, 0x910).empty());
}

TEST_F(QueryConnectorTest, AtMostHalfOfTheTimeIsSpentInAskingHoweverShortThePace) {
    // A query of 20 s was asked again at once while a finding waited.
    database_.answer_copies = false;
    answers({account("a", "up")}, 0x900);
    now_ += Millis(20'000);
    database_.end_copy();
    EXPECT_FALSE(settle().empty());
    const std::size_t asked = database_.count("copy");
    connector_->pace_progress(Millis(2'000));
    now_ += Millis(19'000);
    settle();
    EXPECT_EQ(database_.count("copy"), asked);
    now_ += Millis(1'000);
    settle();
    EXPECT_EQ(database_.count("copy"), asked + 1);
}

TEST_F(QueryConnectorTest, WhoWaitsForALongAnswerSaysSoOftenEnoughToKeepItsSource) {
    // Another connector takes over who has been silent for three paces.
    connector_->pace_progress(Millis(3'000));
    database_.answer_copies = false;
    settle();
    std::size_t beats = 0;
    for (int second = 0; second < 9; ++second) {
        now_ += Millis(1'000);
        std::vector<Fact> facts;
        connector_->step(now_, Millis(0), facts);
        beats += static_cast<std::size_t>(std::count_if(
            facts.begin(), facts.end(), [](const Fact& f) { return f.kind == Kind::kAlive; }));
    }
    EXPECT_EQ(beats, 3U);
}

TEST_F(QueryConnectorTest, MoreRowsThanItCanHoldAreNoAnswer) {
    std::vector<ports::SqlRow> rows;
    for (std::size_t i = 0; i <= QueryConnector::kMostRows; ++i) {
        rows.push_back(account(std::to_string(i), "up"));
    }
    EXPECT_EQ(kinds(answers(std::move(rows), 0x900)), Kinds{});
    EXPECT_NE(connector_->health().trouble.find("fill a table"), std::string::npos);
}

TEST_F(QueryConnectorTest, NobodyOpensOneThatCannotTellItsRowsApart) {
    Settings settings = accounts();
    settings.primary_key.clear();
    EXPECT_FALSE(QueryConnector::open(settings, database_).ok());
}

}  // namespace
}  // namespace trueup::connectors::postgres
