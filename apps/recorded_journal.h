// The log of a journal that was recorded, for who only reads it: what `--journal DIR|CONFIG` names.
#pragma once

#include "engine/base/result.h"
#include "engine/ports/log.h"

#include <memory>
#include <string>

namespace trueup::apps {

/// `where` is a configuration file, or a folder: the state folder of a process, that of one of its
/// policies, or a copy of the log itself. `policy`: the name in the policy's text, where there are
/// several. An embedded log is read as it is now, also while an engine runs over it: no lock is
/// taken and nothing is written. The error is one sentence that says what to name instead.
Result<std::unique_ptr<ports::Log>> open_recorded(const std::string& where,
                                                  const std::string& policy);

}  // namespace trueup::apps
