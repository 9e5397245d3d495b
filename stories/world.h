// What stories about a policy may speak of: its sources, how its rules are set, and what its
// objects usually say. For the player of stories.
#pragma once

#include "engine/model/settings.h"
#include "stories/saying.h"
#include "stories/story.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace trueup::stories {

struct World {
    Settings settings;
    std::int32_t shards = 1;  ///< of which the story tells one
    /// By role: what its objects say where a story does not.
    std::map<std::string, std::map<std::string, std::string>> usual;
    std::map<std::string, std::string> tables;  ///< by role: `public.instances`

    /// Every rule enforces but for those that its file says are off, or that nothing in this build
    /// can carry out; then what the setting says. Throws Unusable.
    static World of(const Shared<policy::Policy>& policy, const std::vector<Statement>& setting);

    bool has_source(const std::string& name) const;
    /// The role that a noun names: the role's name, or that without its plural. nullptr: none.
    const policy::Role* role_of(const std::string& noun) const;
    /// The sources that play it.
    std::vector<std::string> sources_of(const policy::Role& role) const;
};

/// What an operator sets of a rule: `rule orphaned_pod observe grace=30s window=10s`.
void set_rule(Saying& said, Settings& settings);

}  // namespace trueup::stories
