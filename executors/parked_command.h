// A record of `commands` that no executor can do anything with, as it is reported. A plain value.
#pragma once

#include "engine/base/id.h"

#include <string>

namespace trueup::executors {

struct ParkedCommand {
    PartitionNumber partition;
    Offset offset;
    std::string reason;
};

}  // namespace trueup::executors
