// Proves apps/why_text.h: what a person reads of why a rule stopped.
#include "apps/why_text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string>

namespace trueup::apps {
namespace {

using Json = nlohmann::ordered_json;

class WhyText : public ::testing::Test {
  protected:
    WhyText() {
        ::setenv("TZ", "UTC", 1);
        ::tzset();
    }
    static Json rule(const std::string& facts, const std::string& asked = "rows: one") {
        return Json::parse(R"({"rule": "missing_pod", "verdict": "healthy", "stopped_at": "pattern",
            "stages": [{"number": 0, "stage": "asked", "stopped": false, "facts": []},
                       {"number": 1, "stage": "pattern", "asked": ")" +
                           asked + R"(", "stopped": true, "facts": [)" + facts + "]}]}");
    }
    /// The line below its stage.
    static std::string fact(const std::string& json) {
        const std::string text = stages_text(rule(json));
        const std::string stage = "  stop  1 pattern    rows: one\n                     ";
        const auto at = text.find(stage);
        return at == std::string::npos ? text : text.substr(at + stage.size());
    }
};

TEST_F(WhyText, AFieldIsSaidAsItWasReadWithWhatWasAskedAndWhereItComesFrom) {
    const std::string about = R"({"kind": "field", "source": "rows", "object": "t/42",
        "name": "status", "asked": "[running, starting]", "offset": 812,
        "at_ms": 1764000000000, )";
    const std::string end =
        ", asked: [running, starting] (journal offset 812, 2025-11-24 16:00:00)\n";
    EXPECT_EQ(fact(about + R"("read": "text", "value": "stopping"})"),
              "rows/t/42 status = stopping" + end);
    EXPECT_EQ(fact(about + R"("read": "null"})"), "rows/t/42 status is null" + end);
    EXPECT_EQ(fact(about + R"("read": "not_there"})"), "rows/t/42 has no status" + end);
    EXPECT_EQ(fact(about + R"("read": "not_sent"})"), "rows/t/42 status was not sent" + end);
    EXPECT_EQ(fact(about + R"("read": "text", "value": "x", "why": "unreadable"})"),
              "rows/t/42 status = x, which cannot be read" + end);
    EXPECT_EQ(fact(R"({"kind": "field", "role": "rows", "name": "region", "read": "not_sent",
                       "asked": "a name to look up"})"),
              "rows.region is not known, asked: a name to look up\n");
}

// The other cases of the rule say nothing of when it is judged again.
TEST_F(WhyText, OfSeveralHealthyCasesTheOneThatWaitsForItsDeadlineIsTold) {
    Json one = rule("");
    one["stopped_at"] = "deadline";
    const Json due = Json::parse(R"({"number": 4, "stage": "deadline", "case": 1, "stopped": true,
        "facts": [{"kind": "clock", "source": "rows", "answer": "no", "at_ms": 1764000000000,
                   "past_ms": 1764000060000}]})");
    one["stages"].insert(one["stages"].begin() + 1, due);
    const std::string text = rules_text(Json{{"rules", Json::array({one})}});
    EXPECT_NE(text.find("deadline    the clock of rows is at 2025-11-24 16:00:00, the deadline is"),
              std::string::npos)
        << text;
}

// A value is whatever somebody wrote into a column.
TEST_F(WhyText, AValueDrawsNoLinesOfItsOwn) {
    EXPECT_EQ(fact(R"({"kind": "field", "source": "rows", "object": "42", "name": "status",
                       "read": "text", "value": "a\nb\u001b[2J", "asked": "c"})"),
              "rows/42 status = a?b?[2J, asked: c\n");
}

TEST_F(WhyText, ASourceSaysSinceWhenItIsUnknownOrUpToWhenItWasHeard) {
    EXPECT_EQ(fact(R"({"kind": "source", "source": "rows", "name": "known", "value": "unknown",
                       "asked": "a complete list of what it has", "at_ms": 1764000000000})"),
              "rows is unknown, since 2025-11-24 16:00:00; needs a complete list of what it has\n");
    EXPECT_EQ(fact(R"({"kind": "source", "source": "rows", "name": "heard",
                       "asked": "heard past what was seen", "at_ms": 1764000000000,
                       "past_ms": 1764000060000})"),
              "rows heard up to 2025-11-24 16:00:00; must be heard past what was seen: "
              "2025-11-24 16:01:00\n");
    EXPECT_EQ(fact(R"({"kind": "no_object", "source": "pods", "at_ms": 1764000000000})"),
              "pods shows none, heard up to 2025-11-24 16:00:00\n");
}

TEST_F(WhyText, ARuleHasOneLineWithItsFirstFactAndHowManyMoreThereAre) {
    const std::string kept = R"({"kind": "kept", "name": "hold", "value": "an operator holds it"})";
    const Json why{{"rules", Json::array({rule(kept + ", " + kept)})}};
    EXPECT_EQ(rules_text(why),
              "RULE                  VERDICT                     STOPPED AT  BECAUSE\n"
              "missing_pod           healthy                     pattern     rows: one; hold: an "
              "operator holds it; and 1 more\n");
}

TEST_F(WhyText, OneRuleSaysItsVerdictAndUntilWhenAndWhatItWouldOrder) {
    Json one = rule("");
    one["finds"] = "row whose pod is gone";
    one["mode"] = "enforce";
    one["verdict"] = "waits";
    one["reason"] = "grace";
    one["again_seconds"] = 42;
    one["orders"] = "update_row t/42";
    EXPECT_EQ(rule_text(one),
              "missing_pod: row whose pod is gone; mode enforce\n"
              "waits, grace, again in 42 s\n"
              "update_row t/42\n"
              "  ok    0 asked\n"
              "  stop  1 pattern    rows: one\n");
}

TEST_F(WhyText, ARuleThatNothingHoldsSaysWhatItOrders) {
    const Json why{{"rules", Json::array({Json{{"rule", "orphaned_pod"},
                                               {"verdict", "acts"},
                                               {"stopped_at", "act"},
                                               {"orders", "delete_pod wrapper-7"},
                                               {"stages", Json::array()}}})}};
    EXPECT_NE(rules_text(why).find("nothing holds it: delete_pod wrapper-7"), std::string::npos);
}

}  // namespace
}  // namespace trueup::apps
