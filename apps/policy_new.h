// `trueup policy new`: looks at a table and at objects of Kubernetes, and writes the policy, the
// stories and the configuration to begin with. Writes files only.
#pragma once

#include "apps/event_printer.h"
#include "apps/stop_signal.h"

#include <string>
#include <vector>

namespace trueup::apps {

struct PolicyNewOptions {
    std::string name;        ///< of the policy
    std::string into = ".";  ///< the folder that gets the files
    std::string kubeconfig;  ///< a file; empty: in the cluster
    std::string context;
    std::string name_space;
    bool all_namespaces = false;
    std::string resource = "pods";
    std::string selector;
    std::string conninfo_env = "TRUEUP_DATABASE";
    std::string conninfo_file;  ///< in the place of the variable
    std::string table;
    std::string key;                ///< empty: the column that names most objects
    std::string state;              ///< empty: the one with few words
    std::vector<std::string> live;  ///< empty: the words of which most rows have an object
    std::string dead;
    std::string account = "trueup/trueup";  ///< the service account of the printed rights
    OutputFormat format = OutputFormat::kText;
};

/// 0 the files are written; 1 a source did not answer; 2 something is missing or wrong. On a
/// terminal what is missing is asked.
int run_policy_new(const PolicyNewOptions& options, StopSignal& stop);

}  // namespace trueup::apps
