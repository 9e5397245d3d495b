// Which characters make a word of a key (key.h). Internal to engine/model.
#pragma once

namespace trueup::policy {

inline bool begins_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}
inline bool continues_word(char c) { return begins_word(c) || (c >= '0' && c <= '9') || c == '$'; }

}  // namespace trueup::policy
