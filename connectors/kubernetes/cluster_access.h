// What a connection to an API server is made with. Holds secrets; read by kubeconfig.h.
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

}  // namespace trueup::connectors
