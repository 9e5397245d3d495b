// Where the API server is and how to prove who we are: from a kubeconfig file, or from what a pod
// finds mounted.
#pragma once

#include "connectors/kubernetes/cluster_access.h"
#include "engine/base/result.h"

#include <string>

namespace trueup::connectors {

/// Reads a kubeconfig. `context` empty: its current one, the same again when it is read again,
/// whatever `kubectl config use-context` did meanwhile. Relative paths are relative to the file.
/// `insecure-skip-tls-verify: true` is refused unless `allow_insecure`, an auth-provider always.
/// An exec plugin is only read here; exec_plugin.h runs it. Nobody but us and root may write to
/// the file: it names programs, authorities and servers. One that holds a token, a key or a
/// plugin's variables must be private too (ports/private_file.h); a tokenFile need not be: the
/// kubelet mounts them 0644.
Result<ClusterAccess> read_kubeconfig(const std::string& path, const std::string& context = "",
                                      bool allow_insecure = false);

/// The same from the environment and the service account's folder of a pod.
Result<ClusterAccess> in_cluster_access(
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

/// A whole regular file (behind its links) of 1 byte to 1 MiB; its name is in the error. Never
/// waits: a pipe is refused.
Result<std::string> read_text_file(const std::string& path);

}  // namespace trueup::connectors
