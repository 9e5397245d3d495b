// The smallest part of a schedule that still fails.
#include "simulation/run.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace trueup::simulation {

Schedule shrink(std::uint64_t seed, const Plan& plan, const Schedule& schedule, int most) {
    const auto first = [&](const Schedule& tried) {
        const Report report = run(seed, plan, tried);
        return report.good() ? std::string() : report.violations.front().oracle;
    };
    Schedule best = schedule;
    const std::string wanted = first(best);
    // Leaves out halves, then quarters, and so on, down to single acts.
    for (std::size_t part = std::max<std::size_t>(best.size() / 2, 1); most > 0; part /= 2) {
        for (std::size_t from = 0; from < best.size() && most > 0;) {
            Schedule tried = best;
            const auto begin = tried.begin() + static_cast<std::ptrdiff_t>(from);
            tried.erase(begin,
                        begin + static_cast<std::ptrdiff_t>(std::min(part, best.size() - from)));
            --most;
            if (first(tried) == wanted) {
                best = std::move(tried);
            } else {
                from += part;
            }
        }
        if (part <= 1) break;
    }
    return best;
}

}  // namespace trueup::simulation
