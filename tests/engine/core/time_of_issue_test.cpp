// Proves `{now}` in what a step sets: the time at which the command was issued (core/findings.cpp,
// docs/adr/0033).
#include "engine/base/rfc3339.h"
#include "policies/shipped.h"
#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trueup::testing {
namespace {

policy::Text now() { return {{policy::Piece::Kind::kNow, {}, {}}}; }

/// graph-instances, whose missing_pod also sets these.
Settings also_setting(std::vector<policy::Assigned> sets, Mode mode = Mode::kEnforce) {
    Settings settings = graph_settings(mode);
    policy::Policy text = *settings.text;
    for (policy::Rule& rule : text.rules) {
        if (rule.name != "missing_pod") continue;
        std::vector<policy::Assigned>& all = rule.cases.front().steps.front().sets;
        all.insert(all.end(), sets.begin(), sets.end());
    }
    settings.text = Shared<policy::Policy>(std::move(text));
    return settings;
}

const Assignment* ended_at(const Command& command) {
    const auto& sets = command.draft.action.sets;
    const auto found = std::find_if(sets.begin(), sets.end(),
                                    [](const Assignment& set) { return set.column == "ended_at"; });
    return found == sets.end() ? nullptr : &*found;
}

/// A row without its pod since 100 s; now it is `until`.
JournalScript row_alone_at(Millis until, Settings settings) {
    JournalScript s(std::move(settings));
    s.all_known();
    s.quiet_until(100s);
    s.row({.pk = "7", .name = "wrapper-7", .version = 5});
    s.quiet_until(until);
    return s;
}

TEST(TimeOfIssue, IsTheSameInEachDeliveryOfACommand) {
    JournalScript s = row_alone_at(135s, also_setting({{"ended_at", now()}}));
    ASSERT_EQ(s.commands().size(), 1U);
    const Command first = s.commands().front();
    ASSERT_NE(ended_at(first), nullptr);
    EXPECT_TRUE(ended_at(first)->now);
    EXPECT_EQ(ended_at(first)->value, rfc3339(to_millis(first.issued)));
    s.quiet_until(300s);
    ASSERT_GT(s.commands().size(), 1U) << "nobody answered";
    for (const Command& again : s.commands()) {
        EXPECT_TRUE(again.id != first.id || ended_at(again)->value == ended_at(first)->value);
    }
}

// Had it been the time of the judgement, what was approved would have changed with every record.
TEST(TimeOfIssue, IsNoPartOfWhatIsApproved) {
    JournalScript s = row_alone_at(135s, also_setting({{"ended_at", now()}}, Mode::kApprove));
    ASSERT_TRUE(s.commands().empty());
    const FindingEdge seen = s.findings().back();
    EXPECT_EQ(seen.reason, Reason::kApproval);
    s.quiet_until(200s);
    EXPECT_EQ(s.findings().back().offset, seen.offset) << "what it would do is the same";
    Request approve;
    approve.kind = RequestKind::kApprove;
    approve.scope.subject = seen.subject;
    approve.scope.finding_offset = seen.offset;
    s.request(approve);
    ASSERT_EQ(s.commands().size(), 1U) << s.answered().sentence;
    EXPECT_EQ(ended_at(s.commands().front())->value, rfc3339(to_millis(broker(200s))));
}

TEST(TimeOfIssue, StandsAloneAndBesideSomethingThatTellsWhatWasDone) {
    const auto flaw = [](const Settings& settings) {
        const Result<core::Plan> plan = core::compile(*settings.text, settings);
        return plan ? std::string("none") : plan.error().what;
    };
    EXPECT_EQ(flaw(also_setting({{"ended_at", now()}})), "none");
    policy::Text part = now();
    part.push_back({policy::Piece::Kind::kLiteral, " at the latest", {}});
    EXPECT_NE(flaw(also_setting({{"note", part}})).find("{now} is only part of a text"),
              std::string::npos);
    Settings only = also_setting({{"ended_at", now()}});
    policy::Policy text = *only.text;
    for (policy::Rule& rule : text.rules) {
        if (rule.name != "missing_pod") continue;
        rule.cases.front().steps.front().sets = {{"ended_at", now()}};
    }
    only.text = Shared<policy::Policy>(std::move(text));
    EXPECT_NE(flaw(only).find("sets nothing but {now}"), std::string::npos);
}

}  // namespace
}  // namespace trueup::testing
