// Changes on the wire: trueup.v1.Change, read and written by hand because every fact passes here.
#pragma once

#include "engine/base/result.h"
#include "engine/model/change.h"

#include <string>
#include <string_view>

namespace trueup::codec {

/// The bytes of a change; what is 0, empty or none is left out. Writes what it is given: whether
/// text is UTF-8, the key well-formed and the whole below kMaxItemBytes is the caller's to ask
/// (text.h, limits.h), or `decode_change` refuses it.
std::string encode_change(const ChangeView& change);

/// The change in `bytes`, as views into them. Refuses (kSkip) what is malformed, too large, of an
/// unknown kind or without a source; text that is not UTF-8; an upsert or remove without object_id;
/// an upsert without subject_key; a malformed key. Unknown fields are skipped. Allocates nothing
/// but the words of an error.
Result<ChangeView> decode_change(std::string_view bytes);

/// The same without a Result: what is wrong in one static line, or nullptr and `out`, which is a
/// new one, is filled.
const char* read_change(std::string_view bytes, ChangeView& out);

}  // namespace trueup::codec
