// The graph-instances policy: wrapper pods against the rows of the `instances` table.
#pragma once

#include "engine/core/policy.h"

namespace trueup::core::graph_instances {

extern const Policy kPolicy;

}  // namespace trueup::core::graph_instances
