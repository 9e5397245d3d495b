// How a process writes its log: text for people, or one JSON object a line.
#pragma once

#include "apps/config/config.h"

namespace trueup::apps {

/// Level and format as configured, from now on. Call it before threads start.
void use_log_settings(const config::Config& config);

}  // namespace trueup::apps
