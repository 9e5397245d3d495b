// The stories of the shipped policies and of the examples, for tests about all of them.
#pragma once

#include "stories/player.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace trueup::stories {

/// Those beside the policy of that name (`examples/workers`).
inline std::vector<Story> read_stories(const std::string& name) {
    std::vector<Story> all;
    for (const std::string& path : stories_in(std::string(TRUEUP_POLICIES) + "/" + name)) {
        Result<Story> story = Story::read(path);
        if (!story) throw std::logic_error(story.error().what);
        all.push_back(std::move(*story));
    }
    return all;
}

}  // namespace trueup::stories
