#include "connectors/postgres/sqlstate.h"

#include <array>
#include <utility>

namespace trueup::connectors::postgres {

namespace {

/// libpq 15 keeps no SQLSTATE of a failed connection; the server's words must do.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kConnectStates = {{
    {"authentication failed", "28P01"},
    {"no pg_hba.conf entry", "28000"},
    {"no password supplied", "28P01"},
    {"must be superuser or replication role", "42501"},
    {"permission denied to start WAL sender", "42501"},
    {"is not permitted to log in", "28000"},
    {"too many", "53300"},
    {"starting up", "57P03"},
}};

}  // namespace

std::string connect_state(std::string_view message) {
    for (const auto& [words, state] : kConnectStates) {
        if (message.find(words) != std::string_view::npos) return std::string(state);
    }
    if (message.find("does not exist") == std::string_view::npos) return {};
    return message.find("database \"") != std::string_view::npos ? "3D000" : "28000";
}

Next next_move(std::string_view sqlstate) {
    const std::string_view family = sqlstate.substr(0, 2);
    // Names, rights, what this server cannot do: the same again until an operator acts.
    if (family == "42" || family == "28" || family == "3D" || family == "0A") return Next::kStop;
    // It is about these values; other rows may be fine.
    if (family == "22" || family == "23") return Next::kSkip;
    return Next::kRetry;
}

Code code_of(std::string_view sqlstate) {
    const std::string_view family = sqlstate.substr(0, 2);
    if (family == "28" || sqlstate == "42501") return Code::kDenied;
    if (family == "3D" || sqlstate == "42P01" || sqlstate == "42703" || sqlstate == "42704") {
        return Code::kNotFound;  // database; table, column, other object
    }
    if (family == "42" || family == "22" || family == "23") return Code::kInvalid;
    if (family == "0A") return Code::kUnsupported;
    if (family == "53") return Code::kExhausted;
    if (sqlstate == "55006" || family == "40") return Code::kConflict;
    if (family == "55") return Code::kConfiguration;  // not in the state that this needs
    if (sqlstate == "58P01") return Code::kLost;      // WAL that was removed
    return Code::kUnavailable;
}

}  // namespace trueup::connectors::postgres
