#include "simulation/violations.h"

#include <utility>

namespace trueup::simulation {

void Violations::violate(const std::string& oracle, std::string what) {
    all_.push_back(
        {oracle, "at " + std::to_string(scheduler_.since().count()) + " ms: " + std::move(what)});
}

}  // namespace trueup::simulation
