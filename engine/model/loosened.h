// What a configuration lets rules do that the one before did not: said when it comes into force, so
// that nobody has to compare two files. It needs no word of an operator (docs/adr/0034).
#pragma once

#include "engine/model/settings.h"

#include <string>
#include <vector>

namespace trueup {

/// One sentence for each setting that `now` has looser than `before` had it, as
/// `orphaned_pod: grace 60s -> 10s`; rules and sources that are new, or of another name, are left
/// out. Pure.
std::vector<std::string> loosened(const Settings& before, const Settings& now);

}  // namespace trueup
