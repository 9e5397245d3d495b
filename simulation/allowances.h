// What oracles go by beside the world: what the plan of a run says, and what is nobody's fault
// after something went wrong in it. A plain value; acts change it as they happen.
#pragma once

#include "engine/base/time.h"
#include "simulation/law.h"

#include <cstdint>

namespace trueup::simulation {

struct Allowances {
    bool races_forbidden = false;
    /// Every rule is in force, with windows and rules that ask; else G1 to G3.
    bool every_rule = false;
    /// What is right under other policies than the shipped one; nullptr: that one is in force.
    Law* law = nullptr;
    std::int32_t shards = 1;
    /// A source may speak from the past, and believe that it is the present.
    bool proofs_may_lie = false;
    /// A journal lost its end: nobody knows any more what was ordered there.
    bool tail_lost = false;
    /// How long ago what a command relies on may have ceased to be so: a source is stale then.
    Millis evidence_age{60'000};
};

}  // namespace trueup::simulation
