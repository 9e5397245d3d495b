// A story that stands in a test, played under a policy that does, too.
#pragma once

#include "apps/config/policy_file.h"
#include "stories/player.h"

#include <sstream>
#include <string>

namespace trueup::stories {

/// What went otherwise than told, as it stands and played in every other way; empty: nothing.
inline std::string flaws_of(const std::string& story, const std::string& policy) {
    const Result<config::PolicyFile> file = config::parse_policy(policy, "policy.yaml");
    if (!file) return file.error().what;
    std::istringstream in(story);
    const Result<Story> read = Story::read(in, "a.scn");
    return read ? try_story(*read, file->policy).flaws : read.error().what;
}

}  // namespace trueup::stories
