// What a kubeconfig's exec plugin prints: an ExecCredential. No I/O.
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trueup::connectors {

/// Holds secrets: never logged.
struct ExecCredential {
    std::string token;                       ///< bearer token; empty: none
    std::string cert;                        ///< PEM of the client certificate; empty: none
    std::string key;                         ///< PEM of its key
    std::optional<std::int64_t> expires_ms;  ///< ms since 1970; nullopt: when the server says so
};

/// The error says what is missing, and nothing of what was printed. It goes on a sentence that
/// begins with the command.
Result<ExecCredential> parse_exec_credential(std::string_view printed,
                                             const std::string& api_version);

/// `2026-01-31T23:59:59.5+02:00` in ms since 1970; nullopt: not such a time.
std::optional<std::int64_t> parse_rfc3339(std::string_view text);

}  // namespace trueup::connectors
