// Ids of findings and commands. They depend on nothing but the journal: every engine that reads it
// names the same command alike, and an executor that has seen an id never acts on it again.
#pragma once

#include "engine/core/meta.h"

namespace trueup::core {

/// hash(journal id, shard, offset, index, chain). `offset` is the journal record being folded and
/// `index` the position among its emissions. The chain (running hash over the records that brought
/// items) keeps ids unique if a journal ever loses its tail and grows another one at the same
/// offsets.
/// A finding and its command never share one.
FindingId make_finding_id(const Meta& meta, Offset offset, std::uint32_t index);
CommandId make_command_id(const Meta& meta, Offset offset, std::uint32_t index);

/// The chain after one more record that brought something, by the record's digest.
Hash128 extend_chain(const Hash128& chain, std::uint64_t record);

}  // namespace trueup::core
