// A record of a journal, kept for replays (replay.h). A plain value.
#pragma once

#include "engine/base/id.h"
#include "engine/base/time.h"

#include <string>

namespace trueup::stories {

/// As it is stored.
struct Recorded {
    Offset offset = kNoOffset;
    BrokerTime append_time{};
    std::string bytes;
};

}  // namespace trueup::stories
