// Proves api/metrics.h, and policies/graph-instances.yaml: the names that dashboards of graph
// instances know (G18), from counters that say what came of commands, not how often something was
// tried (T0.7).
#include "api/metrics.h"

#include "policies/shipped.h"

#include <gtest/gtest.h>

namespace trueup::api {
namespace {

RuleView rule(const std::string& name, std::uint64_t detected, std::uint64_t mended) {
    RuleView view;
    view.rule = name;
    view.detected = detected;
    view.mended = mended;
    return view;
}

policy::Metric of_rule(const std::string& name, const std::string& rule) {
    policy::Metric metric;
    metric.name = name;
    metric.rule = rule;
    return metric;
}

policy::Metric of_count(const std::string& name, const std::string& count) {
    policy::Metric metric;
    metric.name = name;
    metric.count = count;
    return metric;
}

// The gauge of another policy went into the counter's family, and was shown as 0.
TEST(Metrics, AnotherKindOfANameIsLeftOut) {
    Snapshot first;
    first.policy = "a";
    first.rules = {rule("dead", 6, 5)};
    first.exports.metrics = {of_rule("workers", "dead")};
    Snapshot second;
    second.policy = "b";
    second.tallies = {{"idle", {}, {}, 7}};
    second.exports.metrics = {of_count("workers", "idle")};
    const std::string text = metrics_text({first, second});
    EXPECT_NE(text.find("\nworkers{policy=\"a\"} 6\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("workers{policy=\"b\"}"), std::string::npos) << text;
}

// A label without a name made Prometheus drop the whole page.
TEST(Metrics, ACountByAFieldHasALabelWhateverTheFileSays) {
    Snapshot snapshot;
    snapshot.tallies = {{"idle", "zone", "eu", 7}};
    snapshot.exports.metrics = {of_count("workers", "idle")};
    EXPECT_NE(metrics_text({snapshot}).find("\nworkers{zone=\"eu\"} 7\n"), std::string::npos);
}

TEST(Metrics, TheNamesOfG18AreThere_G18_T0_7) {
    Snapshot snapshot;
    snapshot.rules = {rule("orphaned_pod", 6, 5), rule("missing_pod", 4, 3),
                      rule("status_drift", 9, 2), rule("ttl_expired", 8, 7),
                      rule("inactive", 11, 10)};
    snapshot.policy = "graph-instances";
    snapshot.exports = policies::shipped_exports("graph-instances");
    snapshot.passes = 12;
    snapshot.pass_seconds = 25.5;
    snapshot.pass_bounds_ms = {1'000, 10'000};
    snapshot.pass_counts = {10, 1, 1};
    snapshot.tallies = {{"uncorrelated_rows", {}, {}, 1},
                        {"instances_without_pod_name", {}, {}, 13},
                        {"wrapper_pods", "phase", "Running", 14},
                        {"wrapper_pods", "phase", "Failed", 15},
                        {std::string(kUnknownWords), "rows", "status", 17}};
    SourceView rows;
    rows.name = "rows";
    rows.slot_wal_status = "extended";
    rows.slot_retained_bytes = 16;
    snapshot.sources = {rows};
    const std::string text = metrics_text({snapshot});
    for (const char* line :
         {"orphaned_pods_detected_total{policy=\"graph-instances\"} 6\n",
          "missing_pods_detected_total{policy=\"graph-instances\"} 4\n",
          "status_drift_fixed_total{policy=\"graph-instances\"} 2\n",
          "ttl_expired_instances_total{policy=\"graph-instances\"} 7\n",
          "inactive_instances_terminated_total{policy=\"graph-instances\"} 10\n",
          "instances_without_pod_name{policy=\"graph-instances\"} 13\n",
          "wrapper_pods_total{policy=\"graph-instances\",phase=\"Running\"} 14\n",
          "wrapper_pods_total{policy=\"graph-instances\",phase=\"Failed\"} 15\n",
          "reconciliation_passes_total{policy=\"graph-instances\"} 12\n",
          "reconciliation_pass_duration_seconds_count{policy=\"graph-instances\"} 12\n",
          "reconciliation_pass_duration_seconds_bucket{policy=\"graph-instances\",le=\"10\"} 11\n",
          "reconciliation_pass_duration_seconds_sum{policy=\"graph-instances\"} 25.5\n",
          "trueup_source_slot_retained_bytes{policy=\"graph-instances\",source=\"rows\"} 16\n",
          "trueup_source_slot_wal_status{policy=\"graph-instances\",source=\"rows\",status="
          "\"extended\"} 1\n",
          "trueup_policy_counts{policy=\"graph-instances\",count=\"uncorrelated_rows\"} 1\n",
          "trueup_policy_unknown_words{policy=\"graph-instances\",role=\"rows\",field=\"status\"} "
          "17\n"}) {
        EXPECT_NE(text.find("\n" + std::string(line)), std::string::npos) << line << text;
    }
}

}  // namespace
}  // namespace trueup::api
