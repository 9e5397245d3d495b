// What reading a kubeconfig needs of YAML. Internal to kubeconfig.cpp and exec_config.cpp.
#pragma once

#include "connectors/kubernetes/exec_config.h"
#include "engine/base/result.h"

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>
#include <utility>

namespace trueup::connectors {

struct ClusterAccess;

inline Error refusal(std::string what) {
    return Error{Next::kStop, Code::kConfiguration, std::move(what)};
}

/// The scalar of that name; empty when there is none.
inline std::string text_of(const YAML::Node& parent, const char* name) {
    if (!parent || !parent.IsMap()) return "";
    const YAML::Node node = parent[name];
    return node && node.IsScalar() ? node.as<std::string>() : "";
}

/// `exec` is the user's; `cluster` is what the context names, read into `access` before, and is
/// told to the plugin only where it says provideClusterInfo. Paths are relative to `at`.
Result<ExecConfig> read_exec(const YAML::Node& exec, const YAML::Node& cluster,
                             const ClusterAccess& access, const std::filesystem::path& at);

}  // namespace trueup::connectors
