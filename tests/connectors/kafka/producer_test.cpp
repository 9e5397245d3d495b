// Proves connectors/kafka/producer.h without a broker: how it ends where none answers.
#include "connectors/kafka/producer.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace trueup::connectors::kafka
