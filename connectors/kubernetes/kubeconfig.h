// Where the API server is and how to prove who we are: from a kubeconfig file, or from what a pod
// finds mounted.
#pragma once

#include "connectors/kubernetes/exec_config.h"
#include "engine/base/result.h"

#include <functional>
#include <optional>
#include <string>

namespace trueup::connectors {

/// Everything that a connection needs. Holds secrets: never logged.
struct ClusterAccess {
    std::string server;              ///< `https://host:port`, without a trailing slash
    std::string ca;                  ///< PEM; empty: the system's authorities
    std::string cert;                ///< PEM of the client certificate; empty: none
    std::string key;                 ///< PEM of its key
    std::string token;               ///< bearer token; empty: none
    std::string token_file;          ///< read again every minute and after a 401; wins over `token`
    std::optional<ExecConfig> exec;  ///< a program that prints them; then there are no others
    std::string tls_name;    ///< the name in the server's certificate, where it is not the host's
    std::string name_space;  ///< the context's own; empty: it has none
    bool verify = true;      ///< false only where insecure-skip-tls-verify was allowed
    /// Reads all of it again from where it came: authorities, certificates and tokens are replaced
    /// while we run. Empty: it came from nowhere.
    std::function<Result<ClusterAccess>()> again;
    /// Told a sentence when what was read again takes a restart. Empty: nobody is.
    std::function<void(const std::string&)> say;
};

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
