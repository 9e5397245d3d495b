// Proves policies.md §6's list_scan and R3, R4 of objects that are known by a label: what a command
// rests on is asked by that label, and others may have it (rule).
#include "policies/shipped.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trueup::testing {
namespace {

using Kind = Predicate::Kind;

/// graph-instances, where pods are known by their label `worker`.
Settings by_label() {
    Settings settings = graph_settings();
    policy::Policy text = *settings.text;
    for (policy::Role& role : text.roles) {
        if (role.name == "pods") role.key.text = "label.worker";
    }
    settings.text = std::move(text);
    return settings;
}

bool has(const CommandDraft& draft, const Predicate& wanted) {
    return std::find(draft.read_set.begin(), draft.read_set.end(), wanted) != draft.read_set.end();
}

// A pod of any name may carry the label: that none had the subject's name was taken for none at
// all.
TEST(LabelKeys, ThatThereIsNoneIsAskedByTheLabel) {
    JournalScript s(by_label());
    s.all_known();
    s.quiet_until(90s);
    s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    s.quiet_until(400s);
    ASSERT_FALSE(s.commands().empty());
    const CommandDraft& draft = s.commands().front().draft;
    EXPECT_EQ(draft.action.kind, Action::Kind::kUpdateRow);
    EXPECT_TRUE(has(draft, {Kind::kNone, "pods", "", "label.worker", "wrapper-7"}));
    EXPECT_FALSE(has(draft, {Kind::kNone, "pods", "", "name", "wrapper-7"}));
}

// Its label may say by now that it is another subject's.
TEST(LabelKeys, WhatIsDeletedStillHasTheLabel) {
    JournalScript s(by_label());
    s.all_known();
    s.quiet_until(90s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(400s);
    ASSERT_FALSE(s.commands().empty());
    const CommandDraft& draft = s.commands().front().draft;
    EXPECT_EQ(draft.action.kind, Action::Kind::kDeletePod);
    EXPECT_TRUE(has(draft, {Kind::kField, "pods", "a", "label.worker", "wrapper-7"}));
}

// Another pod with the label, that no view had yet, ran on while its row was written off.
TEST(LabelKeys, WhoeverIsRestedOnIsStillTheOnlyOne) {
    JournalScript s(by_label());
    s.all_known();
    s.quiet_until(90s);
    s.together([&] {
        s.pod({.name = "wrapper-7", .uid = "a", .version = 11, .phase = "Failed"});
        s.row({.pk = "7", .name = "wrapper-7", .version = 50});
    });
    s.quiet_until(400s);
    ASSERT_FALSE(s.commands().empty());
    const CommandDraft& draft = s.commands().front().draft;
    EXPECT_EQ(draft.action.kind, Action::Kind::kUpdateRow);
    EXPECT_TRUE(has(draft, {Kind::kOnly, "pods", "a", "label.worker", "wrapper-7"}));
}

}  // namespace
}  // namespace trueup::testing
