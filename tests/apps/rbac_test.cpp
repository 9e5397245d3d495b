// Proves apps/rbac.h: the rights that are printed are those that the configuration takes, for each
// account and namespace.
#include "apps/rbac.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace trueup::apps {
namespace {

std::string rights(const Result<config::Config>& config) {
    EXPECT_TRUE(config) << config.error().what;
    return config ? rbac_of(*config, {"ops", "trueup"}) : "";
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(Rbac, IsWhatTheExampleTakesAndNoMore) {
    const std::string text = rights(config::load_config(TRUEUP_EXAMPLES "/graph-instances.yaml"));
    const std::string name = "metadata: {name: ops-trueup-graph-instances";
    const std::string binding =
        "---\n"
        "apiVersion: rbac.authorization.k8s.io/v1\n"
        "kind: RoleBinding\n"
        "metadata: {name: NAME, namespace: graph}\n"
        "subjects:\n"
        "  - {kind: ServiceAccount, name: trueup, namespace: ops}\n"
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: NAME}\n";
    const auto bound = [&](const std::string& role) {
        std::string as = binding;
        for (std::size_t at = 0; (at = as.find("NAME")) != std::string::npos;) {
            as.replace(at, 4, role);
        }
        return as;
    };
    const std::string head =
        "apiVersion: rbac.authorization.k8s.io/v1\n"
        "kind: Role\n";
    EXPECT_EQ(text,
              "# In the cluster in which it runs:\n" + head + name +
                  ", namespace: graph}\n"
                  "rules:\n"
                  "  - {apiGroups: [\"\"], resources: [namespaces], verbs: [get]}\n"
                  "  - {apiGroups: [\"\"], resources: [pods], verbs: [get, list, watch]}\n"
                  "  - {apiGroups: [\"\"], resources: [services], verbs: [get, list, watch]}\n"
                  "  - {apiGroups: [networking.k8s.io], resources: [ingresses], verbs: "
                  "[get, list, watch]}\n" +
                  bound("ops-trueup-graph-instances") +
                  "---\n"
                  "# What the commands of rules take, once one acts.\n" +
                  head + name +
                  "-writer, namespace: graph}\n"
                  "rules:\n"
                  "  - {apiGroups: [\"\"], resources: [pods], verbs: [delete]}\n"
                  "  - {apiGroups: [\"\"], resources: [services], verbs: [delete]}\n"
                  "  - {apiGroups: [networking.k8s.io], resources: [ingresses], verbs: "
                  "[delete]}\n" +
                  bound("ops-trueup-graph-instances-writer"));
}

constexpr const char* kPolicy = R"(policy: boxes
language: 1
subject: a box
roles:
  boxes: {kind: object, key: name, fields: {told: {words: [busy, idle], text: status.told}, plan: {text: spec.plan}}}
  rows: {kind: row, key: box, fields: {box: text, plan: text}}
rules:
  untold:
    finds: box whose status does not say busy
    when: {boxes: {one: {told: idle}}, rows: one}
    do: {update: boxes, subresource: status, set: {told: busy}}
  drift:
    finds: box of another plan
    when: {boxes: {one: {plan: {not: {same_as: rows.plan}}}}, rows: one}
    do: {update: boxes, set: {plan: "{rows.plan}"}}
)";

constexpr const char* kConfig = R"(version: 1
bus: {embedded: {}}
state_dir: ./state
sources:
  boxes:
    kubernetes: {in_cluster: true, namespace: "on", resource: example.org/v1/boxes}
  rows:
    postgres: {conninfo_env: DB, table: public.boxes}
policies:
  - name: boxes
    file: boxes.yaml
    roles: {boxes: boxes, rows: rows}
    rules: {untold: {mode: observe}, drift: {mode: "off"}}
executors:
  update_object: {sources: [boxes]WRITER}
)";

class RbacOf : public ::testing::Test {
  protected:
    static std::string with_rule(const std::string& rule) { return kPolicy + rule; }
    std::string of(std::string config, const std::string& writer,
                   const std::string& policy = kPolicy) {
        std::ofstream(dir / "boxes.yaml") << policy;
        config.replace(config.find("WRITER"), 6, writer);
        return rights(config::parse_config(config, dir / "trueup.yaml"));
    }
    trueup::testing::TempDir dir;
};

TEST_F(RbacOf, APatchOfAStatusIsARightOfItsOwn) {
    const std::string text = of(kConfig, "");
    EXPECT_TRUE(has(text, "resources: [boxes], verbs: [get, list, watch]}")) << text;
    EXPECT_TRUE(has(text, "resources: [boxes], verbs: [patch]}")) << text;
    EXPECT_TRUE(has(text, "resources: [boxes/status], verbs: [patch]}")) << text;
    EXPECT_FALSE(has(text, "delete")) << text;
    EXPECT_TRUE(has(text, "namespace: \"on\"}")) << "not a boolean: " << text;
}

TEST_F(RbacOf, ToCreateIsARightOfItsOwn) {
    const std::string makes = with_rule(
        "  missing:\n    finds: no box\n    when: {rows: one, boxes: none}\n"
        "    do: {create: boxes, name: '{subject}', object: {kind: Box}}\n");
    std::string config = kConfig;
    config.replace(config.find("update_object"), 13, "create_object");
    const std::string text = of(config, "", makes);
    EXPECT_TRUE(has(text, "resources: [boxes], verbs: [create]}")) << text;
    EXPECT_FALSE(has(text, "patch")) << text;
}

TEST_F(RbacOf, WhatAnotherAccountWritesIsItsOwn) {
    const std::string text = of(kConfig, ", in_cluster: true");
    EXPECT_TRUE(has(text, "{kind: ServiceAccount, name: trueup-writer, namespace: ops}")) << text;
    EXPECT_TRUE(has(text, "{kind: ServiceAccount, name: trueup, namespace: ops}")) << text;
}

// Symptom: rights to delete in every namespace were asked for, where no rule can act.
TEST_F(RbacOf, WhereNoRuleCanActNoRightToWriteIsAskedFor) {
    std::string config = kConfig;
    config.replace(config.find("namespace: \"on\""), 15, "all_namespaces: true");
    const std::string text = of(config, "");
    EXPECT_TRUE(has(text, "kind: ClusterRole\nmetadata: {name: ops-trueup-boxes}\n")) << text;
    EXPECT_FALSE(has(text, "patch")) << text;
    EXPECT_FALSE(has(text, "[namespaces]")) << "it asks for no namespace: " << text;
}

TEST(ServiceAccounts, AreANamespaceAndAName) {
    const auto account = parse_account("ops/trueup");
    ASSERT_TRUE(account);
    EXPECT_EQ(account->name_space + " " + account->name, "ops trueup");
    for (const char* none : {"", "trueup", "a/", "/b", "A/b", "a/b/c", "a/b c", "a/-"}) {
        EXPECT_FALSE(parse_account(none)) << none;
    }
}

}  // namespace
}  // namespace trueup::apps
