#include "engine/base/hash.h"

#include "engine/base/hash_wide.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstring>

namespace trueup {

Hash128& Hash128::operator+=(const Hash128& other) {
    const std::uint64_t sum = lo + other.lo;
    hi += other.hi + (sum < lo ? 1U : 0U);
    lo = sum;
    return *this;
}

Hash128& Hash128::operator-=(const Hash128& other) {
    hi -= other.hi + (lo < other.lo ? 1U : 0U);
    lo -= other.lo;
    return *this;
}

Hash128 hash128(std::string_view bytes, std::uint64_t seed) {
#ifdef TRUEUP_WIDE_HASH
    // A row, a journal record: the same number, in half of the instructions.
    constexpr std::size_t kShort = 240;  // up to there it is computed in another way
    if (bytes.size() > kShort && __builtin_cpu_supports("avx2") != 0) {
        Hash128 hash;
        hash128_wide(bytes.data(), bytes.size(), seed, &hash.hi, &hash.lo);
        return hash;
    }
#endif
    const XXH128_hash_t h = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
    return {h.high64, h.low64};
}

std::uint64_t hash64(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

Hash128 combine(const Hash128& first, const Hash128& second) {
    const std::array<std::uint64_t, 4> words{first.hi, first.lo, second.hi, second.lo};
    const XXH128_hash_t h = XXH3_128bits(words.data(), sizeof words);
    return {h.high64, h.low64};
}

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

/// Both digits of each byte: the record of a finding has four ids, and two of them in its headers.
constexpr std::array<std::array<char, 2>, 256> kPairs = [] {
    std::array<std::array<char, 2>, 256> pairs{};
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {kDigits[i >> 4U], kDigits[i & 15U]};
    return pairs;
}();

void put_hex(char* out, std::uint64_t word) {
    for (int shift = 56; shift >= 0; shift -= 8, out += 2) {
        std::memcpy(out, kPairs[(word >> shift) & 255U].data(), 2);
    }
}

}  // namespace

Hex::Hex(const Hash128& hash) {
    put_hex(digits_.data(), hash.hi);
    put_hex(digits_.data() + 16, hash.lo);
}

std::string to_hex(const Hash128& hash) { return std::string(Hex(hash).text()); }

std::string to_hex(std::uint64_t hash) { return to_hex(Hash128{hash, 0}).substr(0, 16); }

std::optional<Hash128> hash_from_hex(std::string_view hex) {
    if (hex.size() != 32) return std::nullopt;
    std::array<std::uint64_t, 2> words{};
    for (std::size_t i = 0; i < 32; ++i) {
        const std::size_t digit = kDigits.find(hex[i]);
        if (digit == std::string_view::npos) return std::nullopt;
        words[i / 16] = (words[i / 16] << 4U) | digit;
    }
    return Hash128{words[0], words[1]};
}

}  // namespace trueup
