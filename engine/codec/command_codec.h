// Commands on the wire: trueup.v1.Command.
#pragma once

#include "engine/base/result.h"
#include "engine/model/command.h"

#include <string>
#include <string_view>

namespace trueup::codec {

std::string encode_command(const Command& command);

/// Refuses (kSkip) what is malformed, has no id, no expiry, no exact target or an empty read set,
/// or has an action or a predicate of an unknown kind: an executor never acts on half of a command.
Result<Command> decode_command(std::string_view bytes);

}  // namespace trueup::codec
