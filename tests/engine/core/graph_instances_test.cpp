// Proves what no story of policies/ can say of the rules for graph instances: what a command
// names and relies on, what is counted, and the skew between partitions (G1, G2, G3, G25).
#include "engine/model/object_builder.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

namespace trueup::testing {
namespace {

TEST(OrphanedPod, TheCommandNamesTheUidAndWhatWasRead_G1) {
    JournalScript s = quiet_world();
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    const Offset seen_at = s.records().back().offset;
    s.quiet_until(160s);
    ASSERT_EQ(s.commands().size(), 1U);
    const Command& command = s.commands().front();
    EXPECT_EQ(command.draft.target, (Target{"pods", "a", "wrapper-7", "graphs"}));
    EXPECT_EQ(command.draft.action.kind, Action::Kind::kDeletePod);
    EXPECT_EQ(command.draft.action.grace_seconds, std::nullopt) << "the pod's own holds";
    const std::vector<Predicate> read{
        {Predicate::Kind::kNone, "rows", {}, "key", "wrapper-7"},
        {Predicate::Kind::kNone, "rows", {}, "pod_name", "wrapper-7"},
        {Predicate::Kind::kExists, "pods", "a", {}, {}},
        {Predicate::Kind::kNoVeto, "pods", "a", {}, {}},
    };
    EXPECT_EQ(command.draft.read_set, read);
    EXPECT_EQ(command.evidence, std::vector{seen_at});
    EXPECT_EQ(command.issued, broker(160s));
    EXPECT_EQ(command.not_after, broker(220s));
    EXPECT_EQ(command.subject, "graph-instances/wrapper-7");
    EXPECT_EQ(command.rule, "orphaned_pod");
    EXPECT_EQ(command.finding_id, s.findings().front().id);
    EXPECT_EQ(s.findings().back().command_id, command.id);
    EXPECT_EQ(s.findings().back().sentence,
              "wrapper-7: pod without an instance row; delete_pod ordered (for 60 s)");
}

TEST(OrphanedPod, SkewBetweenPartitionsWidensTheWindow) {
    Settings settings = graph_settings();
    settings.max_broker_skew = 1s;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s).pod({.name = "wrapper-7", .uid = "a", .version = 11});
    while (s.now() < 160s) s.at(s.now() + 5s).progress("pods");
    s.progress("rows", 131s);
    EXPECT_TRUE(s.commands().empty());
    s.progress("rows", 131s + 1ms);
    EXPECT_EQ(s.commands().size(), 1U);
}

TEST(OrphanedPod, ALiveRowWhosePodAnswersToItsSlugIsCorrelated_G25) {
    JournalScript s = quiet_world();
    s.row({.pk = "9", .name = "wrapper-9", .version = 50, .tracked = false});
    EXPECT_EQ(s.meta().tallies[0], 1U);
    s.pod({.name = "wrapper-9", .uid = "c", .version = 11});
    EXPECT_EQ(s.meta().tallies[0], 0U);
    s.pod_gone("wrapper-9", "c", 12);
    EXPECT_EQ(s.meta().tallies[0], 1U);
    s.row_gone("wrapper-9", "9", 51);
    EXPECT_EQ(s.meta().tallies[0], 0U);
}

TEST(OrphanedPod, ARowWithoutNameAndSlugIsAReferenceThatHoldsAll_G25) {
    JournalScript s = quiet_world();
    const std::string object = ObjectBuilder().add_null("pod_name").add("status", "running").take();
    ChangeView row;
    row.kind = ChangeKind::kUpsert;
    row.object_id = "public.instances/3";
    row.subject_key = "!rows/public.instances/3";
    row.version = {50, 0};
    row.object = object;
    s.change("rows", row);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(160s);
    EXPECT_EQ(s.meta().tallies[0], 1U);
    EXPECT_EQ(s.news(),
              "100s suspected orphaned_pod wrapper-7 a: grace\n"
              "160s confirmed orphaned_pod wrapper-7 a: uncorrelated_rows\n");
}

// The pods that such a row may own waited, and nothing said for which row.
TEST(UntrackedRecord, ARowWhosePodNameCanBeNoneIsReported_G25) {
    Settings settings = graph_settings();
    for (RuleSettings& rule : settings.rules) {
        if (rule.rule == "untracked_record") rule.mode = Mode::kObserve;
    }
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s);
    ChangeView row;
    row.kind = ChangeKind::kUpsert;
    row.object_id = "public.instances/3";
    row.subject_key = "!rows/public.instances/3";
    row.version = {50, 0};
    const std::string live =
        ObjectBuilder().add("pod_name", "graphs/wrapper-3").add("status", "running").take();
    row.object = live;
    s.change("rows", row);
    EXPECT_EQ(s.news(),
              "100s confirmed untracked_record public.instances/3 public.instances/3: "
              "report_only\n");
}

TEST(MissingPod, TheCommandSaysWhatTheRowIsToldAndWhatWasRead_G2) {
    JournalScript s = quiet_world();
    s.row({.pk = "7", .name = "wrapper-7", .version = 50, .status = "starting"});
    s.quiet_until(135s);
    ASSERT_EQ(s.commands().size(), 1U);
    const CommandDraft& draft = s.commands().front().draft;
    EXPECT_EQ(draft.target, (Target{"rows", "public.instances/7", "wrapper-7", ""}));
    EXPECT_EQ(draft.action.kind, Action::Kind::kUpdateRow);
    const std::vector<Assignment> sets{
        {"error_code", "UNEXPECTED_TERMINATION"},
        {"error_message", "Pod wrapper-7 disappeared from Kubernetes"},
        {"status", "failed"}};
    EXPECT_EQ(draft.action.sets, sets);
    const std::vector<Predicate> read{
        {Predicate::Kind::kNone, "pods", {}, "name", "wrapper-7"},
        {Predicate::Kind::kField, "rows", "public.instances/7", "pod_name", "wrapper-7"},
        {Predicate::Kind::kField, "rows", "public.instances/7", "status", "starting"},
        {Predicate::Kind::kNoVeto, "rows", "public.instances/7", {}, {}}};
    EXPECT_EQ(draft.read_set, read);
}

TEST(StatusDrift, ARunningRowWhosePodFailedIsFailedOnceBothSawEachOther_G3) {
    JournalScript s = quiet_world();
    s.together([&] {
        s.row({.pk = "7", .name = "wrapper-7", .version = 50});
        s.pod({.name = "wrapper-7", .uid = "a", .version = 11, .phase = "Failed"});
    });
    EXPECT_EQ(s.news(),
              "100s suspected status_drift wrapper-7 public.instances/7: awaiting_progress\n");
    s.quiet_until(105s);
    EXPECT_EQ(s.news(),
              "105s commanded status_drift wrapper-7 public.instances/7\n"
              "105s update_row wrapper-7 public.instances/7\n");
    const CommandDraft& draft = s.commands().front().draft;
    EXPECT_EQ(draft.target, (Target{"rows", "public.instances/7", "wrapper-7", ""}));
    const std::vector<Assignment> sets{{"error_code", "UNEXPECTED_TERMINATION"},
                                       {"error_message", "Pod entered Failed phase"},
                                       {"status", "failed"}};
    EXPECT_EQ(draft.action.sets, sets);
    const std::vector<Predicate> read{
        {Predicate::Kind::kExists, "pods", "a", "name", "wrapper-7"},
        {Predicate::Kind::kField, "pods", "a", "phase", "Failed"},
        {Predicate::Kind::kNoVeto, "pods", "a", {}, {}},
        {Predicate::Kind::kField, "pods", "a", "in_scope", "true"},
        {Predicate::Kind::kField, "rows", "public.instances/7", "pod_name", "wrapper-7"},
        {Predicate::Kind::kField, "rows", "public.instances/7", "status", "running"},
        {Predicate::Kind::kNoVeto, "rows", "public.instances/7", {}, {}}};
    EXPECT_EQ(draft.read_set, read);
    EXPECT_EQ(s.commands().front().evidence.size(), 1U) << "both in one journal record";
}

}  // namespace
}  // namespace trueup::testing
