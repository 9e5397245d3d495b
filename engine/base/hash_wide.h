// XXH3-128 for processors with AVX2. Not for other users than hash.cpp, which asks the processor.
//
// Its source is compiled for such a processor only. So it includes nothing that has functions of
// its own to share with other sources: the linker keeps one of each, whoever compiled it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trueup {

void hash128_wide(const void* bytes, std::size_t size, std::uint64_t seed, std::uint64_t* hi,
                  std::uint64_t* lo);

}  // namespace trueup
