// What an operator is answered, and the answers that several kinds of requests have in common. Not
// for other users than the fold's parts.
//
// Thread-safe: keeps no state.
#pragma once

#include "engine/core/meta.h"
#include "engine/model/request.h"

#include <string>

namespace trueup::core {

struct Answer {
    bool granted = false;
    std::string sentence;  ///< what it did, or why not
};

Answer no_such_source(const Meta& meta, const Request& request);

/// Why nobody can have seen that journal offset; empty: somebody can.
std::string not_yet_written(const Meta& meta, Offset seen);

}  // namespace trueup::core
