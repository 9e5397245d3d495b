#include "engine/core/command_id.h"

#include "engine/base/guard.h"
#include "engine/core/bytes.h"

namespace trueup::core {

namespace {

enum class IdOf : std::uint8_t { kFinding = 1, kCommand = 2 };

Hash128 make_id(IdOf what, const Meta& meta, Offset offset, std::uint32_t index) {
    std::string bytes;
    bytes.reserve(96);
    ByteWriter out(bytes);
    out.number(static_cast<std::uint64_t>(what));
    out.hash(meta.journal_id);
    out.signed_number(meta.shard);
    out.signed_number(offset);
    out.number(index);
    if (TRUEUP_GUARD("chain_in_id")) out.hash(meta.chain);
    return hash128(bytes);
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
