// Proves apps/config/words.h: what a time, a size, a name and a secret look like.
#include "apps/config/words.h"

#include <gtest/gtest.h>

#include <string>

namespace trueup::config {
namespace {

TEST(ConfigWords, DurationsNeedOneUnit) {
    EXPECT_EQ(parse_duration("500ms"), Millis(500));
    EXPECT_EQ(parse_duration("30s"), Millis(30'000));
    EXPECT_EQ(parse_duration("5m"), Millis(300'000));
    EXPECT_EQ(parse_duration("6h"), Millis(21'600'000));
    EXPECT_EQ(parse_duration("30d"), Millis(std::int64_t{30} * 86'400'000));
    EXPECT_EQ(parse_duration("0s"), Millis(0));
    EXPECT_EQ(parse_duration("8784h"), Millis(std::int64_t{8784} * 3'600'000));
    for (const char* wrong : {"", "s", "60", "1.5s", "-1s", "1 s", "1D", "1m30s", "367d", "60S",
                              "8785h", "99999999999999999999s", "18446744073709551615h"}) {
        EXPECT_EQ(parse_duration(wrong), std::nullopt) << wrong;
    }
}

TEST(ConfigWords, DurationsPrintInTheLargestUnitWithoutRest) {
    EXPECT_EQ(duration_text(Millis(90'000)), "90s");
    EXPECT_EQ(duration_text(Millis(120'000)), "2m");
    EXPECT_EQ(duration_text(Millis(1'500)), "1500ms");
    EXPECT_EQ(duration_text(Millis(7'200'000)), "2h");
    EXPECT_EQ(duration_text(Millis(172'800'000)), "2d");
    EXPECT_EQ(duration_text(Millis(0)), "0s");
}

TEST(ConfigWords, SizesAreBinary) {
    EXPECT_EQ(parse_size("64KiB"), 65'536U);
    EXPECT_EQ(parse_size("512MiB"), 536'870'912U);
    EXPECT_EQ(parse_size("2GiB"), 2'147'483'648U);
    EXPECT_EQ(size_text(536'870'912), "512MiB");
    for (const char* wrong : {"512", "512MB", "512mib", "1.5GiB", "2000GiB", "GiB"}) {
        EXPECT_EQ(parse_size(wrong), std::nullopt) << wrong;
    }
}

TEST(ConfigWords, PercentagesAreWholeAndNeverNothingOrAll) {
    EXPECT_EQ(parse_percent("1%"), 1U);
    EXPECT_EQ(parse_percent("99%"), 99U);
    for (const char* wrong : {"0%", "100%", "50", "0.5%", "%", "-1%", ""}) {
        EXPECT_EQ(parse_percent(wrong), std::nullopt) << wrong;
    }
}

TEST(ConfigWords, NamesFitIntoSubjectKeys) {
    EXPECT_TRUE(is_name("graph-instances"));
    EXPECT_TRUE(is_name(std::string(63, 'a')));
    EXPECT_FALSE(is_name(std::string(64, 'a')));
    for (const char* wrong : {"", "a/b", "!a", "a b", "-a", ".", "\xc3\xa4"}) {
        EXPECT_FALSE(is_name(wrong)) << wrong;
    }
}

TEST(ConfigWords, AddressesHaveHostAndPort) {
    for (const char* right : {"127.0.0.1:9464", "localhost:0", "[::1]:9464", "0.0.0.0:65535"}) {
        EXPECT_TRUE(is_address(right)) << right;
    }
    for (const char* wrong : {"", ":9464", "localhost", "localhost:", "localhost:65536", "::1:80",
                              "a b:1", "http://a:1", "[]:1"}) {
        EXPECT_FALSE(is_address(wrong)) << wrong;
    }
}

}  // namespace
}  // namespace trueup::config
