// The metrics page, in Prometheus' text format. Two classes: what is derived from the journal (a
// replay shows the same) and what belongs to this process.
#pragma once

#include "api/snapshot.h"

#include <string>

namespace trueup::api {

std::string metrics_text(const Snapshot& snapshot);

}  // namespace trueup::api
