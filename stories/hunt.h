// Which mistakes in a policy its stories notice: each mutant (mutants.h) is played against them
// until one goes otherwise. Those that none notices are what the stories do not say.
#pragma once

#include "engine/base/shared.h"
#include "stories/mutants.h"
#include "stories/story.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace trueup::stories {

struct Hunted {
    std::size_t made = 0;
    std::size_t equal = 0;    ///< means the same
    std::size_t refused = 0;  ///< no engine takes it
    std::size_t unable = 0;   ///< of rules that nothing in this build can carry out
    std::size_t noticed = 0;
    std::vector<Mutant> survivors;  ///< in the order of the file
    bool stopped = false;           ///< before it was over

    std::size_t played() const { return noticed + survivors.size(); }
};

struct HuntOptions {
    std::size_t jobs = 1;  ///< threads, which are its own and end with it
    /// Asked about every tenth of a second, by the caller's thread; false ends the hunt.
    std::function<bool(std::size_t done, std::size_t of)> go_on;
};

/// Of stories that go as told with the policy as it is.
Hunted hunt(const Shared<policy::Policy>& policy, const std::vector<Story>& stories,
            const HuntOptions& options = {});

}  // namespace trueup::stories
