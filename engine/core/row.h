// Rows of the projection as bytes: what is stored is what is hashed into the digest.
#pragma once

#include "engine/core/meta.h"
#include "engine/model/subject.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trueup::core {

/// Grows when an encoding changes: an older row is unreadable then, and the projection is rebuilt.
inline constexpr std::uint64_t kRowFormat = 12;
/// The same of Meta.
inline constexpr std::uint64_t kMetaFormat = 14;
/// Still read. There has been no release: nothing that was written before this one is.
inline constexpr std::uint64_t kOldestMetaFormat = 14;

/// Appends the encoding of everything but the key. Equal subjects give equal bytes.
void encode_subject(const Subject& subject, std::string& out);
/// nullopt when the bytes are not such a row; then the projection is to be rebuilt.
std::optional<Subject> decode_subject(std::string_view key, std::string_view bytes);

void encode_meta(const Meta& meta, std::string& out);
std::optional<Meta> decode_meta(std::string_view bytes);

/// What a command would do, as one number: equal drafts give equal hashes.
Hash128 hash_of(const CommandDraft& draft);

/// What a subject's row adds to the digest.
Hash128 row_hash(std::string_view key, std::string_view bytes);

}  // namespace trueup::core
