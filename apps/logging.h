// How a process writes its log: text for people, or one JSON object a line.
#pragma once

#include "apps/config/config.h"

#include <string>

namespace trueup::apps {

/// What commands without a configuration write, on stderr: text in the columns of the feed. Call
/// it, and what is below, before threads start.
void use_text_log(const std::string& level);

/// Level and format as configured, from now on. `level` is the one of the command line, which wins;
/// empty: none was given. `feed` is the format where none is configured.
void use_log_settings(const config::Config& config, const std::string& level,
                      config::LogFormat feed);

}  // namespace trueup::apps
