// Proves engine/core/row_time.h: times as databases write them, and nothing guessed (G24, S36).
#include "engine/core/row_time.h"

#include "engine/model/role.h"

#include <gtest/gtest.h>

#include <random>

namespace trueup::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

std::optional<std::int64_t> at(std::string_view text) {
    const auto time = parse_timestamp(text);
    return time ? std::optional(to_millis(*time)) : std::nullopt;
}

TEST(RowTime, TimestampsOfPostgresAndOfIso) {
    EXPECT_EQ(at("1970-01-01 00:00:00+00"), 0);
    EXPECT_EQ(at("2026-11-21 18:57:48.123456+00"), 1'795'287'468'123);
    EXPECT_EQ(at("2026-11-21T18:57:48.123Z"), 1'795'287'468'123);
    EXPECT_EQ(at("2026-11-21 18:57:48.1239Z"), 1'795'287'468'123) << "cut off";
    EXPECT_EQ(at("2026-11-22 00:27:48+05:30"), 1'795'287'468'000);
    EXPECT_EQ(at("2026-11-21 13:57:48-05"), 1'795'287'468'000);
    EXPECT_EQ(at("2024-02-29 00:00:00+00"), 1'709'164'800'000) << "a leap day";
    EXPECT_EQ(at("1969-12-31 23:59:59+00"), -1'000);
}

// Symptom (R5): a `timestamp without time zone` west of UTC ended its TTL hours early.
TEST(RowTime, ATimeWithoutAnOffsetIsReadOnlyWhereItsZoneIsSaid) {
    EXPECT_EQ(at("2026-11-21 18:57:48"), std::nullopt);
    EXPECT_EQ(parse_timestamp("2026-11-21 18:57:48", Millis{0}),
              parse_timestamp("2026-11-21 18:57:48Z"));
    EXPECT_EQ(parse_timestamp("2026-11-21 18:57:48", policy::parse_zone("-05")),
              parse_timestamp("2026-11-21 18:57:48-05"));
    EXPECT_EQ(parse_timestamp("2026-11-21 18:57:48+01", policy::parse_zone("-05")),
              parse_timestamp("2026-11-21 18:57:48+01"))
        << "what a text says itself counts";
    EXPECT_EQ(parse_date("2026-11-21", *policy::parse_zone("+02:00")),
              parse_timestamp("2026-11-20 22:00:00Z"));
    for (const char* text : {"", "2026-11-21 00:00:00", "2026-02-30", "2026-11-21Z"}) {
        EXPECT_EQ(parse_date(text, Millis{0}), std::nullopt) << text;
    }
    EXPECT_EQ(policy::parse_zone("UTC"), Millis{0});
    for (const char* text : {"", "utc", "Europe/Berlin", "+1", "+01:00 ", "01:00", "+16"}) {
        EXPECT_EQ(policy::parse_zone(text), std::nullopt) << text;
    }
}

TEST(RowTime, WhatIsNoTimestampIsNotGuessed) {
    for (const char* text :
         {"", "now", "infinity", "2026-11-21", "2026-13-01 00:00:00", "2026-02-29 00:00:00",
          "2026-11-21 25:00:00", "2026-11-21 18:60:00", "2026-11-21 18:57:48 UTC",
          "2026-11-21 18:57:48+0", "26-11-21 1:0:0", "2026-11-21 18:57:48.",
          "2026-11-21 18:57:48+00 BC", "0044-03-15 00:00:00 BC", "99999-01-01 00:00:00"}) {
        EXPECT_EQ(at(text), std::nullopt) << text;
    }
}

TEST(RowTime, Durations) {
    EXPECT_EQ(parse_duration("3600"), hours(1));
    EXPECT_EQ(parse_duration("0"), Millis(0));
    EXPECT_EQ(parse_duration("24:00:00"), hours(24));
    EXPECT_EQ(parse_duration("1000:00:00.5"), hours(1'000) + Millis(500));
    EXPECT_EQ(parse_duration("1 day"), hours(24));
    EXPECT_EQ(parse_duration("2 days 03:04:05"), hours(51) + minutes(4) + seconds(5));
    EXPECT_EQ(parse_duration("PT24H"), hours(24));
    EXPECT_EQ(parse_duration("P1DT30M"), hours(24) + minutes(30));
}

TEST(RowTime, WhatIsNoDurationIsNotGuessed) {
    for (const char* text :
         {"", " ", "soon", "-5", "-1 days", "1 mon", "1 year 2 days", "1h", "P", "PT", "P1M", "P1Y",
          "PT1", "24:00", "1 day 2", "1 days -01:00:00", "99999999999"}) {
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;
    }
}

// A TTL that repeated its days came round to a time long ago, and its instance was ended.
TEST(RowTime, ADurationOfManyPartsDoesNotComeRoundToThePast) {
    std::string text = "P";
    for (int i = 0; i < 200; ++i) {
        text += "999999999D";
        const std::optional<Millis> read = parse_duration(text);
        EXPECT_EQ(read.has_value(), i < 2) << i;
        EXPECT_GT(read.value_or(Millis(1)), Millis(0)) << i;
    }
    EXPECT_TRUE(parse_duration("P999999999DT999999999H999999999M999999999S").has_value());
}

TEST(RowTime, NoTextBreaksIt) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    constexpr std::string_view kLetters = "0123456789:-+.TZPDHMS day";
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        for (std::size_t n = random() % 30; n > 0; --n)
            text += kLetters[random() % kLetters.size()];
        (void)parse_timestamp(text);
        (void)parse_duration(text);
    }
}

}  // namespace
}  // namespace trueup::core
