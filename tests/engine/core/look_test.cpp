// Proves engine/core/look.h: what a person is shown of a subject, and that showing it changes
// nothing.
#include "engine/core/look.h"

#include "policies/shipped.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

namespace trueup::testing {
namespace {

constexpr const char* kKey = "graph-instances/wrapper-7";

TEST(Look, AConfirmedFindingShowsWhatItsRuleWouldOrder) {
    JournalScript s = orphan_at(170s, graph_settings(Mode::kApprove));
    const auto look = core::look_at(s.state(), kKey);
    ASSERT_TRUE(look.has_value());
    ASSERT_EQ(look->proposals.size(), 1U);
    ASSERT_TRUE(look->proposals[0].has_value());
    EXPECT_EQ(look->proposals[0]->action.kind, Action::Kind::kDeletePod);
    EXPECT_EQ(look->proposals[0]->target.object_id, "a");
    ASSERT_EQ(look->subject.facets.size(), 1U);
    EXPECT_EQ(look->subject.facets[0].object_id, "a");
}

// Symptom: a rule that kills its pods at once proposed what looked like the pod's own time to end.
TEST(Look, AProposalHasTheTimeToEndThatTheCommandWillHave) {
    Settings settings = graph_settings(Mode::kApprove);
    policies::rule_settings(settings, "orphaned_pod").grace_period = 0U;
    JournalScript s = orphan_at(170s, settings);
    const auto look = core::look_at(s.state(), kKey);
    ASSERT_TRUE(look && look->proposals.size() == 1 && look->proposals[0]);
    EXPECT_EQ(look->proposals[0]->action.grace_seconds, 0U);
}

TEST(Look, WithoutCompleteEvidenceNothingIsProposed) {
    JournalScript s = orphan_at(120s, graph_settings(Mode::kEnforce));
    const auto look = core::look_at(s.state(), kKey);
    ASSERT_TRUE(look.has_value());
    ASSERT_EQ(look->proposals.size(), 1U);
    EXPECT_FALSE(look->proposals[0].has_value()) << "its grace is not over";
}

TEST(Look, ACommandUnderWayIsNoProposal) {
    JournalScript s = orphan_at(170s, graph_settings(Mode::kEnforce));
    const auto look = core::look_at(s.state(), kKey);
    ASSERT_TRUE(look.has_value());
    ASSERT_EQ(look->subject.findings.size(), 1U);
    EXPECT_TRUE(look->subject.findings[0].command.has_value());
    EXPECT_FALSE(look->proposals[0].has_value());
}

TEST(Look, ItChangesNothingOfWhatAReplayComesTo) {
    JournalScript looked = orphan_at(170s, graph_settings(Mode::kApprove));
    JournalScript other = orphan_at(170s, graph_settings(Mode::kApprove));
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(core::look_at(looked.state(), kKey).has_value());
    EXPECT_FALSE(core::look_at(looked.state(), "graph-instances/nobody").has_value());
    looked.quiet_until(400s);
    other.quiet_until(400s);
    EXPECT_EQ(looked.state().meta, other.state().meta);
    EXPECT_EQ(*looked.subject("wrapper-7"), *other.subject("wrapper-7"));
}

}  // namespace
}  // namespace trueup::testing
