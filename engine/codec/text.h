// What text and keys must look like before the engine lets them in.
#pragma once

#include <string_view>

namespace trueup::codec {

/// Every byte below 0x80? A few nanoseconds for a few hundred bytes.
bool is_ascii(std::string_view bytes);

/// Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. Fast for ASCII.
bool is_utf8(std::string_view bytes);

/// `<policy>/<name>` with both parts and no other slash, or `!<source>/<object>` for a reference,
/// where the object's part is free. 1 to 253 bytes of UTF-8.
bool is_key(std::string_view key);

}  // namespace trueup::codec
