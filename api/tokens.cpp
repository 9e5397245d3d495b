#include "api/tokens.h"

#include <openssl/crypto.h>

#include <array>
#include <ctime>
#include <sstream>

namespace trueup::api {

namespace {

constexpr std::array<std::string_view, 4> kRoles{"viewer", "user", "ops", "admin"};
constexpr std::size_t kShortest = 16;

/// Takes as long for every token of one length.
bool same(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

/// `2026-12-31T00:00:00Z`
std::optional<std::int64_t> seconds_of(const std::string& text) {
    std::tm parts{};
    const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (end == nullptr || *end != '\0') return std::nullopt;
    return timegm(&parts);
}

}  // namespace

std::string_view name_of(Role role) { return kRoles[static_cast<std::size_t>(role)]; }

Result<Tokens> Tokens::parse(std::string_view text) {
    std::vector<Token> tokens;
    std::istringstream lines{std::string(text)};
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.empty() || line.front() == '#') continue;
        std::istringstream words(line);
        Token token;
        std::string role;
        std::string expires;
        words >> token.caller.name >> role >> token.secret >> expires;
        std::size_t which = 0;
        while (which < kRoles.size() && kRoles[which] != role) ++which;
        if (!expires.empty()) token.expires = seconds_of(expires);
        const char* wrong = nullptr;
        if (which == kRoles.size()) wrong = "the role must be viewer, user, ops or admin";
        if (token.secret.size() < kShortest) wrong = "a token must have at least 16 characters";
        if (!expires.empty() && !token.expires) wrong = "write the expiry as 2026-12-31T00:00:00Z";
        if (wrong != nullptr) {
            return Error{Next::kStop, Code::kConfiguration,
                         "tokens:" + std::to_string(number) + ": " + wrong +
                             "; a line is NAME ROLE TOKEN [EXPIRES]"};
        }
        token.caller.role = static_cast<Role>(which);
        tokens.push_back(std::move(token));
    }
    return Tokens(std::move(tokens));
}

Tokens::Found Tokens::find(std::string_view authorization, std::int64_t now, Caller& caller) const {
    constexpr std::string_view kBearer = "Bearer ";
    if (!authorization.starts_with(kBearer)) return Found::kUnknown;
    authorization.remove_prefix(kBearer.size());
    const auto tokens = tokens_.get();
    for (const Token& token : *tokens) {
        if (!same(token.secret, authorization)) continue;
        if (token.expires && now >= *token.expires) return Found::kExpired;
        caller = token.caller;
        return Found::kGood;
    }
    return Found::kUnknown;
}

}  // namespace trueup::api
