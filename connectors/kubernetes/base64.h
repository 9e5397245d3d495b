// Base64 as kubeconfigs and ExecCredentials use it (RFC 4648 §4). No I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trueup::connectors {

/// Blanks and line ends are skipped; nullopt: another byte that is no digit.
std::optional<std::string> decode_base64(std::string_view text);
std::string encode_base64(std::string_view bytes);

}  // namespace trueup::connectors
