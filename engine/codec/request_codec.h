// Requests of operators on the wire: trueup.v1.Request. Signing is apart (signature.h).
#pragma once

#include "engine/base/result.h"
#include "engine/model/request.h"

#include <string>
#include <string_view>

namespace trueup::codec {

/// Without a signature.
std::string encode_request(const Request& request);

/// Refuses (kSkip) what is malformed, has no id, or is of an unknown kind. Does not look at the
/// signature.
Result<Request> decode_request(std::string_view bytes);

}  // namespace trueup::codec
