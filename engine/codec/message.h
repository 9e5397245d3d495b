// What the codecs over generated code share. Included by their sources only.
#pragma once

#include "engine/base/error.h"
#include "engine/codec/limits.h"
#include "engine/model/ids.h"

#include <optional>
#include <string>
#include <string_view>

namespace trueup::codec {

/// Keeps protobuf from printing to stderr, past our log, what it finds wrong with bytes from
/// outside: whoever reads them gets an Error. What is fatal is still printed. Cheap after the first
/// call.
void quiet_protobuf();

/// Fills `message` from `bytes`; false when they are too many or malformed. `Message` is generated.
template <typename Message>
bool parse(std::string_view bytes, Message& message) {
    quiet_protobuf();
    return bytes.size() <= kMaxItemBytes &&
           message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

/// `what` is one line; the record can never be read, whoever tries.
inline Error unreadable(std::string_view what) {
    return {Next::kSkip, Code::kCorrupt, std::string(what)};
}

/// Reads an identity; false when it is not 32 lower-case hex digits or means "none".
template <typename Id>
bool read_id(const std::string& hex, Id& out) {
    const std::optional<Id> id = id_from_hex<Id>(hex);
    if (!id || id->none()) return false;
    out = *id;
    return true;
}

}  // namespace trueup::codec
