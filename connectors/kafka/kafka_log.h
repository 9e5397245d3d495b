// The log of many processes: Apache Kafka, by librdkafka (design §7).
//
// Topics are `PREFIX.NAME`, made beforehand (topics.h). Offsets may skip; append times are the
// broker's (LogAppendTime), and descend only when its clock does. What an acknowledged append
// survives depends on the cluster: `acks=all` with three replicas, two of them in sync, survives
// the loss of a broker and of its power; a single replica survives that processes are killed.
//
// While no broker answers, appends fail with kRetry within half a minute, reads of what was not
// fetched within seconds.
//
// Thread-safe. It outlives what was read from it.
#pragma once

#include "connectors/kafka/settings.h"
#include "engine/base/result.h"
#include "engine/ports/log.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace trueup::connectors::kafka {

class KafkaLog final : public ports::Log {
  public:
    /// kRetry: no broker answers; kStop: a setting does not do. Makes no topics.
    static Result<std::unique_ptr<KafkaLog>> open(Settings settings);
    /// Waits for what was appended, as long as a delivery may take or `begin_stop` says.
    ~KafkaLog() override;

    std::unique_ptr<ports::PendingAppend> append(ports::Partition partition,
                                                 const ports::Entries& entries) override;
    Result<ports::Fetched> read(ports::Partition partition, Offset offset,
                                std::size_t max_bytes) override;
    bool may_have(ports::Partition partition, Offset offset) override;
    std::uint64_t changes_seen() const override;
    void wait(std::uint64_t seen, Millis max_wait) override;
    void wake() override;
    /// Reads that wait for the brokers give up, and appends that have no answer in 5 s.
    void begin_stop() override;
    std::unique_ptr<ports::Wakeup::Listener> listen(std::function<void()> heard) override;
    /// By the cluster's DeleteRecords.
    Status truncate(ports::Partition partition, Offset offset) override;
    Result<ports::Extent> describe(ports::Partition partition) override;
    /// Asks the broker's index of times.
    Result<Offset> offset_at(ports::Partition partition, BrokerTime time) override;
    /// `kafka:<the cluster's id>:<prefix>`.
    std::string name() const override;
    std::string trouble() const override;

    /// How many producers were thrown away because an append had no answer.
    std::uint64_t renewals() const;
    /// How many streams are fetched; for tests.
    std::size_t streams() const;

  private:
    class Parts;
    explicit KafkaLog(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace trueup::connectors::kafka
