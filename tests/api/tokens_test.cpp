// Proves api/tokens.h: who may ask for what, and for how long.
#include "api/tokens.h"

#include <gtest/gtest.h>

namespace trueup::api {
namespace {

Tokens parsed(const std::string& text) {
    const Result<Tokens> tokens = Tokens::parse(text);
    EXPECT_TRUE(tokens.ok()) << (tokens.ok() ? "" : tokens.error().what);
    return tokens.ok() ? *tokens : Tokens();
}

const std::string kText =
    "# a comment\n"
    "local admin 0123456789abcdef0123\n"
    "\n"
    "vera viewer vvvvvvvvvvvvvvvvvvvv 2026-01-01T00:00:00Z\n";
constexpr std::int64_t kNewYear = 1'767'225'600;  // 2026-01-01T00:00:00Z

TEST(Tokens, AKnownOneNamesItsOwner) {
    Caller caller;
    EXPECT_EQ(parsed(kText).find("Bearer 0123456789abcdef0123", 0, caller), Tokens::Found::kGood);
    EXPECT_EQ(caller.name, "local");
    EXPECT_EQ(caller.role, Role::kAdmin);
}

TEST(Tokens, AnythingElseGetsNobodyIn) {
    const Tokens tokens = parsed(kText);
    Caller caller;
    for (const char* header :
         {"", "Bearer ", "Bearer 0123456789abcdef012", "bearer x", "0123456789abcdef0123",
          "Bearer 0123456789abcdef01234", "Basic 0123456789abcdef0123"}) {
        EXPECT_EQ(tokens.find(header, 0, caller), Tokens::Found::kUnknown) << header;
    }
    EXPECT_EQ(Tokens().find("Bearer 0123456789abcdef0123", 0, caller), Tokens::Found::kUnknown);
    EXPECT_EQ(caller.name, "");
}

TEST(Tokens, OneEndsWhenItsTimeIsOver) {
    const Tokens tokens = parsed(kText);
    Caller caller;
    const std::string header = "Bearer vvvvvvvvvvvvvvvvvvvv";
    EXPECT_EQ(tokens.find(header, kNewYear - 1, caller), Tokens::Found::kGood);
    EXPECT_EQ(tokens.find(header, kNewYear, caller), Tokens::Found::kExpired);
}

TEST(Tokens, AWrongLineIsRefusedWithWhatToWrite) {
    const auto refusal = [](const std::string& text) {
        const Result<Tokens> tokens = Tokens::parse(text);
        return tokens.ok() ? std::string("it was read") : tokens.error().what;
    };
    EXPECT_EQ(
        refusal("a b c\n"),
        "tokens:1: a token must have at least 16 characters; a line is NAME ROLE TOKEN [EXPIRES]");
    EXPECT_EQ(refusal("#\nalice boss 0123456789abcdef0123\n"),
              "tokens:2: the role must be viewer, user, ops or admin; a line is NAME ROLE TOKEN "
              "[EXPIRES]");
    EXPECT_EQ(
        refusal("alice ops 0123456789abcdef0123 tomorrow\n"),
        "tokens:1: write the expiry as 2026-12-31T00:00:00Z; a line is NAME ROLE TOKEN [EXPIRES]");
}

TEST(Tokens, WhatWasTakenAwayLetsNobodyInByAnyCopy) {
    Tokens ours = parsed(kText);
    const Tokens servers = ours;
    const char* header = "Bearer 0123456789abcdef0123";
    Caller caller;
    EXPECT_EQ(servers.find(header, 0, caller), Tokens::Found::kGood);
    ours.become(parsed("# nobody\n"));
    EXPECT_EQ(servers.find(header, 0, caller), Tokens::Found::kUnknown);
}

}  // namespace
}  // namespace trueup::api
