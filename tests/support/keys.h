// Keys for tests: what one part signs the other one believes.
#pragma once

#include "engine/codec/command_codec.h"
#include "engine/codec/request_codec.h"
#include "engine/codec/signature.h"

#include <string>
#include <vector>

namespace trueup::testing {

inline const codec::KeyRing& test_keys() {
    static const codec::KeyRing keys(
        std::vector<codec::Key>{{"test", "a secret of thirty-two bytes ..."}});
    return keys;
}

/// As it travels.
inline std::string signed_bytes(const Request& request, const codec::KeyRing& keys = test_keys()) {
    std::string bytes = codec::encode_request(request);
    keys.sign(codec::kRequestSignature, bytes);
    return bytes;
}

inline std::string signed_bytes(const Command& command, const codec::KeyRing& keys = test_keys()) {
    std::string bytes = codec::encode_command(command);
    keys.sign(codec::kCommandSignature, bytes);
    return bytes;
}

}  // namespace trueup::testing
