// What a server means by a SQLSTATE. Pure.
#pragma once

#include "engine/base/error.h"

#include <string>
#include <string_view>

namespace trueup::connectors::postgres {

/// Turns a refused statement or a failed connection into the caller's next move.
Next next_move(std::string_view sqlstate);
/// What went wrong, of a server that answered so; none: there was no answer.
Code code_of(std::string_view sqlstate);

/// That of a failed connection; empty: its words have none.
std::string connect_state(std::string_view message);

}  // namespace trueup::connectors::postgres
