// Proves engine/base/loopback.h.
#include "engine/base/loopback.h"

#include <gtest/gtest.h>

namespace trueup {
namespace {

TEST(Loopback, IsThisMachineAndNothingElse) {
    for (const char* ours :
         {"127.0.0.1", "127.0.0.1:8080", "127.255.0.9", "localhost", "localhost:6443", "[::1]",
          "[::1]:9090", "::1", "http://127.0.0.1:8001", "https://localhost/", "http://[::1]:1/x"}) {
        EXPECT_TRUE(is_loopback(ours)) << ours;
    }
}

// Symptom: a token was sent in clear text to whoever had a name that begins with 127.
TEST(Loopback, ANameThatOnlyLooksLikeItIsSomebodyElses) {
    for (const char* theirs : {"127.evil.example",
                               "127.0.0.1.evil.example",
                               "http://127.evil.example:80/",
                               "127.0.0",
                               "127.0.0.1.1",
                               "127.0.0.256",
                               "127.0.0.",
                               "127..0.1",
                               "128.0.0.1",
                               "localhost.example",
                               "http://127.0.0.1@evil.example/",
                               "http://127.0.0.1:x@evil.example",
                               "[::1].evil.example",
                               "[::1",
                               "[::2]",
                               "0.0.0.0:8080",
                               "",
                               ":8080",
                               "http://",
                               "-127.0.0.1",
                               "127.0.0.+1"}) {
        EXPECT_FALSE(is_loopback(theirs)) << theirs;
    }
}

}  // namespace
}  // namespace trueup
