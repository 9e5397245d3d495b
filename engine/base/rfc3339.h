// Moments as text. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace trueup {

/// RFC 3339 in UTC with milliseconds. Years 1970 to 9999; what is outside is moved to the border.
std::string rfc3339(std::int64_t ms_since_1970);

}  // namespace trueup
