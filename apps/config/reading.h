// How the parts of the file become parts of a Config. Each function notes what is wrong in the
// section's problems and returns something usable all the same.
#pragma once

#include "apps/config/config.h"
#include "apps/config/section.h"

#include <string>
#include <vector>

namespace trueup::config {

/// `folder` is what relative paths are relative to.
std::vector<SourceConfig> read_sources(Section sources, const std::string& folder);

/// `executors: {delete_pod: {source: pods}}`; the sources are in `config` already.
void read_executors(Section executors, Config& config);

/// Reads the policies, holds them against bus, sources and executors, and completes the columns of
/// the sources that they read.
void read_policies(Section& root, Config& config, Problems& problems);

/// A path of the file: absolute, or put behind `folder`.
std::string read_path(Section& section, std::string_view key, std::string_view fallback,
                      const std::string& folder);

}  // namespace trueup::config
