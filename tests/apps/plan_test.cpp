// Proves apps/plan.h: how a plan reads, for people and for programs.
#include "apps/plan.h"

#include "policies/shipped.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace trueup::apps {
namespace {

Rehearsed found() {
    Rehearsed rehearsed;
    CommandDraft erase;
    erase.target = {"pods", "uid-1", "wrapper-1", {}};
    erase.action.kind = Action::Kind::kDeletePod;
    CommandDraft update;
    update.target = {"rows", "public.instances/2", {}, {}};
    update.action.kind = Action::Kind::kUpdateRow;
    update.action.sets = {{"status", "failed"}};
    rehearsed.proposals = {{"orphaned_pod",
                            "graph-instances/wrapper-1",
                            "uid-1",
                            "pod without an instance row",
                            erase,
                            {}},
                           {"missing_pod",
                            "graph-instances/wrapper-2",
                            "public.instances/2",
                            "row whose pod is gone",
                            update,
                            {"mode observe", "budget"}},
                           {"finished_pod",
                            "graph-instances/wrapper-3",
                            "public.instances/3",
                            "row says running, pod has Succeeded",
                            {},
                            {"report_only"}}};
    rehearsed.subjects = 8;
    rehearsed.wrong = 2;
    return rehearsed;
}

const Settings kSettings = policies::usual_settings("graph-instances", Mode::kEnforce);

TEST(Plan, EachFindingSaysWhatWouldBeDoneAndWhatWouldHoldIt) {
    EXPECT_EQ(plan_text(kSettings, found()),
              "orphaned_pod (enforce): 1 found\n  wrapper-1: pod without an instance row; "
              "delete_pod wrapper-1 (uid uid-1)\nmissing_pod (enforce): 1 found\n  wrapper-2: row "
              "whose pod is gone; update_row public.instances/2 status='failed'  [held: mode "
              "observe, budget]\nfinished_pod (enforce): 1 found\n  wrapper-3: row says running, "
              "pod has Succeeded; nothing would be done (report_only)\n3 found; something would be "
              "done about 2 of 8 subjects (25 %); nothing was written\n");
    Rehearsed nothing;
    nothing.subjects = 8;
    EXPECT_EQ(plan_text(kSettings, nothing), "nothing to do: 8 subjects, no findings\n");
}

TEST(Plan, TooMuchOfTheWorldIsSaidToBe) {
    Rehearsed rehearsed = found();
    rehearsed.wrong = 11;
    rehearsed.subjects = 20;
    const std::string text = plan_text(kSettings, rehearsed);
    EXPECT_NE(text.find("quarantined until `trueup unquarantine NAME`"), std::string::npos) << text;
}

TEST(Plan, ASourceThatShowsTooLittleIsNamed) {
    Rehearsed rehearsed = found();
    rehearsed.too_few = {{"pods", 0, 1}};
    const std::string text = plan_text(kSettings, rehearsed);
    EXPECT_NE(text.find("source pods shows 0 objects, but at least 1 are expected"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("`trueup unquarantine pods`"), std::string::npos) << text;
    EXPECT_EQ(nlohmann::json::parse(plan_json(kSettings, rehearsed))["quarantined"], true);
    rehearsed.proposals.clear();
    const std::string nothing = plan_text(kSettings, rehearsed);
    EXPECT_NE(nothing.find("source pods shows 0 objects"), std::string::npos) << nothing;
    EXPECT_EQ(nothing.find("no findings"), std::string::npos) << nothing;
}

// Symptom: a grace was shortened with the mode, and only the log of the next start said so.
TEST(Plan, WhatIsLooserThanBeforeIsNamed) {
    const Loosening loosening{{"orphaned_pod: mode observe -> enforce", "stale_after 45s -> 90s"},
                              {}};
    const std::string text = plan_text(kSettings, found(), loosening);
    EXPECT_TRUE(text.ends_with(
        "nothing was written\nlooser than what is in force: orphaned_pod: mode observe -> "
        "enforce\nlooser than what is in force: stale_after 45s -> 90s\n"))
        << text;
    const auto json = nlohmann::json::parse(plan_json(kSettings, found(), loosening));
    EXPECT_EQ(json["looser"], nlohmann::json(loosening.looser));
    EXPECT_FALSE(json.contains("not_compared"));
}

TEST(Plan, WhereNoEngineAnswersItIsSaidThatNothingWasCompared) {
    EngineAddress nowhere;
    nowhere.state_dir = "/nonexistent";
    const Loosening loosening = loosening_of(nowhere, kSettings);
    const std::string text = plan_text(kSettings, found(), loosening);
    EXPECT_NE(text.find("\nnot compared with what is in force: no engine is running in "),
              std::string::npos)
        << text;
    const auto json = nlohmann::json::parse(plan_json(kSettings, found(), loosening));
    EXPECT_FALSE(json.contains("looser")) << "an empty list would say that nothing is";
    EXPECT_EQ(json["not_compared"], loosening.unknown);
}

TEST(Plan, ProgramsReadTheSame) {
    const nlohmann::json plan = nlohmann::json::parse(plan_json(kSettings, found()));
    EXPECT_EQ(plan["subjects"], 8);
    EXPECT_EQ(plan["wrong"], 2);
    EXPECT_EQ(plan["quarantined"], false);
    EXPECT_EQ(plan["rules"]["missing_pod"]["found"], 1);
    const nlohmann::json& missing = plan["findings"][1];
    EXPECT_EQ(missing["command"]["action"], "update_row");
    EXPECT_EQ(missing["command"]["sets"]["status"], "failed");
    EXPECT_EQ(missing["held"], (nlohmann::json{"mode observe", "budget"}));
    EXPECT_FALSE(plan["findings"][2].contains("command"));
}

}  // namespace
}  // namespace trueup::apps
