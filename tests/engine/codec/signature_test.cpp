// Proves engine/codec/signature.h (design §4.15): what travelled is what is checked, by any key of
// the ring, and by nothing else.
#include "engine/codec/signature.h"

#include "engine/codec/command_codec.h"
#include "engine/codec/request_codec.h"
#include "tests/engine/codec/samples.h"

#include <gtest/gtest.h>

namespace trueup::codec {
namespace {

const Key kOld{"k-old", "the old secret, 32 bytes long..."};
const Key kNew{"k-new", "the new secret, 32 bytes long..."};

std::string signed_command(const KeyRing& keys) {
    std::string bytes = encode_command(samples::command());
    keys.sign(kCommandSignature, bytes);
    return bytes;
}

TEST(Signature, ASignedMessageIsReadAsBefore) {
    const KeyRing keys(std::vector<Key>{kOld});
    EXPECT_EQ(decode_command(signed_command(keys)).value(), samples::command());
    std::string request = encode_request(samples::request());
    keys.sign(kRequestSignature, request);
    EXPECT_EQ(decode_request(request).value(), samples::request());
    EXPECT_TRUE(keys.authentic(kRequestSignature, request));
}

TEST(Signature, NoByteMayChangeNoneMayComeAndNoneMayGo) {
    const KeyRing keys(std::vector<Key>{kOld});
    const std::string sound = signed_command(keys);
    ASSERT_TRUE(keys.authentic(kCommandSignature, sound));
    for (std::size_t i = 0; i < sound.size(); ++i) {
        std::string changed = sound;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_FALSE(keys.authentic(kCommandSignature, changed)) << "byte " << i;
        EXPECT_FALSE(keys.authentic(kCommandSignature, sound.substr(0, i))) << "cut at " << i;
    }
    EXPECT_FALSE(keys.authentic(kCommandSignature, sound + sound));
    EXPECT_FALSE(keys.authentic(kCommandSignature, sound + '\0'));
}

TEST(Signature, UnsignedIsNotAuthentic) {
    const KeyRing keys(std::vector<Key>{kOld});
    EXPECT_FALSE(keys.authentic(kCommandSignature, encode_command(samples::command())));
    EXPECT_FALSE(keys.authentic(kCommandSignature, ""));
    EXPECT_FALSE(keys.authentic(kCommandSignature, "rubbish"));
}

TEST(Signature, ARingWithoutKeysSignsNothingAndBelievesNobody) {
    const KeyRing nobody;
    EXPECT_EQ(signed_command(nobody), encode_command(samples::command()));
    EXPECT_FALSE(nobody.authentic(kCommandSignature, signed_command(KeyRing(std::vector{kOld}))));
}

TEST(Signature, KeysChangeOneAfterTheOther) {
    const KeyRing before(std::vector<Key>{kOld});
    const KeyRing between(std::vector<Key>{kNew, kOld});
    const KeyRing after(std::vector<Key>{kNew});
    const std::string old_word = signed_command(before);
    const std::string new_word = signed_command(between);
    EXPECT_TRUE(between.authentic(kCommandSignature, old_word));
    EXPECT_TRUE(between.authentic(kCommandSignature, new_word));
    EXPECT_TRUE(after.authentic(kCommandSignature, new_word));
    EXPECT_FALSE(after.authentic(kCommandSignature, old_word)) << "its key was taken away";
    EXPECT_FALSE(before.authentic(kCommandSignature, new_word)) << "a key that it does not know";
}

TEST(Signature, WhatWasSignedForOneLogIsNobodysWordInAnother) {
    // A request that was recorded under one prefix was an operator's word under the next one, which
    // is begun with the same keys, and so in a copy of the installation.
    const KeyRing keys(std::vector<Key>{kOld});
    const KeyRing ours = keys.for_log("kafka:c1:trueup");
    for (const KeyRing& other : {keys, keys.for_log("kafka:c1:trueup2"),
                                 keys.for_log("kafka:c2:trueup"), keys.for_log("kafka:c1")}) {
        EXPECT_FALSE(other.authentic(kCommandSignature, signed_command(ours)));
        EXPECT_FALSE(ours.authentic(kCommandSignature, signed_command(other)));
    }
    EXPECT_TRUE(ours.authentic(kCommandSignature, signed_command(ours)));
    KeyRing(keys).become(KeyRing(std::vector<Key>{kNew}));
    EXPECT_TRUE(
        ours.authentic(kCommandSignature,
                       signed_command(KeyRing(std::vector<Key>{kNew}).for_log("kafka:c1:trueup"))))
        << "keys that change do so for every log";
}

TEST(Signature, AnotherSecretUnderTheSameNameIsAnotherKey) {
    const KeyRing ours(std::vector<Key>{kOld});
    const KeyRing theirs(std::vector<Key>{{kOld.id, kNew.secret}});
    EXPECT_FALSE(ours.authentic(kCommandSignature, signed_command(theirs)));
}

TEST(Signature, AHashTellsEqualTextsByItsKeyOnly_Design_4_15) {
    const KeyRing old(std::vector<Key>{kOld});
    const KeyRing rotated(std::vector<Key>{kNew, kOld});
    // echo -n alice | openssl dgst -sha256 -hmac 'the old secret, 32 bytes long...'
    EXPECT_EQ(old.hash("alice"), "dbc4f862a1af0afd535d7950d7eee756");
    EXPECT_EQ(old.hash("alice"), old.hash("alice"));
    EXPECT_NE(old.hash("alice"), old.hash("alicf"));
    EXPECT_NE(old.hash("alice"), rotated.hash("alice")) << "the first key hashes";
    EXPECT_EQ(old.hash("").size(), 32U);
}

}  // namespace
}  // namespace trueup::codec
