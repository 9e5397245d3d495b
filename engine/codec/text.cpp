#include "engine/codec/text.h"

#include "engine/codec/limits.h"

#include <cstddef>
#include <cstring>

namespace trueup::codec {

namespace {

bool continues(std::string_view bytes, std::size_t i) {
    return i < bytes.size() && (static_cast<unsigned char>(bytes[i]) & 0xc0U) == 0x80U;
}

/// Length of the well-formed sequence of two to four bytes at `i`; 0 when there is none.
std::size_t sequence_at(std::string_view bytes, std::size_t i) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    if (lead < 0xc2 || lead > 0xf4 || !continues(bytes, i + 1)) return 0;
    if (lead < 0xe0) return 2;
    const auto second = static_cast<unsigned char>(bytes[i + 1]);
    if (!continues(bytes, i + 2)) return 0;
    if (lead < 0xf0) {
        const bool overlong = lead == 0xe0 && second < 0xa0;
        const bool surrogate = lead == 0xed && second >= 0xa0;
        return overlong || surrogate ? 0 : 3;
    }
    const bool overlong = lead == 0xf0 && second < 0x90;
    const bool too_high = lead == 0xf4 && second >= 0x90;
    return overlong || too_high || !continues(bytes, i + 3) ? 0 : 4;
}

}  // namespace

bool is_wide_utf8(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size();) {
        const bool ascii = static_cast<unsigned char>(bytes[i]) < 0x80;
        const std::size_t length = ascii ? 1 : sequence_at(bytes, i);
        if (length == 0) return false;
        i += length;
    }
    return true;
}

bool is_key(std::string_view text) {
    if (text.empty() || text.size() > kMaxKeyBytes) return false;
    if (text.front() == '!') return true;
    const char* const end = text.data() + text.size();
    const auto slash_from = [end](const char* at) {
        return static_cast<const char*>(std::memchr(at, '/', static_cast<std::size_t>(end - at)));
    };
    const char* const slash = slash_from(text.data());
    return slash != nullptr && slash != text.data() && slash + 1 != end &&
           slash_from(slash + 1) == nullptr;
}

}  // namespace trueup::codec
