// An object as a statement of a story shows it. For the player of stories.
#pragma once

#include "engine/model/role.h"
#include "stories/saying.h"
#include "stories/script.h"
#include "stories/world.h"

#include <cstdint>

namespace trueup::stories {

/// What `pod w-7 uid=a phase=Failed`, of an object of that role, says to an engine; `gone`: that it
/// was removed. `version` counts up. Throws Unusable.
Seen read_object(const World& world, const policy::Role& role, Saying& said, bool gone,
                 std::uint64_t& version);

}  // namespace trueup::stories
