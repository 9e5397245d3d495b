// One run of a simulation: a seed and a plan give a schedule, and the schedule gives everything
// else.
#pragma once

#include "engine/base/hash.h"
#include "simulation/acts.h"
#include "simulation/plan.h"
#include "simulation/trace.h"
#include "simulation/violations.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::simulation {

struct ScheduledAct {
    Millis at{0};
    const ActKind* kind = nullptr;
    std::uint64_t draw = 0;
};
using Schedule = std::vector<ScheduledAct>;

/// In the order of their times.
Schedule make_schedule(std::uint64_t seed, const Plan& plan);
/// `12.345 crash 1f4c…`
std::string to_text(const ScheduledAct& act);

struct Report {
    std::vector<Violation> violations;
    Hash128 trace;  ///< of every journal record and every act in the world, with
                    ///< their times
    Millis simulated{0};
    Millis settled{0};          ///< how long after the last act nothing was open any more
    std::uint64_t records = 0;  ///< of the journal
    std::uint64_t commands = 0;
    std::uint64_t effects = 0;
    std::uint64_t races = 0;
    std::uint64_t events = 0;
    bool good() const { return violations.empty(); }
};

/// Into `story`, where there is one, goes what happened.
Report run(std::uint64_t seed, const Plan& plan, const Schedule& schedule, Trace* trace = nullptr);
inline Report run(std::uint64_t seed, const Plan& plan) {
    return run(seed, plan, make_schedule(seed, plan));
}

/// The smallest part of the schedule that it finds within `most` runs, in which the same oracle is
/// violated first.
Schedule shrink(std::uint64_t seed, const Plan& plan, const Schedule& schedule, int most);

}  // namespace trueup::simulation
