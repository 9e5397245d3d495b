// The times of a story: how long after its first record something is. Free functions without state.
#pragma once

#include "engine/base/time.h"

#include <string>

namespace trueup::stories {

/// The broker's time at `since` after the first record.
BrokerTime broker(Millis since);
/// The same as PostgreSQL writes a timestamptz in UTC.
std::string timestamp(Millis since);

}  // namespace trueup::stories
