// Proves engine/base/varint.h.
#include "engine/base/varint.h"

#include <gtest/gtest.h>

#include <limits>

namespace trueup {
namespace {

/// Byte by byte, as the format is written down.
bool slowly(const std::string& bytes, std::uint64_t& out, std::size_t& size) {
    out = 0;
    for (size = 0; size < bytes.size() && size < kMaxVarint;) {
        const auto byte = static_cast<unsigned char>(bytes[size]);
        out |= static_cast<std::uint64_t>(byte & 0x7fU) << 7 * size;
        ++size;
        if (byte < 0x80) return true;
    }
    return false;
}

TEST(Varint, IsReadAsItWasWrittenWhateverStandsBehindIt) {
    for (unsigned bit = 0; bit <= 64; ++bit) {
        const std::uint64_t power = bit < 64 ? std::uint64_t{1} << bit : 0;
        for (const std::uint64_t n : {power - 1, power, power + 1}) {
            for (const std::size_t behind : {0U, 1U, 7U, 8U, 20U}) {
                std::string bytes;
                append_varint(bytes, n);
                const std::size_t size = bytes.size();
                bytes.append(behind, '\xff');
                const char* at = bytes.data();
                std::uint64_t read = 0;
                ASSERT_TRUE(read_varint(at, bytes.data() + bytes.size(), read)) << n;
                EXPECT_EQ(read, n);
                EXPECT_EQ(static_cast<std::size_t>(at - bytes.data()), size) << n;
                at = bytes.data();
                ASSERT_TRUE(read_wide_varint(at, bytes.data() + bytes.size(), read)) << n;
                EXPECT_EQ(read, n);
                EXPECT_EQ(static_cast<std::size_t>(at - bytes.data()), size) << n;
            }
        }
    }
}

// Every length of what continues, and of what stands behind it, also where it is longer than need
// be or than may be.
TEST(Varint, WhatIsNotAsShortAsItCouldBeIsReadAsTheFormatSays) {
    for (std::size_t length = 0; length <= 12; ++length) {
        for (std::size_t behind = 0; behind <= 9; ++behind) {
            for (const char each : {'\x80', '\xff', '\xa5'}) {
                std::string bytes(length, each);
                if (behind > 0) bytes += '\x00';
                if (behind > 1) bytes.append(behind - 1, '\x7f');
                std::uint64_t expected = 0;
                std::size_t size = 0;
                const bool whole = slowly(bytes, expected, size);
                const char* at = bytes.data();
                std::uint64_t read = 0;
                ASSERT_EQ(read_varint(at, bytes.data() + bytes.size(), read), whole)
                    << length << " " << behind;
                const char* wide_at = bytes.data();
                std::uint64_t wide = 0;
                ASSERT_EQ(read_wide_varint(wide_at, bytes.data() + bytes.size(), wide), whole);
                if (!whole) continue;
                EXPECT_EQ(read, expected) << length << " " << behind;
                EXPECT_EQ(static_cast<std::size_t>(at - bytes.data()), size);
                EXPECT_EQ(wide, expected) << length << " " << behind;
                EXPECT_EQ(wide_at, at);
            }
        }
    }
}

}  // namespace
}  // namespace trueup
