// Proves apps/enable_look.h: what is shown of a rule before it is enabled is what its findings say
// (ADR 34).
#include "apps/enable_look.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace trueup::apps {
namespace {

using Json = EngineClient::Json;

constexpr std::int64_t kStart = 1'700'000'000'000;

Json object(const std::string& source, std::int64_t first_seen) {
    return {{"source", source}, {"first_seen_ms", kStart + first_seen}};
}

Json finding(const std::string& subject, Json objects) {
    return {{"subject", subject}, {"objects", std::move(objects)}};
}

/// Whose deadline the source's clock has passed by so much.
Json overdue(const std::string& subject, std::int64_t by) {
    Json shown = finding(subject, Json::array({object("rows", 0)}));
    const Json clock{
        {"kind", "clock"}, {"answer", "yes"}, {"at_ms", kStart + by}, {"past_ms", kStart}};
    shown["why"]["stages"] =
        Json::array({{{"stage", "pattern"}, {"facts", Json::array({{{"kind", "object"}}})}},
                     {{"stage", "deadline"}, {"facts", Json::array({clock})}}});
    return shown;
}

const Json kRule{{"rule", "orphaned_pod"},
                 {"mode", "enforce"},
                 {"does", "delete pods"},
                 {"shown", true},
                 {"waits_ms", 90'000}};

TEST(EnableLook, HowManyNeverHadAPartnerIsCountedByTheirSource) {
    RuleLook look;
    look_at(finding("p/a", Json::array({object("pods", 0), object("pods", 9)})), look);
    look_at(finding("p/b", Json::array({object("pods", 0), object("rows", 0)})), look);
    look.found = 2;
    look.waiting = {{"not_enabled", 2}};
    EXPECT_EQ(text_of(kRule, look),
              "orphaned_pod (mode enforce): not enabled\n"
              "  does    delete pods\n"
              "  found   2: 2 not_enabled\n"
              "  alone   1 of 2 looked at never had a partner in sight: 1 pods\n"
              "  apart   the first sights of both sides are up to 0 s apart, in the 1 that had a "
              "partner; the rule waits 90 s\n"
              "  e.g.    p/a\n"
              "  e.g.    p/b\n");
}

TEST(EnableLook, APartnerThatCameLaterThanTheRuleWaitsIsNamed) {
    RuleLook look;
    const Json early =
        Json::array({object("pods", 0), object("pods", 200'000), object("rows", 91'000)});
    look_at(finding("p/a", early), look);
    look_at(finding("p/b", Json::array({object("rows", 0), object("pods", 4'000)})), look);
    EXPECT_EQ(look.paired, 2U);
    EXPECT_EQ(look.apart_ms, 91'000) << "from the first object of each side";
    EXPECT_NE(text_of(kRule, look)
                  .find("up to 91 s apart, in the 2 that had a partner; the rule "
                        "waits 90 s: a partner came later than that\n"),
              std::string::npos)
        << text_of(kRule, look);
}

TEST(EnableLook, HowFarDeadlinesArePastIsTold) {
    RuleLook look;
    look_at(overdue("p/a", 700'000), look);
    look_at(overdue("p/b", 3'000'000'000), look);
    look_at(finding("p/c", Json::array({object("rows", 0)})), look);
    EXPECT_NE(text_of(kRule, look)
                  .find("  due     2 of 3 looked at are past their deadline, by up to 34 d\n"),
              std::string::npos)
        << text_of(kRule, look);
    Json waits = overdue("p/d", 5);
    waits["why"]["stages"][1]["facts"][0]["answer"] = "no";
    look_at(waits, look);
    EXPECT_EQ(look.overdue, 2U) << "one that is not past it";
}

TEST(EnableLook, NoMoreThanTenNamesAreShownAndTheCommandOfEach) {
    RuleLook look;
    for (int i = 0; i < 12; ++i) {
        Json shown = finding("p/" + std::to_string(i), Json::array());
        shown["proposes"]["text"] = "delete_pod x\n(uid 1)";
        look_at(shown, look);
    }
    EXPECT_EQ(look.looked, 12U);
    ASSERT_EQ(look.examples.size(), 10U);
    EXPECT_EQ(look.examples[0].find('\n'), std::string::npos);
    EXPECT_TRUE(look.examples[0].starts_with("p/0 -> delete_pod x")) << look.examples[0];
}

TEST(EnableLook, BothSidesWithoutPartnersLookLikeAWrongKey) {
    EXPECT_EQ(warning_of_keys({{"pods", 3}}), "");
    EXPECT_EQ(warning_of_keys({{"pods", 3}, {"rows", 4}}),
              "3 pods, 4 rows: both sides have objects without a partner, and a wrong key looks "
              "like that; hold some of them against each other\n");
}

TEST(EnableLook, ProgramsReadTheSame) {
    RuleLook look;
    look.found = 3;
    look_at(overdue("p/a", 5'000), look);
    look_at(finding("p/b", Json::array({object("rows", 0), object("pods", 4'000)})), look);
    const Json json = json_of(kRule, look);
    EXPECT_EQ(json["rule"], "orphaned_pod");
    EXPECT_EQ(json["found"], 3);
    EXPECT_EQ(json["looked_at"], 2);
    EXPECT_EQ(json["alone"], (Json{{"rows", 1}}));
    EXPECT_EQ(json["paired"], 1);
    EXPECT_EQ(json["longest_apart_ms"], 4'000);
    EXPECT_EQ(json["waits_ms"], 90'000);
    EXPECT_EQ(json["past_deadline"], (Json{{"count", 1}, {"longest_ms", 5'000}}));
    EXPECT_EQ(json["examples"], (Json{"p/a", "p/b"}));
    EXPECT_FALSE(json_of(kRule, {}).contains("longest_apart_ms")) << "nothing had a partner";
}

}  // namespace
}  // namespace trueup::apps
