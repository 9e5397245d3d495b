#include "connectors/embedded/block.h"

#include "engine/base/id.h"

#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

namespace trueup::connectors {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace {

constexpr std::uint32_t kFormat = 1;
constexpr std::size_t kCountAt = 4;
constexpr std::size_t kTimeAt = 8;
constexpr std::size_t kBodyHashAt = 16;
constexpr std::size_t kHeadHashAt = 24;
constexpr std::size_t kHead = 32;

struct Lengths {
    std::uint32_t key;
    std::uint32_t value;
    std::uint32_t headers;

    std::uint64_t all() const { return std::uint64_t{key} + value + headers; }
};

template <typename T>
T load(std::string_view bytes, std::size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

template <typename T>
void store(std::string& bytes, std::size_t at, const T& value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <typename T>
void append_raw(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::uint32_t narrow(std::size_t size) {
    TRUEUP_CHECK(size <= UINT32_MAX);
    return static_cast<std::uint32_t>(size);
}

std::uint64_t body_hash(std::string_view bytes) { return hash128(bytes.substr(kHead)).lo; }

std::uint64_t head_hash(std::string_view bytes, Offset first_offset) {
    return hash128(bytes.substr(0, kHeadHashAt), static_cast<std::uint64_t>(first_offset.value()))
        .lo;
}

Lengths lengths_at(std::string_view bytes, std::size_t index) {
    return load<Lengths>(bytes, kHead + index * sizeof(Lengths));
}

/// Where the bytes of the first record begin.
std::size_t data_start(const Block& block) {
    return kHead + static_cast<std::size_t>(block.count) * sizeof(Lengths);
}

bool lengths_fit(std::string_view bytes, std::uint32_t count) {
    const std::uint64_t table = kHead + std::uint64_t{count} * sizeof(Lengths);
    if (count == 0 || table > bytes.size()) return false;
    std::uint64_t end = table;
    for (std::size_t i = 0; i < count; ++i) end += lengths_at(bytes, i).all();
    return end == bytes.size();
}

Error damaged(const char* how) {
    return {Next::kStop, Code::kCorrupt, std::string("damaged block: ") + how};
}

}  // namespace

std::size_t packed_size(const ports::Entries& entries) {
    std::size_t size = kHead + entries.size() * sizeof(Lengths);
    for (const ports::Entry& entry : entries) {
        size += entry.key.size() + entry.value.size() + entry.headers.bytes().size();
    }
    return size;
}

std::string pack(const ports::Entries& entries) {
    std::string bytes;
    bytes.reserve(packed_size(entries));
    bytes.resize(kHead);
    for (const ports::Entry& entry : entries) {
        append_raw(bytes, Lengths{narrow(entry.key.size()), narrow(entry.value.size()),
                                  narrow(entry.headers.bytes().size())});
    }
    for (const ports::Entry& entry : entries) {
        bytes += entry.key;
        bytes += entry.value;
        bytes += entry.headers.bytes();
    }
    store(bytes, 0, kFormat);
    store(bytes, kCountAt, narrow(entries.size()));
    store(bytes, kBodyHashAt, body_hash(bytes));
    return bytes;
}

BlockRef seal(std::string packed, Offset first_offset, BrokerTime append_time) {
    store(packed, kTimeAt, to_millis(append_time));
    store(packed, kHeadHashAt, head_hash(packed, first_offset));
    const std::int64_t count = load<std::uint32_t>(packed, kCountAt);
    return std::make_shared<const Block>(
        Block{std::move(packed), first_offset, count, append_time});
}

Result<BlockRef> parse(std::string bytes, Offset first_offset) {
    if (bytes.size() < kHead) return damaged("cut short");
    if (load<std::uint32_t>(bytes, 0) != kFormat) return damaged("unknown format");
    if (load<std::uint64_t>(bytes, kHeadHashAt) != head_hash(bytes, first_offset)) {
        return damaged("the head's hash differs");
    }
    if (load<std::uint64_t>(bytes, kBodyHashAt) != body_hash(bytes)) {
        return damaged("the body's hash differs");
    }
    const auto count = load<std::uint32_t>(bytes, kCountAt);
    if (!lengths_fit(bytes, count)) return damaged("its lengths do not add up");
    const auto time = from_millis<BrokerTime>(load<std::int64_t>(bytes, kTimeAt));
    return BlockRef(
        std::make_shared<const Block>(Block{std::move(bytes), first_offset, count, time}));
}

bool add_records(const BlockRef& block, Offset offset, std::size_t max_bytes, std::size_t& taken,
                 ports::Fetched& out) {
    const std::string_view bytes = block->bytes;
    std::size_t at = data_start(*block);
    bool pinned = false;
    for (std::int64_t i = 0; i < block->count; ++i) {
        const Lengths lengths = lengths_at(bytes, static_cast<std::size_t>(i));
        const Offset here = further(block->first_offset, i);
        if (here >= offset) {
            if (taken >= max_bytes && !out.records.empty()) return false;
            if (!std::exchange(pinned, true)) out.storage.push_back(block);
            out.records.push_back({here, block->append_time, bytes.substr(at, lengths.key),
                                   bytes.substr(at + lengths.key, lengths.value)});
            out.next_offset = next(here);
            taken += std::size_t{lengths.key} + lengths.value;
        }
        at += lengths.all();
    }
    return taken < max_bytes;
}

Headers headers_of(const Block& block, Offset offset) {
    TRUEUP_CHECK(offset >= block.first_offset && offset < block.next_offset());
    const std::string_view bytes = block.bytes;
    std::size_t at = data_start(block);
    const auto index = static_cast<std::size_t>(distance(block.first_offset, offset));
    for (std::size_t before = 0; before < index; ++before) {
        at += lengths_at(bytes, before).all();
    }
    const Lengths lengths = lengths_at(bytes, index);
    return Headers::from_bytes(
        bytes.substr(at + lengths.key + std::size_t{lengths.value}, lengths.headers));
}

}  // namespace trueup::connectors
