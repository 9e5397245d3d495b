#include "engine/core/command_id.h"

#include "engine/base/guard.h"
#include "engine/base/varint.h"

#include <array>
#include <cstddef>

namespace trueup::core {

namespace {

enum class IdOf : std::uint8_t { kFinding = 1, kCommand = 2 };

Hash128 make_id(IdOf what, const Meta& meta, Offset offset, std::uint32_t index) {
    std::array<char, 8 * kMaxVarint> bytes{};
    char* end = bytes.data();
    const auto number = [&](std::uint64_t n) { end = write_varint(end, n); };
    const auto hash = [&](const Hash128& value) {
        number(value.hi);
        number(value.lo);
    };
    number(static_cast<std::uint64_t>(what));
    hash(meta.journal_id.value());
    number(to_zigzag(meta.shard.value()));
    number(to_zigzag(offset.value()));
    number(index);
    if (TRUEUP_GUARD("chain_in_id")) hash(meta.chain);
    return hash128({bytes.data(), static_cast<std::size_t>(end - bytes.data())});
}

}  // namespace

FindingId make_finding_id(const Meta& meta, Offset offset, std::uint32_t index) {
    return FindingId(make_id(IdOf::kFinding, meta, offset, index));
}

CommandId make_command_id(const Meta& meta, Offset offset, std::uint32_t index) {
    return CommandId(make_id(IdOf::kCommand, meta, offset, index));
}

Hash128 extend_chain(const Hash128& chain, std::uint64_t record) {
    return combine(chain, {0, record});
}

}  // namespace trueup::core
