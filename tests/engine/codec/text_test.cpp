// Proves engine/codec/text.h: what text and keys must look like (details: key grammar).
#include "engine/codec/text.h"

#include "tests/engine/codec/samples.h"
#include "trueup/v1/change.pb.h"

#include <gtest/gtest.h>

#include <string>

namespace trueup::codec {
namespace {

TEST(Text, AsciiIsSeenAtEveryPlace) {
    for (std::size_t size = 0; size < 40; ++size) {
        std::string bytes(size, 'a');
        EXPECT_TRUE(is_ascii(bytes));
        for (std::size_t i = 0; i < size; ++i) {
            bytes[i] = '\x80';
            EXPECT_FALSE(is_ascii(bytes)) << size << " " << i;
            bytes[i] = 'a';
        }
    }
}

TEST(Text, WellFormedIsWhatUnicodeSays) {
    for (const char* good : {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                             "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
        EXPECT_TRUE(is_utf8(good)) << good;
    }
    for (const char* bad :
         {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xe0\x9f\xbf", "\xe0\xa0", "\xed\xa0\x80",
          "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x90\x80", "\xff",
          "a\xc2"
          "a"}) {
        EXPECT_FALSE(is_utf8(bad)) << testing::PrintToString(std::string(bad));
    }
}

TEST(Text, AgreesWithProtobufOnRandomBytes) {
    SCOPED_TRACE("replay with TRUEUP_SEED=" + std::to_string(samples::seed()));
    std::mt19937_64 random(samples::seed());
    for (int i = 0; i < 20'000; ++i) {
        std::string text = samples::mutate(samples::random_text(random, 30), random);
        if (text.size() > 120) text.resize(120);
        // A Change with nothing but this source: protobuf refuses text that is not UTF-8.
        const std::string bytes = "\x12" + std::string(1, static_cast<char>(text.size())) + text;
        EXPECT_EQ(v1::Change().ParseFromString(bytes), is_utf8(text))
            << testing::PrintToString(text);
    }
}

TEST(Key, IsAPolicyAndAName) {
    EXPECT_TRUE(is_key("p/n"));
    EXPECT_TRUE(is_key("graph-instance/\xc3\xa9"));
    EXPECT_TRUE(
        is_key("!rows/public.t/7\x1f"
               "8"));
    EXPECT_FALSE(is_key(""));
    EXPECT_FALSE(is_key("p"));
    EXPECT_FALSE(is_key("p/"));
    EXPECT_FALSE(is_key("/n"));
    EXPECT_FALSE(is_key("p/n/m"));
    EXPECT_TRUE(is_key("p/" + std::string(251, 'x')));
    EXPECT_FALSE(is_key("p/" + std::string(252, 'x')));
}

}  // namespace
}  // namespace trueup::codec
