#include "engine/base/hash_wide.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace trueup {

void hash128_wide(const void* bytes, std::size_t size, std::uint64_t seed, std::uint64_t* hi,
                  std::uint64_t* lo) {
    const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, size, seed);
    *hi = hash.high64;
    *lo = hash.low64;
}

}  // namespace trueup
