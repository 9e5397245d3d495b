// A kubeconfig's `exec` plugin: which program prints our credentials, and what it is told.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace trueup::connectors {

struct ExecConfig {
    std::string command;  ///< as written: for messages
    std::string program;  ///< what is run; without a slash it is looked for in PATH
    std::vector<std::string> args;
    std::map<std::string, std::string> env;  ///< beside our own; KUBERNETES_EXEC_INFO is in it
    /// Variables of ours that it is not given, unless `env` has them: our own secrets. All others
    /// it is given: which ones a plugin needs, of its cloud, its proxy or its cache, only it knows.
    std::set<std::string> withheld;
    std::string api_version;   ///< client.authentication.k8s.io/v1 or v1beta1
    std::string install_hint;  ///< what to do where the command is missing
};

}  // namespace trueup::connectors
