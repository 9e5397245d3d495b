// Proves schemas/trueup/v1/change.proto and engine/codec/change_codec.h: the reader and the writer
// by hand agree with the generated code, and no bytes lead them outside their bounds.
#include "engine/codec/change_codec.h"
#include "engine/codec/limits.h"
#include "engine/model/object.h"
#include "engine/model/object_builder.h"
#include "tests/engine/codec/samples.h"
#include "trueup/v1/change.pb.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace trueup::codec {
namespace {

using samples::random_number;
using samples::random_text;

std::string seed_trace() { return "replay with TRUEUP_SEED=" + std::to_string(samples::seed()); }

template <typename Number>
std::int64_t signed_bits(Number n) {
    return static_cast<std::int64_t>(n);
}

void expect_same(const v1::Change& m, const ChangeView& view) {
    EXPECT_EQ(signed_bits(m.kind()), signed_bits(view.kind));
    EXPECT_EQ(m.source(), view.source);
    EXPECT_EQ(m.has_incarnation() ? m.incarnation() : -1, view.incarnation.value());
    EXPECT_EQ(m.seq(), view.seq);
    EXPECT_EQ(m.epoch(), view.epoch);
    EXPECT_EQ(m.event_id(), view.event_id);
    EXPECT_EQ(m.object_id(), view.object_id);
    EXPECT_EQ(m.subject_key(), view.subject_key);
    EXPECT_EQ(m.version_hi(), view.version.hi);
    EXPECT_EQ(m.version_lo(), view.version.lo);
    EXPECT_EQ(m.source_time_ms(), to_millis(view.source_time));
    EXPECT_EQ(m.count(), view.count);
    EXPECT_EQ(m.complete_as_of_ms(), to_millis(view.complete_as_of));
    EXPECT_EQ(m.source_clock_ms(), to_millis(view.source_clock));
    EXPECT_EQ(m.nonce(), view.nonce);
    EXPECT_EQ(m.object().SerializeAsString(), view.object);
}

v1::Object random_object(std::mt19937_64& random) {
    v1::Object object;
    for (std::uint64_t n = random() % 6; n > 0; --n) {
        v1::Field& field = *object.add_fields();
        field.set_name(random_text(random, 20));
        const std::uint64_t kind = random() % 4;
        if (kind == 0) field.set_unchanged(true);
        if (kind >= 2) field.set_value(random_text(random, 300));
    }
    return object;
}

v1::Change random_change(std::mt19937_64& random) {
    v1::Change m;
    const auto sometimes = [&](const std::function<void()>& set) {
        if (random() % 3 != 0) set();
    };
    const auto number = [&] { return random_number(random); };
    m.set_kind(static_cast<v1::ChangeKind>(1 + random() % 9));
    m.set_source("s" + random_text(random, 10));
    m.set_object_id("o" + random_text(random, 200));
    m.set_subject_key("p/" + random_text(random, 200) + "x");
    sometimes([&] { m.set_incarnation(signed_bits(number() >> 1U)); });
    sometimes([&] { m.set_seq(number()); });
    sometimes([&] { m.set_epoch(number()); });
    sometimes([&] { m.set_event_id(random_text(random, 40)); });
    sometimes([&] { m.set_version_hi(number()); });
    sometimes([&] { m.set_version_lo(number()); });
    sometimes([&] { m.set_source_time_ms(signed_bits(number())); });
    sometimes([&] { *m.mutable_object() = random_object(random); });
    sometimes([&] { m.set_count(number()); });
    sometimes([&] { m.set_complete_as_of_ms(signed_bits(number())); });
    sometimes([&] { m.set_source_clock_ms(signed_bits(number())); });
    sometimes([&] { m.set_nonce(random_text(random, 20)); });
    return m;
}

TEST(ChangeCodec, ReadsWhatTheGeneratedCodeWrites) {
    SCOPED_TRACE(seed_trace());
    std::mt19937_64 random(samples::seed());
    for (int i = 0; i < 5'000; ++i) {
        const v1::Change m = random_change(random);
        const std::string bytes = m.SerializeAsString();
        const Result<ChangeView> view = decode_change(bytes);
        ASSERT_TRUE(view.ok()) << view.error().what << "\n" << m.DebugString();
        expect_same(m, *view);
    }
}

TEST(ChangeCodec, WritesWhatTheGeneratedCodeReads) {
    SCOPED_TRACE(seed_trace());
    std::mt19937_64 random(samples::seed());
    for (int i = 0; i < 5'000; ++i) {
        const std::string start = random_change(random).SerializeAsString();
        const std::string bytes = encode_change(decode_change(start).value());
        v1::Change back;
        ASSERT_TRUE(back.ParseFromString(bytes));
        expect_same(back, decode_change(start).value());
        EXPECT_EQ(back.SerializeAsString(), bytes) << "the same order of fields";
    }
}

TEST(ChangeCodec, AnObjectIsTheMessageOfTheSchema) {
    SCOPED_TRACE(seed_trace());
    std::mt19937_64 random(samples::seed());
    for (int i = 0; i < 2'000; ++i) {
        const v1::Object m = random_object(random);
        ObjectBuilder builder;
        for (const v1::Field& field : m.fields()) {
            Field view{field.name(), std::nullopt, field.unchanged()};
            if (field.has_value()) view.value = field.value();
            builder.add(view);
        }
        const std::string bytes = builder.take();
        EXPECT_EQ(m.SerializeAsString(), bytes);
        EXPECT_TRUE(ObjectView(bytes).valid());
    }
}

TEST(ChangeCodec, SamplesGoBothWays) {
    for (const ChangeView& change : {samples::upsert(), samples::progress()}) {
        const std::string bytes = encode_change(change);
        v1::Change m;
        ASSERT_TRUE(m.ParseFromString(bytes));
        expect_same(m, change);
        ASSERT_TRUE(decode_change(bytes).ok()) << decode_change(bytes).error().what;
        expect_same(m, *decode_change(bytes));
    }
}

TEST(ChangeCodec, EveryCutIsReadWithinItsBounds) {
    const std::string bytes = encode_change(samples::upsert());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        // A copy of its own, so that the address sanitizer sees a read behind the end.
        const std::vector<char> cut(bytes.begin(),
                                    bytes.begin() + static_cast<std::ptrdiff_t>(size));
        const std::string_view view(cut.data(), cut.size());
        const Result<ChangeView> change = decode_change(view);
        v1::Change m;
        const bool parsed = m.ParsePartialFromArray(cut.data(), static_cast<int>(cut.size()));
        if (change.ok()) {
            EXPECT_TRUE(parsed) << size;
        }
        if (change.ok() && parsed) expect_same(m, *change);
    }
}

TEST(ChangeCodec, FlippedBytesAreRefusedOrReadAsTheGeneratedCodeDoes) {
    SCOPED_TRACE(seed_trace());
    std::mt19937_64 random(samples::seed());
    for (int i = 0; i < 30'000; ++i) {
        const std::string bytes =
            samples::mutate(random_change(random).SerializeAsString(), random);
        const std::vector<char> copy(bytes.begin(), bytes.end());
        const Result<ChangeView> view = decode_change({copy.data(), copy.size()});
        if (!view.ok()) continue;
        v1::Change m;
        ASSERT_TRUE(m.ParseFromString(bytes))
            << "only one of two readers takes " << testing::PrintToString(bytes);
        expect_same(m, *view);
    }
}

TEST(ChangeCodec, RandomBytesAreReadWithinTheirBounds) {
    SCOPED_TRACE(seed_trace());
    std::mt19937_64 random(samples::seed());
    for (int i = 0; i < 50'000; ++i) {
        std::vector<char> bytes(random() % 64);
        for (char& byte : bytes) byte = static_cast<char>(random() % 256);
        (void)decode_change({bytes.data(), bytes.size()}).ok();
    }
}

TEST(ChangeCodec, UnknownFieldsAreSkipped) {
    const std::string known = encode_change(samples::upsert());
    const std::vector<std::string> unknown{
        {"\xa0\x06\x96\x01", 4},  // 100: varint
        {"\xa1\x06"
         "12345678",
         10},  // 100: eight bytes
        {"\xa2\x06\x03"
         "abc",
         6},  // 100: a text
        {"\xa5\x06"
         "1234",
         6},                                               // 100: four bytes
        {"\xa3\x06\x08\x01\xab\x06\xac\x06\xa4\x06", 10},  // 100: a group with a group
        {"\x0a\x02hi", 4},                                 // 1 as a text: not this field
        {"\x10\x07", 2},                                   // 2 as a number: the same
    };
    for (const std::string& field : unknown) {
        for (const std::string& bytes : {field + known, known + field, field + known + field}) {
            const Result<ChangeView> view = decode_change(bytes);
            ASSERT_TRUE(view.ok()) << view.error().what;
            EXPECT_EQ(encode_change(*view), known);
            EXPECT_TRUE(v1::Change().ParseFromString(bytes));
        }
    }
}

TEST(ChangeCodec, BrokenUnknownFieldsAreRefused) {
    const std::string known = encode_change(samples::upsert());
    std::string deep;
    for (int i = 0; i < 200'000; ++i) deep += "\xa3\x06";
    for (const std::string& field :
         {std::string("\xa0\x06", 2),
          std::string("\xa1\x06"
                      "1",
                      3),
          std::string("\xa2\x06\x09", 3), std::string("\xa3\x06", 2), std::string("\xa4\x06", 2),
          std::string("\xa6\x06", 2), std::string("\x00\x01", 2),
          std::string("\xa0\x06") + std::string(11, '\xff'), deep}) {
        EXPECT_FALSE(decode_change((known + field).substr(0, kMaxItemBytes)).ok());
    }
}

// Symptom: a change was folded that no consumer with generated code could read: a tag of six bytes,
// most of which say nothing.
TEST(ChangeCodec, TagsAndLengthsAreAtMostFiveBytesLong) {
    const std::string known = encode_change(samples::upsert());
    const std::string five("\x81\x80\x80\x80\x00", 5);
    const std::string six("\x81\x80\x80\x80\x80\x00", 6);
    const std::string tag_of_five("\xa0\x86\x80\x80\x00\x01", 6);
    const std::string tag_of_six("\xa0\x86\x80\x80\x80\x00\x01", 7);
    const std::string event = "\x32";
    const std::string unknown = "\xa2\x06";
    for (const std::string& field : {tag_of_five, event + five + "e", unknown + five + "e"}) {
        EXPECT_TRUE(decode_change(known + field).ok());
        EXPECT_TRUE(v1::Change().ParseFromString(known + field));
    }
    for (const std::string& field : {tag_of_six, event + six + "e", unknown + six + "e"}) {
        EXPECT_FALSE(decode_change(known + field).ok());
        EXPECT_FALSE(v1::Change().ParseFromString(known + field));
    }
}

/// The complaint about `samples::upsert()` after `spoil`; empty when there is none.
std::string complaint(const std::function<void(ChangeView&)>& spoil) {
    ChangeView change = samples::upsert();
    spoil(change);
    const std::string bytes = encode_change(change);
    const Result<ChangeView> read = decode_change(bytes);
    if (read.ok()) return "";
    EXPECT_EQ(read.error().next, Next::kSkip);
    return read.error().what;
}

TEST(ChangeCodec, RefusesWhatNoConnectorMayWrite) {
    const std::string no_text = "a\xff";
    const std::string bad_object = ObjectBuilder().add("name", no_text).take();
    using C = ChangeView;
    EXPECT_EQ(complaint([](C&) {}), "");
    EXPECT_NE(complaint([](C& c) { c.kind = ChangeKind::kUnspecified; }), "");
    EXPECT_NE(complaint([](C& c) { c.kind = static_cast<ChangeKind>(10); }), "");
    EXPECT_NE(complaint([](C& c) { c.source = ""; }), "");
    EXPECT_NE(complaint([](C& c) { c.incarnation = Offset(-2); }), "");
    EXPECT_NE(complaint([](C& c) { c.object_id = ""; }), "");
    EXPECT_NE(complaint([](C& c) { c.subject_key = ""; }), "");
    EXPECT_NE(complaint([](C& c) { c.object = "\x12"; }), "");
    EXPECT_NE(complaint([&](C& c) { c.object = bad_object; }), "");
    EXPECT_NE(complaint([&](C& c) { c.source = no_text; }), "");
    EXPECT_NE(complaint([&](C& c) { c.event_id = no_text; }), "");
    EXPECT_NE(complaint([&](C& c) { c.object_id = no_text; }), "");
    EXPECT_EQ(complaint([&](C& c) { c.nonce = no_text; }), "") << "a nonce is bytes";
    EXPECT_NE(complaint([](C& c) { c.kind = ChangeKind::kRemove, c.object_id = ""; }), "");
    EXPECT_EQ(complaint([](C& c) { c.kind = ChangeKind::kRemove, c.subject_key = ""; }), "");
    EXPECT_EQ(complaint([](C& c) { c.subject_key = "!instances/public.t/7"; }), "");
}

TEST(ChangeCodec, RefusesMalformedKeys) {
    const std::string longest = "p/" + std::string(kMaxKeyBytes - 2, 'x');
    const std::string too_long = longest + "x";
    const auto refused = [](std::string_view key) {
        return !complaint([&](ChangeView& c) { c.subject_key = key; }).empty();
    };
    EXPECT_FALSE(refused(longest));
    EXPECT_TRUE(refused(too_long));
    EXPECT_TRUE(refused("graph-instance"));
    EXPECT_TRUE(refused("graph-instance/a/b"));
    EXPECT_TRUE(refused("/a"));
    EXPECT_TRUE(refused("a/"));
    EXPECT_TRUE(refused("p/\xc0\x80"));
}

TEST(ChangeCodec, RefusesWhatIsTooLarge) {
    const auto with_value_of = [](std::size_t size) {
        const std::string object = ObjectBuilder().add("v", std::string(size, 'x')).take();
        ChangeView change = samples::upsert();
        change.object = object;
        return encode_change(change);
    };
    const std::size_t overhead = with_value_of(200'000).size() - 200'000;
    EXPECT_TRUE(decode_change(with_value_of(kMaxItemBytes - overhead)).ok());
    EXPECT_FALSE(decode_change(with_value_of(kMaxItemBytes - overhead + 1)).ok());
}

TEST(ChangeCodec, ASecondObjectIsRefusedForViewsCannotBeMerged) {
    const std::string bytes = encode_change(samples::upsert());
    EXPECT_EQ(decode_change(bytes + "\x62\x00").ok(), false);
    EXPECT_EQ(decode_change(bytes + std::string("\x62\x00", 2)).error().what,
              "the change has two objects");
}

}  // namespace
}  // namespace trueup::codec
