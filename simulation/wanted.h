// The rule of a plan in which rows want pods (Plan::creates): who says `wanted` and has no pod gets
// one, from a template.
#pragma once

#include "engine/model/settings.h"

namespace trueup::simulation {

/// The same policy with that rule, enforced, and a word of `status` for it, by which a row is live.
void create_wanted(Settings& settings);

}  // namespace trueup::simulation
