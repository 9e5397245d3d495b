// Proves connectors/kafka/client.h: what the product relies on is what its clients are set to.
#include "connectors/kafka/client.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace trueup::connectors::kafka {
namespace {

std::string setting_of(const Client& client, const char* name) {
    std::array<char, 512> value{};
    std::size_t size = value.size();
    const auto got = rd_kafka_conf_get(rd_kafka_conf(client.get()), name, value.data(), &size);
    return got == RD_KAFKA_CONF_OK ? std::string(value.data()) : "(none)";
}

// A journal that is kept for ever, on each replica, was not compressed.
TEST(KafkaClient, WhatIsWrittenIsCompressedAndOnEachReplica) {
    Settings settings;
    settings.bootstrap = "127.0.0.1:1";
    Callbacks callbacks;
    callbacks.settings = &settings;
    const auto producer = make_producer(callbacks);
    ASSERT_TRUE(producer.ok()) << producer.error().what;
    EXPECT_EQ(setting_of(*producer, "compression.codec"), "lz4");
    EXPECT_EQ(setting_of(*producer, "acks"), "-1");
    EXPECT_EQ(setting_of(*producer, "enable.idempotence"), "true");
}

}  // namespace
}  // namespace trueup::connectors::kafka
