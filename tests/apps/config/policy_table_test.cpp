// Proves apps/config/policy_table.h: what a person reads says what the text says, and what it
// leaves out.
#include "apps/config/policy_table.h"

#include "policies/shipped.h"
#include "stories/mutants.h"

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

/// As if it had no other rule: which of them overlap takes long to tell.
std::string table_of(policy::Policy policy, const std::string& rule) {
    std::erase_if(policy.rules, [&](const policy::Rule& each) { return each.name != rule; });
    return policy_table(policy);
}

// Symptom: of several pods another one was kept than before, and `policy diff` printed no line of
// it: what is kept, what a ledger counts and what an object is made from were in no table.
TEST(PolicyTable, NoWordOfAFileIsLeftOutOrChangedWithoutALine) {
    std::size_t changed = 0;
    for (const std::string& name : policies::shipped_names()) {
        const policy::Policy& policy = *policies::shipped(name);
        for (const stories::Mutant& mutant : stories::mutants_of(policy)) {
            EXPECT_NE(table_of(mutant.policy, mutant.rule), table_of(policy, mutant.rule))
                << name << ": " << mutant.text();
            ++changed;
        }
    }
    EXPECT_GT(changed, 700U);
}

TEST(PolicyTable, SaysWhatIsKeptWhatIsCountedAndWhatAnObjectIsMadeFrom) {
    const std::string processors = policy_table(*policies::shipped("processors"));
    expect_line(
        processors,
        "  when        pods: one too many with deleting is false; kept is, in this order: "
        "phase is not Failed or Succeeded (but Pending, Running, Unknown); then spec is that "
        "of wanted.spec; then the latest created");
    expect_line(processors,
                "  does        create pods '{wanted.name}', made by processor_pod, made from "
                "wanted.spec");
    policy::Policy policy = *policies::shipped("processors");
    policy.stale_after = Millis(90'000);
    policy.ledger->belongs.kind = policy::Condition::Kind::kTest;
    policy.ledger->belongs.test.field = "label.mode";
    policy.ledger->belongs.test.values = {"blue"};
    policy.ledger->known = {"wanted", "ends"};
    policy.roles.front().as_of_field = "imports.filled";
    policy.roles.front().as_of = {"imports", "filled"};
    policy.roles.front().as_of_at = "nightly";
    policy::Step& step = policy.rules.front().cases.front().steps.front();
    policy::Template named;
    named.key = "mode";
    named.kind = policy::Template::Kind::kText;
    named.text = {{policy::Piece::Kind::kLiteral, "blue", {}}};
    step.object = policy::Template{};
    step.object->parts.push_back(named);
    const std::string table = policy_table(policy);
    expect_line(table, "  stale       a source that was silent for 90s");
    EXPECT_NE(table.find("as of imports.filled of nightly"), std::string::npos) << table;
    EXPECT_NE(table.find("; only where label.mode is blue"), std::string::npos) << table;
    EXPECT_NE(table.find("; and what wanted.ends lists"), std::string::npos) << table;
    EXPECT_NE(table.find("create pods '{wanted.name}', as {mode: 'blue'}"), std::string::npos)
        << table;
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
