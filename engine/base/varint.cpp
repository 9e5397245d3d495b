#include "engine/base/varint.h"

#include <algorithm>

namespace trueup {

bool read_long_varint(const char*& at, const char* end, std::uint64_t& out) {
    out = 0;
    const std::size_t most = std::min<std::size_t>(kMaxVarint, static_cast<std::size_t>(end - at));
    const char* const from = at;
    for (std::size_t i = 0; i < most; ++i) {
        const std::uint64_t byte = static_cast<unsigned char>(from[i]);
        out |= (byte & 0x7fU) << 7 * i;
        if (byte >= 0x80) continue;
        at = from + i + 1;
        return true;
    }
    at = from + most;
    return false;
}

}  // namespace trueup
