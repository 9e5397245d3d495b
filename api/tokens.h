// Who may ask for what over HTTP: bearer tokens with a name, a role and, where wished, an end.
//
//     # NAME ROLE TOKEN [EXPIRES]
//     alice ops 9f86d081884c7d65...  2026-12-31T00:00:00Z
//
// Roles: `viewer` looks; `user` looks and may ask for the end of instances of their own (NAME is
// their user name); `ops` and `admin` may ask for everything.
#pragma once

#include "engine/base/current.h"
#include "engine/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::api {

enum class Role : std::uint8_t { kViewer, kUser, kOps, kAdmin };
/// `viewer`, `user`, `ops`, `admin`.
std::string_view name_of(Role role);

struct Caller {
    std::string name;
    Role role = Role::kViewer;
};

/// Copies are the same tokens: what `become` gives one, all have. Thread-safe.
class Tokens {
  public:
    /// Nobody gets in.
    Tokens() = default;
    /// The error names the line and what to write.
    static Result<Tokens> parse(std::string_view text);

    /// Has the other's tokens from now on, in place of its own.
    void become(const Tokens& other) { tokens_.set(other.tokens_.get()); }

    enum class Found : std::uint8_t { kUnknown, kExpired, kGood };
    /// Looks the value of an Authorization header up. `now`: seconds since 1970.
    Found find(std::string_view authorization, std::int64_t now, Caller& caller) const;

  private:
    struct Token {
        Caller caller;
        std::string secret;
        std::optional<std::int64_t> expires;
    };
    explicit Tokens(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
    Current<std::vector<Token>> tokens_;
};

}  // namespace trueup::api
