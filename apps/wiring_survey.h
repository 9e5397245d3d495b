// One look at all sources of a policy over real servers, for commands that say what it would do,
// and for `config check`.
#pragma once

#include "apps/config/config.h"
#include "apps/one_look.h"
#include "apps/survey.h"
#include "engine/base/result.h"

#include <cstdint>
#include <vector>

namespace trueup::apps {

/// kWorld: what there is; takes no account that writes. kRights: also what our accounts may do
/// there, and how executors' looks would be answered.
enum class Depth : std::uint8_t { kWorld, kRights };

/// Reads each source of the policy once, one after another. Blocking; writes nothing. The error
/// names the source that did not answer; kStop: the watcher said so, or a source is not as
/// configured.
Result<std::vector<Surveyed>> survey(const config::Config& config, const Watcher& watcher,
                                     Depth depth);

}  // namespace trueup::apps
