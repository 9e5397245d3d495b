// Proves apps/findings_text.h: a cleanup approves the deletions of one rule, as they are shown
// (G16).
#include "apps/findings_text.h"

#include <gtest/gtest.h>

namespace trueup::apps {
namespace {

FindingsJson finding(const std::string& rule, const std::string& does, bool approvable = true) {
    return {{"rule", rule}, {"does", does}, {"reason", "approval"}, {"approvable", approvable}};
}

FindingsJson page(std::vector<FindingsJson> findings) {
    return {{"findings", std::move(findings)}};
}

TEST(Cleanup, IsOfTheOnlyRuleWhoseDeletionsWait) {
    const auto orphan = finding("orphaned_pod", "delete pods");
    const auto rule = cleanup_rule(page({finding("missing_pod", "update rows"), orphan, orphan,
                                         finding("ttl_expired", "delete pods, update rows"),
                                         finding("leftover", "delete pods", false)}),
                                   {});
    ASSERT_TRUE(rule) << rule.error().what;
    EXPECT_EQ(*rule, "orphaned_pod");
    EXPECT_EQ(*cleanup_rule(page({finding("missing_pod", "update rows")}), {}), "");
}

// Above a hundred findings one request approves all that wait for a reason: also what was not
// shown.
TEST(Cleanup, OfSeveralRulesAsksWhichIsMeant) {
    const auto both =
        page({finding("orphaned_pod", "delete pods"), finding("leftover", "delete pods")});
    const auto refused = cleanup_rule(both, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().what,
              "deletions of 2 rules wait (leftover, orphaned_pod), and a cleanup is of one; write "
              "--rule leftover");
    EXPECT_EQ(*cleanup_rule(both, "orphaned_pod"), "orphaned_pod");
}

TEST(Cleanup, OfARuleThatDoesMoreThanDeleteIsRefused) {
    const auto refused =
        cleanup_rule(page({finding("ttl_expired", "delete pods, update rows")}), "ttl_expired");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().what,
              "ttl_expired does more than one deletion (delete pods, update rows); write findings "
              "approve --rule ttl_expired");
}

TEST(Cleanup, AnEngineOfABuildBeforeSaysByTheReasonWhatWaits) {
    FindingsJson old = finding("orphaned_pod", "delete pods");
    old.erase("approvable");
    EXPECT_TRUE(is_approvable(old));
    old["reason"] = "grace";
    EXPECT_FALSE(is_approvable(old));
}

}  // namespace
}  // namespace trueup::apps
