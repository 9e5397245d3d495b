// A configuration as people and programs read it: with every default filled in and no secret in it.
#pragma once

#include "apps/config/config.h"

#include <string>
#include <string_view>
#include <vector>

namespace trueup::config {

/// A few lines, the last one ended.
std::string describe(const Config& config);

/// One JSON object with the keys of the file. It is YAML as well: where no secret had to be hidden,
/// the file may be replaced by it.
std::string describe_json(const Config& config);

/// What is allowed and yet rarely meant; one sentence each.
std::vector<std::string> warnings(const Config& config);

}  // namespace trueup::config
