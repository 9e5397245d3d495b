// A 128-bit hash, for ids of commands and findings, for texts of rules, and for digests. Values are
// the same on every machine. Free functions without state: thread-safe.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trueup {

/// 128 bits; value 0 means "none".
struct Hash128 {
    std::uint64_t hi = 0;
    std::uint64_t lo = 0;

    auto operator<=>(const Hash128&) const = default;
    bool none() const { return hi == 0 && lo == 0; }

    /// Addition and subtraction modulo 2^128: the digest of a set of rows is the sum of the rows'
    /// hashes, whatever their order.
    Hash128& operator+=(const Hash128& other);
    Hash128& operator-=(const Hash128& other);
};

/// XXH3-128 of the bytes. The same on every machine.
Hash128 hash128(std::string_view bytes, std::uint64_t seed = 0);
/// XXH3-64 of the bytes. The same on every machine.
std::uint64_t hash64(std::string_view bytes);
/// One hash that depends on both, in this order.
Hash128 combine(const Hash128& first, const Hash128& second);

/// 32 lower-case hex digits.
std::string to_hex(const Hash128& hash);
/// 16 digits.
std::string to_hex(std::uint64_t hash);
/// The same, for what copies them anyway.
class Hex {
  public:
    explicit Hex(const Hash128& hash);
    std::string_view text() const { return {digits_.data(), digits_.size()}; }

  private:
    std::array<char, 32> digits_;
};
/// The inverse of to_hex; nothing else is accepted.
std::optional<Hash128> hash_from_hex(std::string_view hex);

}  // namespace trueup
