#include "engine/base/id.h"

#include "engine/base/check.h"

#include <cstddef>

namespace trueup {

std::uint32_t murmur2(std::string_view key) {
    constexpr std::uint32_t kM = 0x5bd1e995;
    const auto byte = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(key[i]));
    };
    std::uint32_t h = 0x9747b28cU ^ static_cast<std::uint32_t>(key.size());
    std::size_t i = 0;
    for (; i + 4 <= key.size(); i += 4) {
        std::uint32_t k = byte(i) | byte(i + 1) << 8U | byte(i + 2) << 16U | byte(i + 3) << 24U;
        k *= kM;
        k ^= k >> 24U;
        k *= kM;
        h *= kM;
        h ^= k;
    }
    const std::size_t rest = key.size() - i;
    if (rest >= 3) h ^= byte(i + 2) << 16U;
    if (rest >= 2) h ^= byte(i + 1) << 8U;
    if (rest >= 1) {
        h ^= byte(i);
        h *= kM;
    }
    h ^= h >> 13U;
    h *= kM;
    h ^= h >> 15U;
    return h;
}

PartitionNumber partition_of(std::string_view key, std::int32_t partitions) {
    TRUEUP_CHECK(partitions > 0);
    return PartitionNumber(static_cast<std::int32_t>(murmur2(key) & 0x7fffffffU) % partitions);
}

}  // namespace trueup
