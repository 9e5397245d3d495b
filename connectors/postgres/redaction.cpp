#include "connectors/postgres/redaction.h"

#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

namespace trueup::connectors::postgres {

namespace {

constexpr const char* kHidden = "***";

constexpr std::array<std::string_view, 12> kShown{"application_name",
                                                  "connect_timeout",
                                                  "dbname",
                                                  "host",
                                                  "hostaddr",
                                                  "port",
                                                  "service",
                                                  "sslcert",
                                                  "sslmode",
                                                  "sslrootcert",
                                                  "target_session_attrs",
                                                  "user"};

struct Freed {
    void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

/// As libpq reads it again.
std::string quoted(std::string_view value) {
    const bool plain = !value.empty() && value.find_first_of(" \t\n\r\f\v'\\") == value.npos;
    if (plain) return std::string(value);
    std::string text = "'";
    for (const char c : value) {
        if (c == '\'' || c == '\\') text += '\\';
        text += c;
    }
    return text + '\'';
}

/// Of `u:pa/ss@db` libpq takes the password's rest for a database, of `u:pass/db` the whole for a
/// port.
bool slipped(bool uri, std::string_view keyword, std::string_view value) {
    if (keyword == "port") return value.find_first_not_of("0123456789,") != value.npos;
    return uri && keyword != "user" && value.find('@') != value.npos;
}

}  // namespace

std::string redact_conninfo(const std::string& conninfo) {
    char* problem = nullptr;
    const std::unique_ptr<PQconninfoOption, Freed> options(
        PQconninfoParse(conninfo.c_str(), &problem));
    if (problem != nullptr) PQfreemem(problem);  // it quotes the text
    if (!options) return kHidden;
    const bool uri = conninfo.starts_with("postgresql://") || conninfo.starts_with("postgres://");
    std::string shown;
    bool secret = false;
    for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
        if (option->val == nullptr) continue;
        const std::string_view keyword = option->keyword;
        const bool may = std::find(kShown.begin(), kShown.end(), keyword) != kShown.end();
        if (may && slipped(uri, keyword, option->val)) return kHidden;
        secret = secret || !may;
        shown += shown.empty() ? "" : " ";
        shown.append(keyword).append("=").append(may ? quoted(option->val) : kHidden);
    }
    return secret ? shown : conninfo;
}

}  // namespace trueup::connectors::postgres
