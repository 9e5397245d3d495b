// Proves projections/views/findings.h: what is open, as the newest edge has it, within bounds.
#include "projections/views/findings.h"

#include <gtest/gtest.h>

namespace trueup::projections {
namespace {

FindingEdge edge(std::uint64_t id, FindingState state, Reason reason, std::int64_t offset) {
    FindingEdge made;
    made.id = FindingId({0, id});
    made.rule = id % 2 == 0 ? "missing_pod" : "orphaned_pod";
    made.subject = "graph-instances/wrapper-" + std::to_string(id);
    made.state = state;
    made.reason = reason;
    made.offset = Offset(offset);
    made.opened = state == FindingState::kSuspected;
    return made;
}

TEST(FindingsView, TheNewestEdgeCountsAndAResolvedFindingGoes) {
    FindingsView view;
    view.take(edge(1, FindingState::kSuspected, Reason::kGrace, 10));
    view.take(edge(2, FindingState::kSuspected, Reason::kAwaitingProgress, 11));
    view.take(edge(1, FindingState::kConfirmed, Reason::kApproval, 12));
    FindingsView::Page page = view.list({});
    ASSERT_EQ(page.findings.size(), 2U);
    EXPECT_EQ(page.findings[0].reason, Reason::kApproval);
    EXPECT_EQ(page.seen, std::vector{Offset(12)});
    view.take(edge(1, FindingState::kResolved, Reason::kDone, 13));
    page = view.list({});
    ASSERT_EQ(page.findings.size(), 1U);
    EXPECT_EQ(page.findings[0].id, FindingId({0, 2}));
    EXPECT_EQ(page.seen, std::vector{Offset(13)});
    FindingEdge other = edge(3, FindingState::kSuspected, Reason::kGrace, 7);
    other.shard = PartitionNumber(2);
    view.take(other);
    EXPECT_EQ(view.list({}).seen, (std::vector{Offset(13), kNoOffset, Offset(7)}))
        << "each shard has a journal of its own";
}

TEST(FindingsView, AFilterNarrowsAndALimitSaysWhatItLeftOut) {
    FindingsView view;
    for (std::uint64_t id = 0; id < 10; ++id) {
        view.take(edge(id, FindingState::kSuspected, id < 4 ? Reason::kGrace : Reason::kVeto, 1));
    }
    EXPECT_EQ(view.list({.rule = "missing_pod"}).findings.size(), 5U);
    EXPECT_EQ(view.list({.reason = "veto"}).findings.size(), 6U);
    EXPECT_EQ(view.list({.subject = "graph-instances/wrapper-3"}).findings.size(), 1U);
    const FindingsView::Page page = view.list({.reason = "grace", .limit = 3});
    EXPECT_EQ(page.findings.size(), 3U);
    EXPECT_EQ(page.more, 1U);
}

TEST(FindingsView, TheFirstDigitsOfAnIdNameOneWhereNoOtherBeginsLikeThem) {
    FindingsView view;
    view.take(edge(1, FindingState::kSuspected, Reason::kGrace, 10));
    view.take(edge(0x10, FindingState::kSuspected, Reason::kGrace, 11));
    const std::string zeros(30, '0');
    const auto named = [&](const std::string& digits) {
        return view.list({.id = digits}).findings;
    };
    EXPECT_EQ(named(zeros).size(), 2U);
    ASSERT_EQ(named(zeros + "1").size(), 1U);
    EXPECT_EQ(named(zeros + "1")[0].id, FindingId({0, 0x10}));
    EXPECT_TRUE(named("f").empty());
}

TEST(FindingsView, BeyondItsBoundItCountsAndDoesNotGrow) {
    FindingsView view;
    const std::uint64_t many = FindingsView::kMost + 5;
    for (std::uint64_t id = 0; id < many; ++id) {
        view.take(edge(id, FindingState::kSuspected, Reason::kGrace, 1));
        view.take(edge(id, FindingState::kConfirmed, Reason::kVeto, 2));
    }
    EXPECT_EQ(view.list({.limit = many}).findings.size(), FindingsView::kMost);
    EXPECT_EQ(view.list({}).hidden, 5U);
    // Symptom: one that had room again was shown and counted as hidden for ever.
    view.take(edge(0, FindingState::kResolved, Reason::kDone, 3));
    view.take(edge(many - 1, FindingState::kConfirmed, Reason::kVeto, 4));
    EXPECT_EQ(view.list({}).hidden, 4U);
    for (std::uint64_t id = 1; id < many; ++id) {
        view.take(edge(id, FindingState::kResolved, Reason::kDone, 3));
    }
    EXPECT_TRUE(view.list({}).findings.empty());
    EXPECT_EQ(view.list({}).hidden, 0U);
}

}  // namespace
}  // namespace trueup::projections
