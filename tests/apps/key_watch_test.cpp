// Proves apps/key_watch.h (design §4.15): keys and tokens are exchanged while the process runs, and
// no file that is bad takes away what is in force.
#include "apps/key_watch.h"

#include "apps/keys.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace trueup::apps {
namespace {

using trueup::testing::TempDir;

const std::string kNewLine = "new 00112233445566778899aabbccddeeff\n";

std::string signed_by(const codec::KeyRing& keys) {
    std::string message("\x0a\x01x", 3);
    keys.sign(codec::kCommandSignature, message);
    return message;
}

/// The id in a signature that it makes.
std::string signer(const codec::KeyRing& keys) {
    const std::string message = signed_by(keys);
    return message.substr(5, static_cast<std::size_t>(message[4]));
}

/// A folder of keys, and a ring that follows its file.
class Watched {
  public:
    Watched() {
        ring.become(load_keys(folder.path() + "/keys", "commands").value());
        watch.add(path(), [this]() -> Status {
            const auto keys = read_keys(folder.path() + "/keys", "commands");
            if (!keys) return keys.error();
            ring.become(*keys);
            return Done{};
        });
        pass(0);
    }
    std::string path() const { return key_file(folder.path() + "/keys", "commands"); }
    std::string text() const {
        std::ifstream file(path());
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void write(const std::string& text) const {
        std::ofstream(path()) << text;
        ::chmod(path().c_str(), 0600);
    }
    void pass(int seconds) {
        now += std::chrono::seconds(seconds);
        watch.look(now);
    }
    /// Two rounds: the change is seen, and has settled.
    void settle() {
        pass(5);
        pass(5);
    }

    TempDir folder;
    codec::KeyRing ring;
    std::vector<std::string> said;
    KeyWatch watch{[this](const std::string& sentence, bool wrong) {
        said.push_back((wrong ? "warning " : "") + sentence.substr(folder.path().size()));
    }};
    SteadyTime now = from_millis<SteadyTime>(1'000'000);
};

TEST(KeyWatch, ANewKeySignsAndTheOldOneIsBelievedUntilItIsTakenAway_Design_4_15) {
    Watched keys;
    const codec::KeyRing copy = keys.ring;  // as the executor has one
    const std::string old_word = signed_by(copy);
    const std::string old_line = keys.text();
    keys.write(kNewLine + old_line);
    keys.settle();
    EXPECT_EQ(signer(copy), "new");
    EXPECT_TRUE(copy.authentic(codec::kCommandSignature, old_word));
    EXPECT_TRUE(copy.authentic(codec::kCommandSignature, signed_by(keys.ring)));
    keys.write(kNewLine);
    keys.settle();
    EXPECT_FALSE(copy.authentic(codec::kCommandSignature, old_word));
    EXPECT_EQ(keys.said, (std::vector<std::string>(2, "/keys/commands was read again")));
}

TEST(KeyWatch, AFileIsLookedAtEveryFiveSecondsAndTakenOnceItHasSettled_K2) {
    Watched keys;
    const std::string old_id = signer(keys.ring);
    keys.write(kNewLine);
    keys.pass(4);
    keys.pass(1);
    EXPECT_EQ(signer(keys.ring), old_id) << "it may still be on its way";
    keys.write(kNewLine + "more " + random_hex(32) + "\n");
    keys.pass(5);
    EXPECT_EQ(signer(keys.ring), old_id) << "it was";
    keys.pass(4);
    EXPECT_EQ(signer(keys.ring), old_id);
    keys.pass(1);
    EXPECT_EQ(signer(keys.ring), "new");
}

TEST(KeyWatch, ABadFileChangesNothingAndIsSaidOnce_K1) {
    const std::string stays = "; what was read before stays in force";
    const std::string wanted = ": write ID HEX, with at least 32 hex digits";
    for (const auto& [text, why] :
         {std::pair(std::string("new 00\n"), "/keys/commands:1" + wanted),
          std::pair(kNewLine + "rubbish", "/keys/commands:2" + wanted),
          std::pair(
              std::string(),
              std::string("/keys/commands has no key; remove the file to have one created"))}) {
        Watched keys;
        const std::string word = signed_by(keys.ring);
        keys.write(text);
        for (int round = 0; round < 5; ++round) keys.settle();
        EXPECT_EQ(keys.said, (std::vector<std::string>{"warning " + why + stays}));
        EXPECT_TRUE(keys.ring.authentic(codec::kCommandSignature, word));
        keys.write(kNewLine);
        keys.settle();
        EXPECT_EQ(keys.said.back(), "/keys/commands was read again");
        EXPECT_EQ(signer(keys.ring), "new");
    }
}

TEST(KeyWatch, AFileThatIsGoneIsNotMadeAnew_K1) {
    Watched keys;
    const std::string word = signed_by(keys.ring);
    std::filesystem::remove(keys.path());
    for (int round = 0; round < 3; ++round) keys.settle();
    EXPECT_EQ(keys.said.size(), 1U);
    EXPECT_FALSE(std::filesystem::exists(keys.path()));
    EXPECT_TRUE(keys.ring.authentic(codec::kCommandSignature, word));
}

TEST(KeyWatch, AFileThatOthersMayReadIsNotTakenUntilItsRightsAreMended_K1) {
    Watched keys;
    const std::string old_id = signer(keys.ring);
    keys.write(kNewLine);
    ::chmod(keys.path().c_str(), 0644);
    keys.settle();
    EXPECT_EQ(signer(keys.ring), old_id);
    ::chmod(keys.path().c_str(), 0600);
    keys.settle();
    EXPECT_EQ(signer(keys.ring), "new");
    EXPECT_EQ(keys.said.size(), 2U);
}

}  // namespace
}  // namespace trueup::apps
