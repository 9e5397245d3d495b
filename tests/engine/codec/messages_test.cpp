// Proves engine/codec/{command,outcome,finding,request}_codec.h: what is written is read back, and
// what this build does not know it refuses instead of acting on half of it (design §4, 12).
#include "engine/codec/command_codec.h"
#include "engine/codec/finding_codec.h"
#include "engine/codec/limits.h"
#include "engine/codec/outcome_codec.h"
#include "engine/codec/request_codec.h"
#include "tests/engine/codec/samples.h"
#include "trueup/v1/command.pb.h"
#include "trueup/v1/finding.pb.h"
#include "trueup/v1/outcome.pb.h"
#include "trueup/v1/request.pb.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace trueup::codec {
namespace {

TEST(Messages, SamplesGoBothWays) {
    EXPECT_EQ(decode_command(encode_command(samples::command())).value(), samples::command());
    EXPECT_EQ(decode_outcome(encode_outcome(samples::outcome())).value(), samples::outcome());
    EXPECT_EQ(decode_finding(encode_finding(samples::finding())).value(), samples::finding());
    EXPECT_EQ(decode_request(encode_request(samples::request())).value(), samples::request());
    FindingEdge edge = samples::finding();
    edge.count_reason = "nameless_rows";
    EXPECT_EQ(decode_finding(encode_finding(edge)).value(), edge);
    Request request = samples::request();
    request.scope.reason_of_policy = true;
    EXPECT_EQ(decode_request(encode_request(request)).value(), request);
    EXPECT_EQ(decode_request(encode_request(samples::enabling())).value(), samples::enabling());
}

TEST(Messages, BareOnesGoBothWays) {
    Command command = samples::command();
    command.draft.target.name = command.draft.target.name_space = "";
    command.draft.action = {Action::Kind::kUpdateRow, std::nullopt, {}};
    command.finding_id = {};
    command.evidence.clear();
    EXPECT_EQ(decode_command(encode_command(command)).value(), command);

    Outcome outcome;
    outcome.command_id = CommandId({0, 1});
    outcome.kind = OutcomeKind::kDone;
    EXPECT_EQ(decode_outcome(encode_outcome(outcome)).value(), outcome);

    FindingEdge edge;
    edge.id = FindingId({1, 0});
    edge.journal_id = JournalId({1, 0});
    edge.state = FindingState::kResolved;
    EXPECT_EQ(decode_finding(encode_finding(edge)).value(), edge);

    Request request;
    request.id = RequestId({0, 1});
    request.kind = RequestKind::kPause;
    EXPECT_EQ(decode_request(encode_request(request)).value(), request);
}

TEST(Messages, EmptyTextAndNullAreTwoThings) {
    Command command = samples::command();
    command.draft.action.sets = {{"a", ""}, {"b", std::nullopt}};
    command.draft.read_set = {{Predicate::Kind::kField, "s", "o", "f", ""},
                              {Predicate::Kind::kField, "s", "o", "f", std::nullopt}};
    EXPECT_EQ(decode_command(encode_command(command)).value(), command);
}

TEST(Messages, EveryKindOfPredicateIsReadBack) {
    using Kind = Predicate::Kind;
    for (const Kind kind :
         {Kind::kExists, Kind::kNone, Kind::kField, Kind::kNoVeto, Kind::kNoneBut}) {
        Command command = samples::command();
        command.draft.read_set = {{kind, "rows", "public.instances/7", "key", "wrapper-a"}};
        EXPECT_EQ(decode_command(encode_command(command)).value(), command);
    }
}

/// Calls `decode` with random, cut and flipped bytes; the address sanitizer judges.
template <typename Decode>
void batter(const std::string& start, Decode decode) {
    SCOPED_TRACE("replay with TRUEUP_SEED=" + std::to_string(samples::seed()));
    std::mt19937_64 random(samples::seed());
    const auto feed = [&](const std::string& bytes) {
        const std::vector<char> copy(bytes.begin(), bytes.end());
        const auto read = decode(std::string_view(copy.data(), copy.size()));
        if (!read.ok()) {
            EXPECT_EQ(read.error().next, Next::kSkip);
            EXPECT_EQ(read.error().code, Code::kCorrupt);
        }
    };
    for (std::size_t size = 0; size < start.size(); ++size) feed(start.substr(0, size));
    for (int i = 0; i < 5'000; ++i) feed(samples::mutate(start, random));
    const std::string unknown(
        "\xa2\x06\x03"
        "abc",
        6);
    EXPECT_TRUE(decode(unknown + start + unknown).ok()) << "unknown fields are skipped";
    EXPECT_FALSE(decode(std::string(kMaxItemBytes + 1, '\0')).ok());
}

TEST(Messages, AreReadWithinTheirBounds) {
    batter(encode_command(samples::command()), decode_command);
    batter(encode_outcome(samples::outcome()), decode_outcome);
    batter(encode_finding(samples::finding()), decode_finding);
    batter(encode_request(samples::request()), decode_request);
}

/// Is a message refused after `spoil`? `Message` is generated.
template <typename Message, typename Decode>
bool refused(const std::string& start, Decode decode, const std::function<void(Message&)>& spoil) {
    Message m;
    EXPECT_TRUE(m.ParseFromString(start));
    spoil(m);
    return !decode(m.SerializeAsString()).ok();
}

TEST(CommandCodec, RefusesWhatItDoesNotUnderstandInFull) {
    using C = v1::Command;
    const auto no = [](const std::function<void(C&)>& spoil) {
        return refused<C>(encode_command(samples::command()), decode_command, spoil);
    };
    EXPECT_FALSE(no([](C&) {}));
    EXPECT_FALSE(no([](C& m) { m.set_key_id("k"), m.set_mac("m"); })) << "checked later";
    EXPECT_TRUE(no([](C& m) { m.clear_id(); }));
    EXPECT_TRUE(no([](C& m) { m.set_id("00000000000000000000000000000000"); }));
    EXPECT_TRUE(no([](C& m) { m.set_finding_id("x"); }));
    EXPECT_TRUE(no([](C& m) { m.clear_not_after_ms(); }));
    EXPECT_TRUE(no([](C& m) { m.clear_issued_ms(); }));
    EXPECT_TRUE(no([](C& m) { m.clear_target(); }));
    EXPECT_TRUE(no([](C& m) { m.mutable_target()->clear_object_id(); }));
    EXPECT_TRUE(no([](C& m) { m.clear_action(); }));
    EXPECT_TRUE(no([](C& m) { m.mutable_action()->set_kind(v1::Action::Kind(99)); }));
    EXPECT_TRUE(no([](C& m) { m.mutable_action()->mutable_sets(0)->clear_column(); }));
    EXPECT_TRUE(no([](C& m) { m.clear_read_set(); }));
    EXPECT_TRUE(no([](C& m) { m.mutable_read_set(1)->clear_kind(); }));
    EXPECT_TRUE(no([](C& m) { m.mutable_read_set(1)->set_kind(v1::Predicate::Kind(9)); }));
}

// An executor of the build before took a deletion without a grace period for one of 0 s, and
// killed.
TEST(CommandCodec, ADeletionInThePodsOwnTimeIsAKindThatOlderExecutorsRefuse) {
    Command command = samples::command();
    for (const std::optional<std::uint32_t> grace :
         {std::optional<std::uint32_t>(), std::optional(0U), std::optional(5U)}) {
        command.draft.action.grace_seconds = grace;
        v1::Command m;
        ASSERT_TRUE(m.ParseFromString(encode_command(command)));
        EXPECT_EQ(m.action().kind(),
                  grace ? v1::Action::KIND_DELETE_POD : v1::Action::KIND_DELETE_POD_IN_ITS_TIME);
        EXPECT_EQ(m.action().has_grace_seconds(), grace.has_value());
        EXPECT_EQ(decode_command(encode_command(command)).value(), command);
    }
    EXPECT_TRUE(refused<v1::Command>(encode_command(command), decode_command, [](v1::Command& m) {
        m.mutable_action()->set_kind(v1::Action::KIND_DELETE_POD_IN_ITS_TIME);
    })) << "which of the two?";
}

// An executor of the build before would have deleted what an object owns, whatever was said.
TEST(CommandCodec, ADeletionThatLeavesWhatAnObjectOwnsIsAKindThatOlderExecutorsRefuse) {
    Command command = samples::command();
    command.draft.action = {};
    command.draft.action.kind = Action::Kind::kDeleteObject;
    for (const std::string said : {"", "orphan", "foreground"}) {
        command.draft.action.propagation = said;
        v1::Command m;
        ASSERT_TRUE(m.ParseFromString(encode_command(command)));
        EXPECT_EQ(m.action().kind(), said.empty() ? v1::Action::KIND_DELETE_OBJECT
                                                  : v1::Action::KIND_DELETE_OBJECT_AS_SAID);
        EXPECT_EQ(decode_command(encode_command(command)).value(), command);
    }
    const auto no = [&](const std::function<void(v1::Action&)>& spoil) {
        return refused<v1::Command>(encode_command(command), decode_command,
                                    [&](v1::Command& m) { spoil(*m.mutable_action()); });
    };
    EXPECT_FALSE(no([](v1::Action&) {}));
    EXPECT_TRUE(no([](v1::Action& m) { m.clear_propagation(); })) << "which of them?";
    EXPECT_TRUE(no([](v1::Action& m) { m.set_propagation("sideways"); }));
    EXPECT_TRUE(no([](v1::Action& m) { m.set_kind(v1::Action::KIND_DELETE_OBJECT); }));
}

TEST(OutcomeCodec, RefusesWhatItDoesNotKnow) {
    using O = v1::Outcome;
    const auto no = [](const std::function<void(O&)>& spoil) {
        return refused<O>(encode_outcome(samples::outcome()), decode_outcome, spoil);
    };
    EXPECT_FALSE(no([](O&) {}));
    EXPECT_TRUE(no([](O& m) { m.clear_command_id(); }));
    EXPECT_TRUE(no([](O& m) { m.clear_kind(); }));
    EXPECT_TRUE(no([](O& m) { m.set_kind(v1::OutcomeKind(6)); }));
}

TEST(FindingCodec, RefusesWhatItDoesNotKnow) {
    using F = v1::Finding;
    const auto no = [](const std::function<void(F&)>& spoil) {
        return refused<F>(encode_finding(samples::finding()), decode_finding, spoil);
    };
    EXPECT_FALSE(no([](F&) {}));
    EXPECT_TRUE(no([](F& m) { m.clear_id(); }));
    EXPECT_TRUE(no([](F& m) { m.clear_position(); }));
    EXPECT_TRUE(no([](F& m) { m.set_command_id("x"); }));
    EXPECT_TRUE(no([](F& m) { m.clear_state(); }));
    EXPECT_TRUE(no([](F& m) { m.set_reason(v1::Reason(99)); }));
}

TEST(RequestCodec, RefusesWhatItDoesNotKnow) {
    using R = v1::Request;
    const auto no = [](const std::function<void(R&)>& spoil) {
        return refused<R>(encode_request(samples::request()), decode_request, spoil);
    };
    EXPECT_FALSE(no([](R&) {}));
    EXPECT_TRUE(no([](R& m) { m.clear_id(); }));
    EXPECT_TRUE(no([](R& m) { m.clear_kind(); }));
    EXPECT_TRUE(no([](R& m) { m.set_kind(v1::RequestKind(99)); }));
    EXPECT_TRUE(no([](R& m) { m.mutable_scope()->set_finding_id("x"); }));
    EXPECT_TRUE(no([](R& m) { m.add_rules()->set_text("no hash"); }));
}

}  // namespace
}  // namespace trueup::codec
