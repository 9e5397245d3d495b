#include "connectors/embedded/disk_keys.h"

#include <cstring>

namespace trueup::connectors {

namespace {

template <typename Word>
void put_big_endian(std::string& out, Word word) {
    for (std::size_t shift = 8 * sizeof word; shift > 0; shift -= 8) {
        out += static_cast<char>(word >> (shift - 8) & 0xffU);
    }
}

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t word = 0;
    for (const char c : bytes) word = word << 8U | static_cast<unsigned char>(c);
    return word;
}

}  // namespace

std::string partition_key(char tag, ports::Partition partition) {
    std::string key{tag, static_cast<char>(partition.topic)};
    put_big_endian(key, static_cast<std::uint32_t>(partition.index.value()));
    return key;
}

std::string block_key(ports::Partition partition, Offset offset) {
    std::string key = partition_key(kBlockTag, partition);
    put_big_endian(key, static_cast<std::uint64_t>(offset.value()));
    return key;
}

ports::Partition partition_of_key(std::string_view key) {
    return {static_cast<Topic>(key[1]), PartitionNumber(static_cast<std::int32_t>(
                                            big_endian(key.substr(2, sizeof(std::uint32_t)))))};
}

Offset offset_of_key(std::string_view key) {
    return Offset(static_cast<std::int64_t>(big_endian(key.substr(kPrefixSize))));
}

bool is_key_of(std::string_view key, std::string_view prefix, std::size_t size) {
    return key.size() == size && key.starts_with(prefix);
}

std::optional<TimedExtent> parse_first(std::string_view value) {
    if (value.size() != 2 * sizeof(std::int64_t)) return std::nullopt;
    std::int64_t words[2];
    std::memcpy(words, value.data(), sizeof words);
    return TimedExtent{{Offset(words[0]), Offset(words[0])}, from_millis<BrokerTime>(words[1])};
}

std::string first_value(const TimedExtent& extent) {
    const std::int64_t words[2]{extent.first_offset.value(), to_millis(extent.last_append)};
    return {reinterpret_cast<const char*>(words), sizeof words};
}

}  // namespace trueup::connectors
