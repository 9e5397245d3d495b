// Proves engine/model/object.h: an object's fields are read from the wire bytes, never outside
// them.
#include "engine/model/object.h"

#include "engine/model/object_builder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace trueup {
namespace {

std::string pod() {
    return ObjectBuilder()
        .add("name", "worker-7")
        .add("namespace", "")
        .add_null("node")
        .add_unchanged("spec")
        .take();
}

TEST(Object, FieldsComeBackInOrder) {
    const std::string bytes = pod();
    const ObjectView view(bytes);
    EXPECT_TRUE(view.valid());
    std::vector<std::string> names;
    view.each([&](const Field& field) { names.emplace_back(field.name); });
    EXPECT_EQ(names, (std::vector<std::string>{"name", "namespace", "node", "spec"}));
}

TEST(Object, EmptyNullUnchangedAndMissingAreFourThings) {
    const std::string bytes = pod();
    const ObjectView view(bytes);
    EXPECT_EQ(view.text("namespace"), "");
    EXPECT_TRUE(view.is("namespace", ""));

    ASSERT_TRUE(view.find("node"));
    EXPECT_FALSE(view.find("node")->value);
    EXPECT_FALSE(view.find("node")->unchanged);

    ASSERT_TRUE(view.find("spec"));
    EXPECT_FALSE(view.find("spec")->value);
    EXPECT_TRUE(view.find("spec")->unchanged);

    EXPECT_FALSE(view.find("phase"));
    EXPECT_FALSE(view.text("node"));
    EXPECT_FALSE(view.text("spec"));
    EXPECT_FALSE(view.is("node", ""));
}

TEST(Object, NothingIsAnObjectWithoutFields) {
    EXPECT_TRUE(ObjectView().valid());
    EXPECT_FALSE(ObjectView().find("name"));
}

TEST(Object, LongValuesKeepTheirLength) {
    for (const std::size_t size : {126U, 127U, 128U, 129U, 16'383U, 16'384U, 200'000U}) {
        const std::string value(size, 'x');
        const std::string bytes = ObjectBuilder().add("v", value).take();
        EXPECT_TRUE(ObjectView(bytes).is("v", value)) << size;
    }
}

TEST(Object, UnchangedFieldsAreFilledFromBefore) {
    const std::string before =
        ObjectBuilder().add("a", "1").add("b", "2").add_null("c").add("gone", "x").take();
    const std::string now = ObjectBuilder()
                                .add("a", "9")
                                .add_unchanged("b")
                                .add_unchanged("c")
                                .add_unchanged("new")
                                .take();
    const std::string wanted =
        ObjectBuilder().add("a", "9").add("b", "2").add_null("c").add_unchanged("new").take();
    EXPECT_EQ(fill_unchanged(ObjectView(now), ObjectView(before)), wanted);
}

TEST(Object, HasUnchangedTellsTheTagFromTheSameByteElsewhere) {
    EXPECT_FALSE(ObjectView().has_unchanged());
    // The tag's byte as a length and within a text.
    const std::string same_byte =
        ObjectBuilder().add("a", std::string(0x18, 'x')).add("b", "\x18\x01").take();
    EXPECT_NE(same_byte.find('\x18'), std::string::npos);
    EXPECT_FALSE(ObjectView(same_byte).has_unchanged());
    const std::string with_tag =
        same_byte + ObjectBuilder().add_unchanged("c").add_null("d").take();
    EXPECT_TRUE(ObjectView(with_tag).has_unchanged());
}

TEST(Object, AnObjectThatCameWholeStaysAsItIs) {
    const std::string now = ObjectBuilder().add("a", "1").add_null("b").take();
    EXPECT_EQ(fill_unchanged(ObjectView(now), ObjectView(pod())), now);
}

TEST(Object, EveryCutIsRefusedOrAShorterList) {
    const std::string bytes = pod();
    const std::string first = ObjectBuilder().add("name", "worker-7").take();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        // A copy of its own, so that the address sanitizer sees a read behind the end.
        const std::vector<char> cut(bytes.begin(),
                                    bytes.begin() + static_cast<std::ptrdiff_t>(size));
        const ObjectView view(std::string_view(cut.data(), cut.size()));
        std::size_t fields = 0;
        view.each([&](const Field&) { ++fields; });
        EXPECT_LT(fields, 4U);
        if (size > 0 && size < first.size()) {
            EXPECT_FALSE(view.valid()) << size;
        }
    }
}

TEST(Object, RandomBytesAreWalkedWithinTheirBounds) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const std::string start = pod();
    for (int i = 0; i < 20'000; ++i) {
        std::vector<char> bytes(start.begin(), start.end());
        for (int flips = 0; flips < 3; ++flips) {
            bytes[random() % bytes.size()] = static_cast<char>(random() % 256);
        }
        const ObjectView view(std::string_view(bytes.data(), bytes.size()));
        std::size_t seen = 0;
        view.each([&](const Field& field) { seen += field.name.size() + 1; });
        EXPECT_LE(seen, bytes.size());
        (void)view.valid();
    }
}

}  // namespace
}  // namespace trueup
