// Proves that no bytes from the API server crash the decoder or turn into an object by accident.
#include "connectors/kubernetes/decode.h"

#include "connectors/kubernetes/line_reader.h"
#include "engine/model/object.h"
#include "tests/connectors/kubernetes/connector_fixture.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace trueup::testing {
namespace {

using connectors::Decoder;
using connectors::LineReader;
using connectors::Mapping;
using connectors::WatchEvent;

Decoder& shared_decoder() {
    static Decoder decoder(Mapping{{"b", "a", "b"}, "trueup.io/hold", ""});
    return decoder;
}

std::string fields(const std::string& encoded) {
    std::string text;
    ObjectView(encoded).each([&](const Field& field) {
        text += std::string(field.name);
        text += field.unchanged ? "?;" : "=" + std::string(field.value.value_or("null")) + ";";
    });
    return text;
}

TEST(KubernetesDecode, AnyResourceWorksAndWhatItLacksIsLeftOut) {
    const auto node = shared_decoder().out_of_scope(
        R"({"kind":"Node","metadata":{"name":"n1","uid":"u","resourceVersion":"5"}})");
    ASSERT_TRUE(node.ok());
    EXPECT_EQ(fields(node->encoded), "in_scope=false;name=n1;");
    EXPECT_EQ(node->key, "n1");
    EXPECT_EQ(node->version, 5U);
}

TEST(KubernetesDecode, MappedLabelsAreSortedAndAMissingLabelsObjectIsNoLabels_S23) {
    const std::string head =
        R"({"kind":"Pod","metadata":{"name":"p","uid":"u","resourceVersion":"5")";
    const auto with =
        shared_decoder().out_of_scope(head + R"(,"labels":{"a":"1","b":"","c":"3"}}})");
    ASSERT_TRUE(with.ok());
    EXPECT_EQ(fields(with->encoded), "in_scope=false;label.a=1;label.b=;name=p;");
    const auto without = shared_decoder().out_of_scope(head + R"(,"labels":null}})");
    ASSERT_TRUE(without.ok());
    EXPECT_EQ(fields(without->encoded), "in_scope=false;name=p;");
}

TEST(KubernetesDecode, WhatIsReadByPathStandsAmongTheOthersInOrder) {
    const auto path = [](const char* name, const char* text) {
        return *policy::FieldPath::parse(name, text);
    };
    Mapping mapping{{"a"}, "trueup.io/hold", ""};
    mapping.paths = {path("zone", "spec.zone"), path("phase", "status.state"),
                     path("plan", "spec.plan"), path("api_token", "spec.token"),
                     path("gone", "spec.gone")};
    Decoder decoder(mapping);
    const auto box = decoder.out_of_scope(
        R"({"kind":"Box","metadata":{"name":"b","uid":"u","resourceVersion":"5","labels":{"a":"1"},)"
        R"("namespace":"n"},"spec":{"zone":{"of":"x"},"plan":7,"token":"t"},)"
        R"("status":{"phase":"Running","state":"Odd"}})");
    ASSERT_TRUE(box.ok());
    // The token is hashed, and without a key dropped; what is no plain value nobody can say.
    EXPECT_EQ(fields(box->encoded),
              "in_scope=false;label.a=1;name=b;namespace=n;phase=Odd;plan=7;zone?;");
}

TEST(KubernetesDecode, WithoutAnyLabelsAHoldIsUnknown_S23) {
    Decoder decoder(Mapping{{}, "trueup.io/hold", "", *ports::Selector::parse("!old")});
    const auto seen = [&](const std::string& labels) {
        const auto event = decoder.event(
            R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"p","uid":"u",)" + labels +
            R"("resourceVersion":"5"}}})");
        return event.ok() ? fields(event->object.encoded) : event.error().what;
    };
    EXPECT_EQ(seen(""), "hold?;name=p;");
    EXPECT_EQ(seen(R"("labels":null,)"), "hold?;name=p;");
    EXPECT_EQ(seen(R"("labels":{},)"), "hold?;name=p;");
    EXPECT_EQ(seen(R"("labels":{"app":"a"},)"), "name=p;");
    const auto left = decoder.out_of_scope(
        R"({"kind":"Pod","metadata":{"name":"p","uid":"u","resourceVersion":"5"}})");
    ASSERT_TRUE(left.ok());
    EXPECT_EQ(fields(left->encoded), "hold?;in_scope=false;name=p;");
}

TEST(KubernetesDecode, WhatLeavesTheSelectorIsDeletedAsItIsOrAsItWas) {
    Decoder decoder(Mapping{{}, "", "", *ports::Selector::parse("app=w")});
    for (const char* labels : {R"({"app":"w"})", R"({"app":"x"})", "null"}) {
        EXPECT_TRUE(decoder
                        .event(R"({"type":"DELETED","object":{"kind":"Pod","metadata":{"name":"p",)"
                               R"("uid":"u","resourceVersion":"5","labels":)" +
                               std::string(labels) + "}}}")
                        .ok());
    }
}

TEST(KubernetesDecode, AVetoIsALabelOrAnAnnotationThatDoesNotSayNo) {
    const auto held = [](const std::string& more) {
        const auto object = shared_decoder().out_of_scope(
            R"({"metadata":{"name":"p","uid":"u","resourceVersion":"5",)" + more + "}}");
        return object.ok() && ObjectView(object->encoded).is("hold", "true");
    };
    EXPECT_TRUE(held(R"("labels":{"trueup.io/hold":"true"})"));
    EXPECT_TRUE(held(R"("labels":{"trueup.io/hold":""})"));
    EXPECT_TRUE(held(R"("annotations":{"trueup.io/hold":"until monday"})"));
    EXPECT_TRUE(
        held(R"("labels":{"trueup.io/hold":"false"},"annotations":{"trueup.io/hold":"1"})"));
    EXPECT_FALSE(held(R"("labels":{"trueup.io/hold":"false"})"));
    EXPECT_FALSE(held(R"("labels":{"trueup.io/hold":"No"})"));
    EXPECT_FALSE(held(R"("labels":{"trueup.io/holder":"true"})"));
}

TEST(KubernetesDecode, OnlyADecimalVersionIsAVersion) {
    for (const char* version : {R"("")", R"("0")", R"("-1")", R"("1x")", R"(" 1")", "5", "null",
                                R"("18446744073709551616")", R"("0x10")"}) {
        const auto object = shared_decoder().out_of_scope(
            R"({"metadata":{"name":"p","uid":"u","resourceVersion":)" + std::string(version) +
            "}}");
        EXPECT_FALSE(object.ok()) << version;
    }
}

TEST(KubernetesDecode, ANameThatWouldBreakAKeyIsNoName) {
    for (const std::string& name : {std::string("a/b"), std::string(), std::string(254, 'a')}) {
        EXPECT_FALSE(shared_decoder()
                         .out_of_scope(R"({"metadata":{"name":")" + name +
                                       R"(","uid":"u","resourceVersion":"1"}})")
                         .ok());
    }
}

TEST(KubernetesDecode, AStatusIsReadWhole) {
    const auto status = shared_decoder().status(
        R"({"kind":"Status","code":429,"reason":"TooManyRequests","message":"m",)"
        R"("details":{"retryAfterSeconds":3}})");
    ASSERT_TRUE(status.has_value());
    EXPECT_EQ(status->code, 429);
    EXPECT_EQ(status->reason, "TooManyRequests");
    EXPECT_EQ(status->retry_after, Millis(3000));
    EXPECT_FALSE(shared_decoder().status(R"({"kind":"Pod"})").has_value());
    EXPECT_FALSE(shared_decoder().status("").has_value());
}

TEST(KubernetesDecode, EveryPrefixOfAnEventIsRefused) {
    const std::string whole = line("ADDED", {"w1", 51});
    for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
        EXPECT_FALSE(shared_decoder().event(whole.substr(0, size)).ok()) << size;
    }
    EXPECT_TRUE(shared_decoder().event(whole.substr(0, whole.size() - 1)).ok());
}

std::uint64_t seed() {
    const char* given = std::getenv("TRUEUP_SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::fprintf(stderr, "seed %llu (TRUEUP_SEED=%llu replays)\n",
                 static_cast<unsigned long long>(seed), static_cast<unsigned long long>(seed));
    return seed;
}

void try_everything(Decoder& tried, const std::string& bytes) {
    const auto page = tried.page(bytes);
    const auto event = tried.event(bytes);
    const auto object = tried.out_of_scope(bytes);
    const auto status = tried.status(bytes);
    if (object.ok()) {
        EXPECT_FALSE(object->uid.empty());
        EXPECT_NE(object->version, 0U);
        EXPECT_TRUE(ObjectView(object->encoded).valid());
    }
    if (event.ok() && event->type != WatchEvent::Type::kError) {
        EXPECT_NE(event->version, 0U);
    }
    EXPECT_TRUE(!page.ok() || page->version != 0U);
    EXPECT_TRUE(!status || status->code >= 0);
}

TEST(KubernetesDecode, RandomAndMutilatedBytesNeverCrash) {
    std::mt19937_64 random(seed());
    Decoder& tried = shared_decoder();
    const std::vector<std::string> samples{page(50, {{"w1", 7}, {"w2", 9}}, "next"),
                                           line("ADDED", {"w1", 51}),
                                           bookmark(5),
                                           error_line(410, "Expired"),
                                           Pod{"w1", 7}.json(),
                                           status(404, "NotFound")};
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes;
        if (round % 4 == 0) {
            bytes.resize(random() % 200);
            for (char& byte : bytes) byte = static_cast<char>(random());
        } else {
            bytes = samples[random() % samples.size()];
            for (std::uint64_t flips = random() % 4; flips > 0; --flips) {
                bytes[random() % bytes.size()] = static_cast<char>(random());
            }
            if (round % 3 == 0) bytes.resize(random() % (bytes.size() + 1));
            if (round % 5 == 0) bytes.insert(random() % (bytes.size() + 1), "[[[{{{\"\\u00");
        }
        try_everything(tried, bytes);
    }
}

TEST(KubernetesDecode, DeepNestingIsRefusedNotRecursedInto) {
    EXPECT_FALSE(shared_decoder().event(std::string(100'000, '[')).ok());
    EXPECT_FALSE(shared_decoder().page(std::string(100'000, '{')).ok());
}

TEST(LineReader, RandomCutsGiveTheSameLines) {
    std::mt19937_64 random(seed());
    for (int round = 0; round < 200; ++round) {
        std::string bytes;
        std::vector<std::string> whole;
        for (std::uint64_t n = random() % 20; n > 0; --n) {
            whole.emplace_back(random() % 50, static_cast<char>('a' + n));
            bytes += whole.back() + "\n";
        }
        LineReader reader;
        std::vector<std::string> read;
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t size = 1 + random() % 40;
            reader.feed(std::string_view(bytes).substr(at, size));
            at += size;
            while (const auto next = reader.next()) read.emplace_back(*next);
        }
        EXPECT_EQ(read, whole);
        EXPECT_FALSE(reader.partial());
    }
}

TEST(LineReader, ALineIsBoundedButTheStreamIsNot) {
    LineReader reader;
    const std::string chunk = std::string(1U << 20U, 'x') + "\n";
    for (int i = 0; i < 20; ++i) {
        reader.feed(chunk);
        ASSERT_TRUE(reader.next().has_value());
    }
    EXPECT_FALSE(reader.too_long());
    for (int i = 0; i < 5; ++i) reader.feed(std::string(1U << 20U, 'x'));
    EXPECT_FALSE(reader.next().has_value());
    EXPECT_TRUE(reader.too_long());
}

TEST(KubernetesDecode, LabelsAndNodesArePublishedAsThePolicySays_Design_4_15) {
    ports::FieldPolicy policy;
    policy.named = {{"label.team", ports::Treatment::kHash},
                    {"label.note", ports::Treatment::kDrop},
                    {"created", ports::Treatment::kDrop},
                    {"node", ports::Treatment::kHash}};
    policy.hash = [](std::string_view text) { return "#" + std::to_string(text.size()); };
    Decoder decoder(Mapping{{"app", "auth", "note", "team"}, "", "", {}, policy});
    const auto pod = decoder.out_of_scope(
        R"({"metadata":{"name":"p","uid":"u","resourceVersion":"5","creationTimestamp":"2026",)"
        R"("labels":{"app":"web","team":"blue","note":"private","auth":"hunter2"}},)"
        R"("spec":{"nodeName":"n-17"},"status":{"phase":"Running"}})");
    ASSERT_TRUE(pod.ok());
    EXPECT_EQ(fields(pod->encoded),
              "in_scope=false;label.app=web;label.auth=#7;label.team=#4;name=p;node=#4;"
              "phase=Running;");
}

}  // namespace
}  // namespace trueup::testing
