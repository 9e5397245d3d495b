// Proves connectors/kafka/producer.h without a broker of Kafka's: how it ends where none answers,
// and which answers it believes.
#include "connectors/kafka/producer.h"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trueup::connectors::kafka {
namespace {

// A process that was told to stop waited for half a minute where the brokers did not answer, and
// was killed by whoever had started it.
TEST(KafkaProducer, AProcessThatStopsDoesNotWaitForBrokersThatDoNotAnswer) {
    Settings settings;
    settings.bootstrap = "127.0.0.1:1";
    settings.prefix = "nobody";
    settings.memory_bytes = std::size_t{64} << 20U;
    const auto nothing = [](auto&&...) {};
    const auto started = Producer::start(settings, nothing, nothing, nothing);
    ASSERT_TRUE(started.ok()) << started.error().what;
    Producer& producer = **started;
    const std::vector<ports::Entry> entries{{"key", "value", {}}};
    const ports::Partition partition{Topic::kJournal, PartitionNumber(0)};
    // The second one is queued behind the first, which is under way.
    const auto under_way = producer.append(partition, entries);
    const auto queued = producer.append(partition, entries);
    producer.begin_stop(Millis{300});
    for (const auto& append : {under_way, queued}) {
        const Result<ports::Appended> answer = append->take();
        ASSERT_FALSE(answer.ok());
        EXPECT_EQ(answer.error().what,
                  "append to journal/0: it has no answer yet, and this process stops");
        EXPECT_EQ(answer.error().next, Next::kRetry);
    }
    const auto late = producer.append(partition, entries);
    EXPECT_FALSE(late->take().ok());
}

// A retry that the broker had seen before was taken for stored, at an offset that librdkafka counts
// up from -1, and at the client's time: the broker says neither. The broker here is librdkafka's
// own.
TEST(KafkaProducer, AnAnswerWithoutTheBrokersTimeIsNotBelieved) {
    constexpr std::int16_t kProduce = 0;
    char error[256];
    const std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> client(
        rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), error, sizeof error),
        rd_kafka_destroy);
    ASSERT_NE(client, nullptr) << error;
    const std::unique_ptr<rd_kafka_mock_cluster_t, decltype(&rd_kafka_mock_cluster_destroy)>
        brokers(rd_kafka_mock_cluster_new(client.get(), 1), rd_kafka_mock_cluster_destroy);
    constexpr rd_kafka_resp_err_t kSeenBefore = RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER;
    rd_kafka_mock_push_request_errors(brokers.get(), kProduce, 3, kSeenBefore, kSeenBefore,
                                      kSeenBefore);
    rd_kafka_mock_broker_set_rtt(brokers.get(), 1, 100);  // so that the others go together
    Settings settings;
    settings.bootstrap = rd_kafka_mock_cluster_bootstraps(brokers.get());
    settings.prefix = "mocked";
    settings.memory_bytes = std::size_t{64} << 20U;
    const auto nothing = [](auto&&...) {};
    const auto started = Producer::start(settings, nothing, nothing, nothing);
    ASSERT_TRUE(started.ok()) << started.error().what;
    const std::vector<ports::Entry> entries{{"key", "value", {}}};
    const ports::Partition partition{Topic::kJournal, PartitionNumber(0)};
    const auto first = (*started)->append(partition, entries);
    const auto second = (*started)->append(partition, entries);
    const auto third = (*started)->append(partition, entries);
    for (const auto& append : {first, second, third}) {
        const Result<ports::Appended> answer = append->take();
        ASSERT_FALSE(answer.ok()) << answer->first_offset.value();
        EXPECT_EQ(answer.error().what, "append to journal/0: stored at an unknown offset");
        EXPECT_EQ(answer.error().next, Next::kRetry);
    }
}

}  // namespace
}  // namespace trueup::connectors::kafka
