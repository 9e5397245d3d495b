// A policy over a sandbox's world: what `trueup demo` runs, and what benchmarks measure.
#pragma once

#include "apps/host.h"
#include "sandbox/world.h"

namespace trueup::apps {

/// Begins `host`, which was opened, over a log in its state folder, both sources and the executors,
/// through ports of `world`, which must outlive it.
Status begin_in_sandbox(Host& host, sandbox::World& world);

}  // namespace trueup::apps
