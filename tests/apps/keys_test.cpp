// Proves apps/keys.h (design §4.15): secrets are made once, for nobody but their owner to read.
#include "apps/keys.h"

#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

namespace trueup::apps {
namespace {

using trueup::testing::TempDir;

std::string signed_by(const codec::KeyRing& keys) {
    std::string message("\x0a\x01x", 3);
    keys.sign(codec::kCommandSignature, message);
    return message;
}

void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
    ::chmod(path.c_str(), 0600);
}

std::string refusal(const std::string& folder) {
    const auto keys = load_keys(folder + "/keys", "commands");
    return keys.ok() ? "they were read" : keys.error().what.substr(folder.size());
}

TEST(Keys, AreMadeOnceAndKeptForTheirOwner) {
    const TempDir folder;
    const auto first = load_keys(folder.path() + "/keys", "commands");
    ASSERT_TRUE(first.ok()) << first.error().what;
    struct stat status {};
    ASSERT_EQ(::stat((folder.path() + "/keys/commands").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    const auto again = load_keys(folder.path() + "/keys", "commands");
    ASSERT_TRUE(again.ok());
    EXPECT_TRUE(again->authentic(codec::kCommandSignature, signed_by(*first)));
}

TEST(Keys, EachRoleHasItsOwn) {
    const TempDir folder;
    const auto commands = load_keys(folder.path() + "/keys", "commands");
    const auto requests = load_keys(folder.path() + "/keys", "requests");
    ASSERT_TRUE(commands.ok() && requests.ok());
    EXPECT_FALSE(requests->authentic(codec::kCommandSignature, signed_by(*commands)));
}

TEST(Keys, ANewOneOnTopSignsAndTheOldOneIsStillBelieved) {
    const TempDir folder;
    const auto before = load_keys(folder.path() + "/keys", "commands");
    ASSERT_TRUE(before.ok());
    const std::string path = folder.path() + "/keys/commands";
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    write(path, "# rotated\nnew " + random_hex(32) + "\n" + line + "\n");
    const auto after = load_keys(folder.path() + "/keys", "commands");
    ASSERT_TRUE(after.ok()) << after.error().what;
    EXPECT_TRUE(after->authentic(codec::kCommandSignature, signed_by(*before)));
    EXPECT_FALSE(before->authentic(codec::kCommandSignature, signed_by(*after)));
}

TEST(Keys, AFileThatOthersMayReadIsRefused) {
    const TempDir folder;
    ASSERT_TRUE(load_keys(folder.path() + "/keys", "commands").ok());
    const std::string path = folder.path() + "/keys/commands";
    ::chmod(path.c_str(), 0644);
    EXPECT_NE(refusal(folder.path()).find("may be read by others; write chmod 600 " + path),
              std::string::npos);
}

TEST(Keys, WhatIsNoKeyIsRefusedWithItsLine) {
    const TempDir folder;
    ASSERT_TRUE(load_keys(folder.path() + "/keys", "commands").ok());
    const std::string path = folder.path() + "/keys/commands";
    const std::string wanted = ": write ID HEX, with at least 32 hex digits";
    write(path, "# nothing\n");
    EXPECT_EQ(refusal(folder.path()),
              "/keys/commands has no key; remove the file to have one created");
    for (const char* text : {"k\n", "k 00\n", "k 0123456789abcdef0123456789abcdeX\n",
                             "k 0123456789abcdef0123456789abcdef0\n"}) {
        write(path, text);
        EXPECT_EQ(refusal(folder.path()), "/keys/commands:1" + wanted) << text;
    }
}

TEST(Keys, TokensAreMadeWithOneOperator) {
    const TempDir folder;
    const auto text = load_tokens(folder.path() + "/keys");
    ASSERT_TRUE(text.ok());
    EXPECT_NE(text->find("\nlocal admin "), std::string::npos);
    EXPECT_EQ(load_tokens(folder.path() + "/keys").value(), *text);
}

TEST(Keys, RandomTextsDiffer) {
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) seen.insert(random_hex(16));
    EXPECT_EQ(seen.size(), 100U);
    EXPECT_EQ(seen.begin()->size(), 32U);
}

}  // namespace
}  // namespace trueup::apps
