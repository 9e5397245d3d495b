// Proves that each guard of the codec is needed: the test of its name fails without it
// (docs/guards.md; tests/guards/mutants.sh switches them off one by one).
#include "engine/codec/signature.h"

#include <gtest/gtest.h>

namespace trueup::codec {
namespace {

// Design §4.15.
TEST(Guard, Guard_signature_OneChangedByteIsNoLongerSigned) {
    const KeyRing keys(std::vector<Key>{{"k", "a secret of thirty-two bytes ..."}});
    std::string message("\x0a\x01x", 3);
    keys.sign(kCommandSignature, message);
    message[2] = 'y';
    EXPECT_FALSE(keys.authentic(kCommandSignature, message));
}

}  // namespace
}  // namespace trueup::codec
