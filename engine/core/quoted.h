// A word as an answer to an operator names it. Not for other users than the fold's.
#pragma once

#include <string>
#include <string_view>

namespace trueup::core {

inline std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace trueup::core
