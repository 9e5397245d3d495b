// What the fuzz targets share. A target is one file that defines LLVMFuzzerTestOneInput: it feeds
// one decoder with bytes as somebody else might write them, and ends the process where a claim
// about what came out does not hold. tools/fuzz runs the targets with libFuzzer; replay.cpp feeds
// them the corpus in every build.
#pragma once

#include "engine/base/check.h"
#include "engine/base/error.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Always 0. The bytes are a copy of their own, so that a sanitizer sees each read beyond them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace trueup::fuzz {

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Takes a number from 0 to 255 off the front; 0 when nothing is left.
inline std::size_t take_byte(std::string_view& bytes) {
    if (bytes.empty()) return 0;
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    return byte;
}

/// Takes up to `size` bytes off the front.
inline std::string_view take(std::string_view& bytes, std::size_t size) {
    const std::string_view taken = bytes.substr(0, size);
    bytes.remove_prefix(taken.size());
    return taken;
}

/// A refusal says why, and whether to go on.
inline void check_refusal(const Error& error, Next next) {
    TRUEUP_CHECK(!error.what.empty());
    TRUEUP_CHECK(error.next == next);
}

/// What a codec takes it writes so that it takes the same again. `next` is that of a refusal.
template <typename Decode, typename Encode>
void check_both_ways(std::string_view bytes, Next next, Decode&& decode, Encode&& encode) {
    const auto first = decode(bytes);
    if (!first) return check_refusal(first.error(), next);
    const std::string written = encode(*first);
    const auto second = decode(std::string_view(written));
    TRUEUP_CHECK(second.ok());
    TRUEUP_CHECK(*second == *first);
    TRUEUP_CHECK(encode(*second) == written);
}

}  // namespace trueup::fuzz
