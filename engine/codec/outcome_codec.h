// Outcomes on the wire: trueup.v1.Outcome.
#pragma once

#include "engine/base/result.h"
#include "engine/model/command.h"

#include <string>
#include <string_view>

namespace trueup::codec {

std::string encode_outcome(const Outcome& outcome);

/// Refuses (kSkip) what is malformed, names no command, or is of an unknown kind.
Result<Outcome> decode_outcome(std::string_view bytes);

}  // namespace trueup::codec
