// Proves schemas/trueup/v1/journal.proto and engine/codec/journal_codec.h: a record is read as it
// was written, an item that cannot be read fails nothing, a malformed record stops (design §5, 16).
#include "engine/base/varint.h"
#include "engine/codec/change_codec.h"
#include "engine/codec/journal_codec.h"
#include "engine/codec/limits.h"
#include "engine/codec/outcome_codec.h"
#include "engine/codec/policy_codec.h"
#include "engine/codec/settings_codec.h"
#include "policies/shipped.h"
#include "tests/engine/codec/samples.h"
#include "trueup/v1/journal.pb.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace trueup::codec {
namespace {

constexpr BrokerTime kAt = from_millis<BrokerTime>(1'700'000'000'500);

std::string seed_trace() { return "replay with TRUEUP_SEED=" + std::to_string(samples::seed()); }

TEST(JournalCodec, ARecordIsReadAsItWasWritten) {
    const std::string bytes = samples::journal_record();
    JournalView view;
    const Status read = decode_journal(bytes, Offset(42), kAt, view);
    ASSERT_TRUE(read.ok()) << read.error().what;
    EXPECT_EQ(view.offset, Offset(42));
    EXPECT_EQ(view.append_time, kAt);
    EXPECT_EQ(view.genesis, samples::genesis());
    EXPECT_EQ(view.settings, samples::settings());

    ASSERT_EQ(view.items.size(), 4U);
    EXPECT_EQ(view.items[0].topic, Topic::kChangesPods);
    EXPECT_EQ(view.items[0].prev_offset, kNoOffset);
    EXPECT_EQ(view.items[0].offset, kFirstOffset);
    EXPECT_EQ(to_millis(view.items[0].append_time), 1'700'000'000'001);
    EXPECT_EQ(view.items[0].bytes, encode_change(samples::upsert()));
    ASSERT_TRUE(std::holds_alternative<ChangeView>(view.items[0].body));
    EXPECT_EQ(std::get<ChangeView>(view.items[0].body).object_id, samples::upsert().object_id);

    EXPECT_EQ(view.items[1].prev_offset, Offset(4));
    EXPECT_EQ(view.items[1].offset, Offset(9));
    ASSERT_TRUE(std::holds_alternative<Outcome>(view.items[1].body));
    EXPECT_EQ(std::get<Outcome>(view.items[1].body), samples::outcome());
}

TEST(JournalCodec, AnItemThatCannotBeReadFailsNothing) {
    const std::string bytes = samples::journal_record();
    JournalView view;
    ASSERT_TRUE(decode_journal(bytes, Offset(42), kAt, view).ok());
    EXPECT_TRUE(view.items[2].authentic) << "as the sequencer found it";
    EXPECT_EQ(*std::get<Boxed<Request>>(view.items[2].body), samples::request());
    EXPECT_FALSE(view.items[3].authentic);
    ASSERT_TRUE(std::holds_alternative<Undecodable>(view.items[3].body));
    EXPECT_EQ(view.items[3].bytes, "rubbish");

    JournalRecordBuilder builder;
    builder.add_item(Topic::kOutcomes, Offset(1), Offset(2), kAt, "rubbish");
    builder.add_item(Topic::kChangesPods, Offset(1), Offset(2), kAt,
                     std::string(kMaxItemBytes + 1, 'x'));
    builder.add_item(Topic::kChangesPods, Offset(2), Offset(3), kAt, "");
    const std::string spoiled = builder.take();
    ASSERT_TRUE(decode_journal(spoiled, Offset(43), kAt, view).ok());
    ASSERT_EQ(view.items.size(), 3U);
    EXPECT_FALSE(view.genesis);
    EXPECT_FALSE(view.settings);
    for (const ItemView& item : view.items) {
        EXPECT_TRUE(std::holds_alternative<Undecodable>(item.body));
    }
}

TEST(JournalCodec, ARecordWithoutPiecesIsATick) {
    JournalRecordBuilder builder;
    JournalView view;
    EXPECT_EQ(builder.count(), 0U);
    const std::string bytes = builder.take();
    ASSERT_TRUE(decode_journal(bytes, Offset(1), kAt, view).ok());
    EXPECT_TRUE(view.items.empty());
}

TEST(JournalCodec, TheBuilderIsAsNewAfterTake) {
    JournalRecordBuilder builder;
    const std::string tick = builder.take();
    builder.add_item(Topic::kRequests, kFirstOffset, Offset(1), kAt, "x");
    EXPECT_EQ(builder.count(), 1U);
    const std::size_t size = builder.size();
    EXPECT_EQ(builder.take().size(), size);
    EXPECT_EQ(builder.count(), 0U);
    EXPECT_EQ(builder.take(), tick);
}

TEST(JournalCodec, AnItemCostsNoMoreThanItsOverhead) {
    constexpr Offset kLargest = kBeyondOffsets;
    JournalRecordBuilder builder;
    for (const std::size_t size : {std::size_t{0}, std::size_t{127}, kMaxItemBytes}) {
        const std::size_t before = builder.size();
        builder.add_item(Topic::kRequests, previous(kLargest), kLargest, BrokerTime::max(),
                         std::string(size, 'x'));
        EXPECT_LE(builder.size() - before, size + JournalRecordBuilder::kItemOverhead);
    }
}

void expect_same(const v1::JournalRecord& m, const JournalView& view) {
    ASSERT_EQ(static_cast<std::size_t>(m.items_size()), view.items.size());
    for (int i = 0; i < m.items_size(); ++i) {
        const v1::Item& item = m.items(i);
        const ItemView& seen = view.items[static_cast<std::size_t>(i)];
        EXPECT_EQ(static_cast<int>(item.topic()), static_cast<int>(seen.topic));
        EXPECT_EQ(item.prev_offset(), seen.prev_offset.value());
        EXPECT_EQ(item.offset(), seen.offset.value());
        EXPECT_EQ(item.append_time_ms(), to_millis(seen.append_time));
        EXPECT_EQ(item.payload(), seen.bytes);
        EXPECT_EQ(item.authentic(), seen.authentic);
    }
    EXPECT_EQ(m.has_genesis(), view.genesis.has_value());
    EXPECT_EQ(m.has_settings(), view.settings.has_value());
    EXPECT_EQ(m.has_settings_after() ? m.settings_after() : -1, view.settings_after.value());
    ASSERT_EQ(m.has_folded_offset(), view.folded.has_value());
    if (view.folded) {
        EXPECT_EQ(m.folded_offset(), view.folded->offset.value());
        EXPECT_EQ(m.folded_digest(), view.folded->digest);
    }
}

/// A record of random items, by our builder or by the generated code.
std::string random_record(std::mt19937_64& random, bool by_hand) {
    v1::JournalRecord m;
    JournalRecordBuilder builder;
    m.set_format(1);
    for (std::uint64_t n = random() % 8; n > 0; --n) {
        const Topic topic = kInputTopics[random() % kInputTopics.size()];
        const Offset offset(static_cast<std::int64_t>(samples::random_number(random) >> 1U));
        const Offset prev = random() % 2 == 0 ? kNoOffset : previous(offset);
        const auto at = static_cast<std::int64_t>(samples::random_number(random));
        const std::string payload = random() % 2 == 0 ? encode_change(samples::upsert())
                                                      : samples::random_text(random, 300);
        builder.add_item(topic, prev, offset, from_millis<BrokerTime>(at), payload);
        v1::Item& item = *m.add_items();
        item.set_topic(static_cast<v1::Topic>(topic));
        item.set_prev_offset(prev.value());
        item.set_offset(offset.value());
        item.set_append_time_ms(at);
        item.set_payload(payload);
    }
    const std::string ours = builder.take();
    const std::string theirs = m.SerializeAsString();
    EXPECT_EQ(ours, theirs) << "the same order of fields";
    return by_hand ? ours : theirs;
}

TEST(JournalCodec, AgreesWithTheGeneratedCodeBothWays) {
    SCOPED_TRACE(seed_trace());
    std::mt19937_64 random(samples::seed());
    JournalView view;
    for (int i = 0; i < 3'000; ++i) {
        const std::string bytes = random_record(random, i % 2 == 0);
        const Status read = decode_journal(bytes, Offset(i), kAt, view);
        ASSERT_TRUE(read.ok()) << read.error().what;
        v1::JournalRecord m;
        ASSERT_TRUE(m.ParseFromString(bytes));
        expect_same(m, view);
    }
}

TEST(JournalCodec, FlippedBytesStopOrAreReadAsTheGeneratedCodeDoes) {
    SCOPED_TRACE(seed_trace());
    std::mt19937_64 random(samples::seed());
    JournalView view;
    for (int i = 0; i < 20'000; ++i) {
        const std::string start =
            i % 4 == 0 ? samples::journal_record() : random_record(random, true);
        const std::string bytes = samples::mutate(start, random);
        const std::vector<char> copy(bytes.begin(), bytes.end());
        const Status read = decode_journal({copy.data(), copy.size()}, Offset(i), kAt, view);
        if (!read.ok()) {
            EXPECT_EQ(read.error().next, Next::kStop);
            continue;
        }
        v1::JournalRecord m;
        ASSERT_TRUE(m.ParseFromString(bytes)) << "only one of two readers takes it";
        expect_same(m, view);
    }
}

/// An item whose fields come in any order, some of them twice or not at all.
std::string shuffled_item(std::mt19937_64& random) {
    std::vector<std::string> fields;
    for (int field = 1; field <= 6; ++field) {
        if (random() % 16 == 0) continue;
        for (std::uint64_t n = random() % 8 == 0 ? 2 : 1; n > 0; --n) {
            v1::Item item;
            const auto number = static_cast<std::int64_t>(samples::random_number(random) >> 1U);
            if (field == 1) item.set_topic(v1::TOPIC_CHANGES_PODS);
            if (field == 2) item.set_prev_offset(number / 2);
            if (field == 3) item.set_offset(number);
            if (field == 4) item.set_append_time_ms(number);
            if (field == 5) item.set_payload(samples::random_text(random, 20));
            if (field == 6) item.set_authentic(random() % 2 == 0);
            fields.push_back(item.SerializePartialAsString());
        }
    }
    if (random() % 4 != 0) std::shuffle(fields.begin(), fields.end(), random);
    return std::accumulate(fields.begin(), fields.end(), std::string());
}

TEST(JournalCodec, FieldsOfAnItemMayComeInAnyOrderAsTheGeneratedCodeReadsThem) {
    SCOPED_TRACE(seed_trace());
    std::mt19937_64 random(samples::seed());
    JournalView view;
    int read_well = 0;
    for (int i = 0; i < 5'000; ++i) {
        const std::string item = shuffled_item(random);
        std::string bytes("\x08\x01\x22", 3);
        append_varint(bytes, item.size());
        bytes += item;
        v1::JournalRecord m;
        ASSERT_TRUE(m.ParseFromString(bytes));
        const v1::Item& it = m.items(0);
        const bool whole = it.has_topic() && it.has_prev_offset() && it.has_offset() &&
                           it.has_append_time_ms() && it.has_payload() &&
                           it.prev_offset() < it.offset();
        const Status read = decode_journal(bytes, Offset(i), kAt, view);
        ASSERT_EQ(read.ok(), whole) << m.ShortDebugString();
        if (!whole) continue;
        ++read_well;
        expect_same(m, view);
    }
    EXPECT_GT(read_well, 500);
}

TEST(JournalCodec, EveryCutStopsOrIsAShorterRecord) {
    const std::string bytes = samples::journal_record();
    JournalView view;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const std::vector<char> cut(bytes.begin(),
                                    bytes.begin() + static_cast<std::ptrdiff_t>(size));
        const Status read = decode_journal({cut.data(), cut.size()}, Offset(1), kAt, view);
        if (read.ok()) {
            EXPECT_LT(view.items.size(), 4U);
        }
    }
    EXPECT_FALSE(decode_journal("", Offset(1), kAt, view).ok()) << "a record says its format";
}

TEST(JournalCodec, RandomBytesAreReadWithinTheirBounds) {
    SCOPED_TRACE(seed_trace());
    std::mt19937_64 random(samples::seed());
    JournalView view;
    for (int i = 0; i < 50'000; ++i) {
        std::vector<char> bytes(random() % 64);
        for (char& byte : bytes) byte = static_cast<char>(random() % 256);
        (void)decode_journal({bytes.data(), bytes.size()}, Offset(i), kAt, view).ok();
    }
}

TEST(JournalCodec, UnknownFieldsAreSkipped) {
    v1::JournalRecord m;
    ASSERT_TRUE(m.ParseFromString(samples::journal_record()));
    const std::string unknown(
        "\xa2\x06\x03"
        "abc",
        6);
    m.GetReflection()->MutableUnknownFields(&m)->AddVarint(100, 7);
    for (v1::Item& item : *m.mutable_items()) {
        item.GetReflection()->MutableUnknownFields(&item)->AddLengthDelimited(100, "abc");
    }
    const std::string bytes = unknown + m.SerializeAsString() + unknown;
    JournalView view;
    ASSERT_TRUE(decode_journal(bytes, Offset(1), kAt, view).ok());
    EXPECT_EQ(view.items.size(), 4U);
    EXPECT_EQ(view.settings, samples::settings());
}

/// What is said of the sample record after `spoil`.
std::string complaint(const std::function<void(v1::JournalRecord&)>& spoil) {
    v1::JournalRecord m;
    EXPECT_TRUE(m.ParseFromString(samples::journal_record()));
    spoil(m);
    JournalView view;
    const std::string bytes = m.SerializeAsString();
    const Status read = decode_journal(bytes, Offset(42), kAt, view);
    if (read.ok()) return "";
    EXPECT_EQ(read.error().next, Next::kStop);
    EXPECT_EQ(read.error().code, Code::kCorrupt);
    return read.error().what;
}

TEST(JournalCodec, AMalformedRecordStopsItsReader) {
    using R = v1::JournalRecord;
    EXPECT_EQ(complaint([](R&) {}), "");
    EXPECT_EQ(complaint([](R& m) { m.set_format(2); }),
              "journal record at offset 42: is of format 2; this build reads 1");
    EXPECT_NE(complaint([](R& m) { m.clear_format(); }), "");
    EXPECT_EQ(complaint([](R& m) { m.mutable_items(1)->clear_offset(); }),
              "journal record at offset 42: item 1 lacks a field");
    EXPECT_NE(complaint([](R& m) { m.mutable_items(1)->clear_topic(); }), "");
    EXPECT_NE(complaint([](R& m) { m.mutable_items(1)->clear_prev_offset(); }), "");
    EXPECT_NE(complaint([](R& m) { m.mutable_items(1)->clear_append_time_ms(); }), "");
    EXPECT_NE(complaint([](R& m) { m.mutable_items(1)->clear_payload(); }), "");
    EXPECT_NE(complaint([](R& m) { m.mutable_items(1)->set_prev_offset(-2); }), "");
    EXPECT_NE(complaint([](R& m) { m.mutable_items(1)->set_prev_offset(9); }), "");
    EXPECT_NE(complaint([](R& m) { m.mutable_items(1)->set_topic(v1::TOPIC_COMMANDS); }), "");
    EXPECT_NE(complaint([](R& m) { m.mutable_items(1)->set_topic(static_cast<v1::Topic>(99)); }),
              "");
}

TEST(JournalCodec, AMalformedGenesisStopsItsReader) {
    using R = v1::JournalRecord;
    EXPECT_NE(complaint([](R& m) { m.mutable_genesis()->set_journal_id("x"); }), "");
    EXPECT_NE(complaint([](R& m) { m.mutable_genesis()->set_shard(-1); }), "");
    EXPECT_NE(complaint([](R& m) { m.mutable_genesis()->set_shard(8); }), "");
    EXPECT_NE(complaint([](R& m) { m.mutable_genesis()->clear_shard(); }), "");
    EXPECT_NE(complaint([](R& m) { m.mutable_genesis()->clear_partitions(); }), "");
}

TEST(JournalCodec, HalfOfWhatItsWriterFoldedLastStopsItsReader) {
    using R = v1::JournalRecord;
    EXPECT_EQ(
        complaint([](R& m) { m.clear_folded_digest(); }),
        "journal record at offset 42: names only half of the record that its writer folded last");
    EXPECT_NE(complaint([](R& m) { m.clear_folded_offset(); }), "");
    EXPECT_NE(complaint([](R& m) { m.set_folded_offset(-1); }), "");
    EXPECT_EQ(complaint([](R& m) { m.clear_folded_offset(), m.clear_folded_digest(); }), "")
        << "a record of a build that named none";
}

TEST(JournalCodec, ADigestIsOfTheBytesAndTheTime) {
    const std::uint64_t digest = record_digest("one", kAt);
    EXPECT_EQ(digest, record_digest("one", kAt));
    EXPECT_NE(digest, record_digest("two", kAt));
    EXPECT_NE(digest, record_digest("one", kAt + Millis{1}));
}

TEST(JournalCodec, MalformedSettingsStopTheirReader) {
    const auto refused = [](const std::function<void(v1::Settings&)>& spoil) {
        return !complaint([&](v1::JournalRecord& m) { spoil(*m.mutable_settings()); }).empty();
    };
    using S = v1::Settings;
    EXPECT_FALSE(refused([](S& m) { m.mutable_sources(0)->clear_role(); }));
    EXPECT_TRUE(refused([](S& m) { m.mutable_sources(0)->set_role(255); }));
    EXPECT_TRUE(refused([](S& m) { m.clear_max_clock_step_ms(); }));
    EXPECT_TRUE(refused([](S& m) { m.clear_sweep_step(); }));
    EXPECT_TRUE(refused([](S& m) { m.mutable_rules(0)->set_mode(v1::MODE_UNSPECIFIED); }));
    EXPECT_TRUE(refused([](S& m) { m.mutable_rules(0)->set_mode(static_cast<v1::Mode>(9)); }));
    EXPECT_TRUE(refused([](S& m) { m.mutable_rules(0)->clear_grace_ms(); }));
    EXPECT_TRUE(refused([](S& m) { m.mutable_sources(0)->set_topic(v1::TOPIC_OUTCOMES); }));
    EXPECT_TRUE(refused([](S& m) { m.mutable_sources(0)->clear_name(); }));
}

TEST(SettingsCodec, AGracePeriodOfNothingIsNotNone) {
    Settings settings = samples::settings();
    settings.rules[0].grace_period = 0;
    EXPECT_EQ(decode_settings(encode_settings(settings)).value(), settings);
    settings.rules[0].grace_period = std::nullopt;
    EXPECT_EQ(decode_settings(encode_settings(settings)).value(), settings);
}

TEST(JournalCodec, TwoGenesesOrSettingsStopTheirReader) {
    JournalView view;
    JournalRecordBuilder builder;
    builder.set_genesis(samples::genesis());
    builder.set_genesis(samples::genesis());
    EXPECT_FALSE(decode_journal(builder.take(), Offset(1), kAt, view).ok());
    builder.set_settings(samples::settings(), kNoOffset);
    builder.set_settings(samples::settings(), kNoOffset);
    EXPECT_FALSE(decode_journal(builder.take(), Offset(1), kAt, view).ok());
}

TEST(JournalCodec, ARecordThatIsTooLargeStopsItsReader) {
    JournalRecordBuilder builder;
    for (int i = 0; i < 17; ++i) {
        const Offset offset(i);
        builder.add_item(Topic::kRequests, offset, next(offset), kAt,
                         std::string(kMaxItemBytes, 'x'));
    }
    JournalView view;
    EXPECT_FALSE(decode_journal(builder.take(), Offset(1), kAt, view).ok());
}

TEST(SettingsCodec, WithoutAPolicyTheyAreOfAPreview_C10) {
    const auto read = decode_settings(encode_settings(Settings{}));
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(
        read.error().what,
        "the settings have no policy: they were written by a preview build; begin a new journal");
}

TEST(SettingsCodec, APolicyGoesBothWaysWordByWord) {
    for (const std::string& name : policies::shipped_names()) {
        const policy::Policy& policy = *policies::shipped(name);
        EXPECT_EQ(decode_policy(encode_policy(policy)).value(), policy) << name;
    }
    const policy::Policy sample = *samples::settings().text;
    EXPECT_EQ(decode_policy(encode_policy(sample)).value(), sample);
    EXPECT_FALSE(decode_policy("\xff\xff rubbish").ok());
    policy::Policy other = sample;
    other.language = 2;
    EXPECT_EQ(decode_policy(encode_policy(other)).error().what,
              "the policy is written in language 2, and this build reads language 1");
    other = sample;
    other.rules.front().cases.front().steps.front().verb = static_cast<policy::Verb>(99);
    EXPECT_EQ(decode_policy(encode_policy(other)).error().what,
              "the policy has something that this build does not know");
}

TEST(SettingsCodec, GoBothWays) {
    EXPECT_EQ(decode_settings(encode_settings(samples::settings())).value(), samples::settings());
    EXPECT_EQ(decode_genesis(encode_genesis(samples::genesis())).value(), samples::genesis());
    Settings bare;
    bare.text = policy::Policy{};
    EXPECT_EQ(decode_settings(encode_settings(bare)).value(), bare);
}

TEST(SettingsCodec, AsJsonTheyAreTheSame) {
    const std::string json = settings_json(samples::settings());
    EXPECT_EQ(json.find('\n'), std::string::npos);
    EXPECT_EQ(settings_of_json(json).value(), samples::settings());
    EXPECT_FALSE(settings_of_json("{}").ok());
    EXPECT_FALSE(settings_of_json("[").ok());
}

}  // namespace
}  // namespace trueup::codec
