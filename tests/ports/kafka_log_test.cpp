// Proves connectors/kafka/kafka_log.h on a real broker: the log contract, and what this log
// promises beyond it. KAFKA_BOOTSTRAP says where the broker is (tools/services/kafka up).
#include "connectors/kafka/kafka_log.h"

#include "tests/ports/kafka_broker.h"
#include "tests/ports/log_contract.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

namespace trueup::connectors::kafka {
namespace {

using ports::Appended;
using ports::kJournal0;
using ports::kPlenty;
using ports::kPods0;
using ports::read_all;
using ports::unit_of;
using ports::values_of;

std::unique_ptr<KafkaLog> must_open(const Settings& settings) {
    Result<std::unique_ptr<KafkaLog>> opened = KafkaLog::open(settings);
    if (!opened.ok()) throw std::runtime_error(opened.error().what);
    return std::move(opened).value();
}

/// Read by librdkafka's plain consumer, not by ours.
Result<Headers> headers_at(const Settings& settings, ports::Partition partition, Offset offset) {
    Callbacks callbacks;
    callbacks.settings = &settings;
    Result<Client> client = make_reader(callbacks);
    if (!client) return client.error();
    const Partitions list = one_partition(settings, partition, offset.value());
    rd_kafka_assign(client->get(), list.get());
    const Message message(rd_kafka_consumer_poll(client->get(), 10'000));
    Headers out;
    if (!message || message->err != RD_KAFKA_RESP_ERR_NO_ERROR ||
        message->offset != offset.value()) {
        return Error{Next::kSkip, Code::kNotFound, "no such record"};
    }
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(message.get(), &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return out;
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         ++i) {
        out.add(name, {static_cast<const char*>(value), size});
    }
    return out;
}

class KafkaUnderTest final : public ports::LogUnderTest {
  public:
    explicit KafkaUnderTest(std::size_t memory_bytes) : settings_(fresh_settings()) {
        settings_.memory_bytes = memory_bytes;
        make_topics(settings_, {Topic::kJournal, Topic::kChangesPods});
        reopen();
    }
    ports::Log& log() override { return *log_; }
    void reopen() override {
        log_.reset();
        log_ = must_open(settings_);
    }
    Result<Headers> headers(ports::Partition partition, Offset offset) override {
        return headers_at(settings_, partition, offset);
    }

  private:
    Settings settings_;
    std::unique_ptr<KafkaLog> log_;
};

// Producer::cut: pieces of a megabyte each, answered as one.
TEST(KafkaLog, AnAppendOfManyBatchesIsAnsweredOnceAndIsThereInOrder_L4) {
    const Settings settings = fresh_settings();
    make_topics(settings, {Topic::kJournal});
    const auto log = must_open(settings);
    std::vector<ports::Entry> entries;
    for (int i = 0; i < 5'000; ++i) {
        entries.push_back({{}, std::to_string(i) + std::string(1'000, 'x'), {}});
    }
    const Result<Appended> appended = ports::append_now(*log, kJournal0, entries);
    ASSERT_TRUE(appended.ok()) << appended.error().what;
    EXPECT_EQ(appended->first_offset, kFirstOffset);
    EXPECT_EQ(appended->last_offset, Offset(4'999));
    const std::vector<std::string> values = values_of(read_all(*log, kJournal0));
    ASSERT_EQ(values.size(), entries.size());
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], entries[i].value);
}

// A partition of which a little was read, and long after that the rest, was never fetched again.
TEST(KafkaLog, APartitionThatWasPausedWhenItsStreamWasClosedIsReadOn) {
    Settings settings = fresh_settings();
    settings.memory_bytes = std::size_t{8} << 10U;
    make_topics(settings, {Topic::kJournal});
    const auto log = must_open(settings);
    for (int i = 0; i < 100; ++i) {
        const auto appended = ports::append_now(
            *log, kJournal0, std::vector<ports::Entry>{{{}, std::string(1'000, 'x'), {}}});
        ASSERT_TRUE(appended.ok()) << appended.error().what;
    }
    const auto little = log->read(kJournal0, kFirstOffset, 1);
    ASSERT_TRUE(little.ok()) << little.error().what;
    while (log->streams() > 0) log->wait(log->changes_seen(), Millis{200});
    Offset next = little->next_offset;
    while (next < Offset(100)) {
        const auto rest = log->read(kJournal0, next, std::size_t{1} << 20U);
        ASSERT_TRUE(rest.ok()) << rest.error().what;
        next = rest->next_offset;
    }
}

ports::LogMaker maker(std::size_t memory_bytes) {
    return [=] { return std::make_unique<KafkaUnderTest>(memory_bytes); };
}

}  // namespace
}  // namespace trueup::connectors::kafka

namespace trueup::ports {
INSTANTIATE_TEST_SUITE_P(Kafka, LogContract,
                         ::testing::Values(connectors::kafka::maker(std::size_t{64} << 20U)));
// So little memory that each stream is paused all the time.
INSTANTIATE_TEST_SUITE_P(KafkaPaused, LogContract,
                         ::testing::Values(connectors::kafka::maker(std::size_t{8} << 10U)));
}  // namespace trueup::ports
