// Proves connectors/kafka/membership.h without a broker: what its group says of partitions is
// followed at once. tests/ports/kafka_membership_test.cpp has the members of a real group.
#include "connectors/kafka/membership.h"

#include <gtest/gtest.h>

namespace trueup::connectors::kafka {
namespace {

// A partition that was taken back was served until the group had said who has what, beside the
// member that had it by then.
TEST(KafkaMembership, WhatIsTakenBackIsNotOursFromThatMomentOn) {
    Settings settings;
    settings.prefix = "trueup";
    const Partitions some = one_partition(settings, {Topic::kCommands, PartitionNumber(3)}, 0);
    EXPECT_EQ(ours_after(RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS, *some),
              std::set<PartitionNumber>{PartitionNumber(3)});
    EXPECT_TRUE(ours_after(RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS, *some).empty());
    EXPECT_TRUE(ours_after(RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, *some).empty());
}

}  // namespace
}  // namespace trueup::connectors::kafka
