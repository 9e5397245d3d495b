// Proves what is told of a configuration that lets rules do more than the one before.
#include "engine/model/loosened.h"

#include <gtest/gtest.h>

namespace trueup {
namespace {

using Lines = std::vector<std::string>;

Settings careful() {
    Settings settings;
    settings.rules = {{"orphaned_pod", Mode::kApprove, Millis{60'000}, Millis{30'000}, Budget{}}};
    settings.sources = {{.name = "pods", .at_least = 5}};
    settings.windows = {{0b0011111, 9 * 60, 17 * 60}};
    return settings;
}

TEST(Loosened, EachSettingThatLetsMoreBeDoneIsNamedWithBothValues) {
    Settings now = careful();
    RuleSettings& rule = now.rules[0];
    rule.mode = Mode::kEnforce;
    rule.grace = Millis{1'500};
    rule.create_window = Millis{0};
    rule.budget.percent = 50;
    rule.grace_period = 0;
    now.sources[0].at_least = 0;
    now.stale_after = Millis{90'000};
    now.max_clock_skew = Millis{120'000};
    now.command_ttl = Millis{61'000};
    now.max_drop_percent = 100;
    now.windows = {};
    Settings before = careful();
    before.max_broker_skew = Millis{500};
    EXPECT_EQ(
        loosened(before, now),
        (Lines{"orphaned_pod: mode approve -> enforce", "orphaned_pod: grace 60s -> 1500ms",
               "orphaned_pod: create_window 30s -> 0s",
               "orphaned_pod: budget 10 or 20% in 300s -> 10 or 50% in 300s",
               "orphaned_pod: grace_period the pod's own -> 0s", "pods: expect.at_least 5 -> 0",
               "stale_after 45s -> 90s", "max_clock_skew 60s -> 120s", "command_ttl 60s -> 61s",
               "max_drop_percent 50 -> 100", "max_broker_skew 500ms -> 0s",
               "windows: 7680 minutes of a week more, 0 less"}));
}

TEST(Loosened, ABudgetWithoutAShareIsNamedWithoutOne) {
    Settings before = careful();
    before.rules[0].budget.percent = 0;
    EXPECT_EQ(loosened(before, careful()),
              Lines{"orphaned_pod: budget 10 in 300s -> 10 or 20% in 300s"});
}

TEST(Loosened, WindowsAreComparedMinuteByMinute) {
    Settings before = careful();
    before.windows.push_back({0b0011111, 8 * 60, 10 * 60});  // an hour of it twice
    Settings now = careful();
    now.windows = {{0b0011111, 8 * 60, 17 * 60 + 30}};
    EXPECT_EQ(loosened(before, now), Lines{"windows: 150 minutes of a week more, 0 less"});
    now.windows = {{0b0011111, 10 * 60, 18 * 60}};
    EXPECT_EQ(loosened(before, now), Lines{"windows: 300 minutes of a week more, 600 less"});
}

TEST(Loosened, WhatIsTighterEqualOrNewIsNotNamed) {
    Settings before = careful();
    before.rules[0].mode = Mode::kEnforce;
    before.rules[0].budget = {20, 30, Millis{60'000}};
    before.windows = {};
    Settings now = careful();
    now.rules.push_back({"missing_pod", Mode::kEnforce});
    now.sources.push_back({.name = "rows", .at_least = 0});
    EXPECT_EQ(loosened(before, now), Lines{});
    EXPECT_EQ(loosened(before, before), Lines{});
    now.rules[0].mode = Mode::kOff;
    EXPECT_EQ(loosened(careful(), now), Lines{});
}

}  // namespace
}  // namespace trueup
