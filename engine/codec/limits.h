// How large things may be on the bus (design §3). Checked by every reader; writers ask first.
#pragma once

#include "engine/model/subject_key.h"

#include <cstddef>

namespace trueup::codec {

/// One record of any topic but the journal.
inline constexpr std::size_t kMaxItemBytes = std::size_t{256} * 1024;
/// One record of the journal.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{4} * 1024 * 1024;
/// A subject key or a key of a reference.
inline constexpr std::size_t kMaxKeyBytes = kMaxSubjectKey;

}  // namespace trueup::codec
