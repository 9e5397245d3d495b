// Requests of operators on the wire: trueup.v1.Request. This build writes and reads them, and acts
// on none; the journal keeps them as they came.
#pragma once

#include "engine/base/id.h"
#include "engine/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trueup::codec {

enum class RequestKind : std::uint8_t {
    kUnspecified = 0,
    kApprove = 1,
    kDismiss = 2,
    kHold = 3,
    kRelease = 4,
    kPause = 5,
    kResume = 6,
    kResnapshot = 7,
};

/// What a request is about; an empty member narrows nothing.
struct RequestScope {
    std::string policy;
    std::string rule;
    std::string subject;
    std::string object_id;
    std::string source;
    std::optional<Hash128> finding_id;
    std::optional<std::int64_t> finding_offset;  ///< its last edge, as the operator saw it
    bool operator==(const RequestScope&) const = default;
};

struct Request {
    Hash128 id;
    RequestKind kind = RequestKind::kUnspecified;
    RequestScope scope;
    std::int64_t issued_ms = 0;  ///< by the clock of the one who asked; for people
    std::string issued_by;
    std::string reason;
    std::string key_id;
    std::string mac;
    bool operator==(const Request&) const = default;
};

std::string encode_request(const Request& request);

/// Refuses (kSkip) what is malformed, has no id, or is of an unknown kind.
Result<Request> decode_request(std::string_view bytes);

}  // namespace trueup::codec
