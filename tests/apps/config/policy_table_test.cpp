// Proves apps/config/policy_table.h: what a person reads says what the text says, and what it
// leaves out.
#include "apps/config/policy_table.h"

#include "policies/shipped.h"

#include <gtest/gtest.h>

#include <string>

namespace trueup::config {
namespace {

void expect_line(const std::string& table, const std::string& line) {
    EXPECT_NE(table.find("\n" + line + "\n"), std::string::npos) << line << "\n---\n" << table;
}

TEST(PolicyTable, SaysWhoClaimsAndWhatIsDone) {
    const std::string table = policy_table(*policies::shipped("graph-instances"));
    EXPECT_TRUE(table.starts_with("policy    graph-instances: the name of a wrapper pod\n"));
    expect_line(table,
                "role      rows: row, by coalesce(pod_name, 'wrapper-' || url_slug); claims where "
                "status is running or starting (not failed, hibernated, stopping)");
    expect_line(table,
                "rule      orphaned_pod: pod without an instance row\n"
                "  when        pods: one\n"
                "              rows: none, proven\n"
                "  does        delete pods\n"
                "  approval    while uncorrelated_rows is not 0\n"
                "  only after  grace 1m; the other side is known to be complete up to 30s after it "
                "was first seen");
    expect_line(table,
                "  does        delete pods; then delete services; then delete ingresses; then "
                "update rows: status = 'stopping'");
    expect_line(table, "  past        rows.created_at + rows.ttl");
    expect_line(table,
                "rule      ttl_expired: instance outlived its TTL (off until it is switched on)");
}

TEST(PolicyTable, SaysWhatANotTakesAndWhatAListLeaves) {
    const std::string machines = policy_table(*policies::shipped("ec2-workers"));
    EXPECT_NE(machines.find("instances: none, proven with state is not terminated (but pending, "
                            "running, shutting-down, stopped, stopping), in workers.aws_region"),
              std::string::npos)
        << machines;
    EXPECT_NE(machines.find("status is not PENDING or TERMINATED (any other value)"),
              std::string::npos)
        << machines;
    const std::string storage = policy_table(*policies::shipped("storage-instances"));
    expect_line(storage, "condition orphan, of instances, by the first line that matches");
    expect_line(storage, "          else → yes");
}

TEST(PolicyTable, EveryShippedPolicyHasOne) {
    for (const std::string& name : policies::shipped_names()) {
        const std::string table = policy_table(*policies::shipped(name));
        for (const policy::Rule& rule : policies::shipped(name)->rules) {
            EXPECT_NE(table.find("rule      " + rule.name + ": "), std::string::npos) << rule.name;
        }
    }
}

}  // namespace
}  // namespace trueup::config
