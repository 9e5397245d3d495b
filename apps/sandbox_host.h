// A whole process over a sandbox's world: what `trueup demo` runs, and what benchmarks measure.
#pragma once

#include "apps/host.h"
#include "sandbox/world.h"

#include <memory>

namespace trueup::apps {

/// Both sources and the executors, through ports of `world`, which must outlive the host.
Result<std::unique_ptr<Host>> start_sandbox_host(sandbox::World& world, HostSettings settings);

}  // namespace trueup::apps
