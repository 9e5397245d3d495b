// Proves engine/model/{ids,topic,verdict,command,subject}.h: names are fixed, and what is final is
// final.
#include "engine/model/finding.h"
#include "engine/model/finding_edge.h"
#include "engine/model/ids.h"
#include "engine/model/journal.h"
#include "engine/model/reason.h"
#include "engine/model/subject.h"
#include "engine/model/topic.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

namespace trueup {
namespace {

TEST(Names, EachTopicHasItsOwn) {
    EXPECT_EQ(name_of(Topic::kUnspecified), "");
    EXPECT_EQ(name_of(Topic::kChangesPods), "changes.pods");
    EXPECT_EQ(name_of(Topic::kOutcomes), "outcomes");
    EXPECT_EQ(name_of(Topic::kCommands), "commands");
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < kTopics; ++i) names.insert(name_of(static_cast<Topic>(i)));
    EXPECT_EQ(names.size(), kTopics);
}

TEST(Names, TheSequencerMergesNoTopicThatTheEngineWrites) {
    for (const Topic topic : kInputTopics) {
        EXPECT_NE(topic, Topic::kJournal);
        EXPECT_NE(topic, Topic::kFindings);
        EXPECT_NE(topic, Topic::kCommands);
    }
}

TEST(Names, ReasonsAndStatesAreWordsOfTheDomain) {
    EXPECT_EQ(name_of(Reason::kGrace), "grace");
    EXPECT_EQ(name_of(Reason::kAlreadyDone), "already_done");
    EXPECT_EQ(name_of(static_cast<Reason>(99)), "unknown");
    EXPECT_EQ(name_of(FindingState::kCommanded), "commanded");
    EXPECT_EQ(name_of(OutcomeKind::kExpired), "expired");
    EXPECT_EQ(name_of(Action::Kind::kDeletePod), "delete_pod");
}

TEST(Outcome, OnlyARetryableFailureIsNotFinal) {
    Outcome outcome;
    for (const OutcomeKind kind : {OutcomeKind::kDone, OutcomeKind::kAlreadyDone,
                                   OutcomeKind::kRefused, OutcomeKind::kExpired}) {
        outcome.kind = kind;
        outcome.retryable = true;
        EXPECT_TRUE(outcome.final()) << name_of(kind);
    }
    outcome.kind = OutcomeKind::kFailed;
    EXPECT_FALSE(outcome.final());
    outcome.retryable = false;
    EXPECT_TRUE(outcome.final());
}

TEST(Subject, TheNameIsWhatFollowsThePolicy) {
    Subject subject;
    subject.key = "graph-instance/wrapper-7f3a";
    EXPECT_EQ(subject.name(), "wrapper-7f3a");
    subject.key = "bare";
    EXPECT_EQ(subject.name(), "bare");
}

TEST(Ids, GoToHexAndBack) {
    const CommandId id({0x0123456789abcdef, 0xfedcba9876543210});
    EXPECT_EQ(to_hex(id), "0123456789abcdeffedcba9876543210");
    EXPECT_EQ(id_from_hex<CommandId>(to_hex(id)), id);
    EXPECT_EQ(id_from_hex<CommandId>("0123"), std::nullopt);
}

TEST(Version, OrdersByItsHighWordFirst) {
    EXPECT_LT((Version{1, 9}), (Version{2, 0}));
    EXPECT_LT((Version{2, 0}), (Version{2, 1}));
}

}  // namespace
}  // namespace trueup
