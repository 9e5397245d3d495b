#include "connectors/kafka/kafka_log.h"

#include "connectors/kafka/admin.h"
#include "connectors/kafka/producer.h"
#include "connectors/kafka/streams.h"
#include "engine/base/check.h"
#include "engine/base/mutex.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace trueup::connectors::kafka {

namespace {

constexpr Millis kLastAppends{5'000};  // what a stop waits for their answers

}  // namespace

class KafkaLog::Parts {
  public:
    explicit Parts(Settings given)
        : settings(std::move(given)),
          streams(
              settings, [this] { changes.signal(); },
              [this](ports::Partition partition) { return admin->extent(partition); }) {}

    Status start() {
        Result<std::unique_ptr<Admin>> connected = Admin::connect(settings);
        if (!connected) return connected.error();
        admin = std::move(*connected);
        auto started = Producer::start(
            settings,
            [this](ports::Partition partition, const ports::Appended& appended) {
                const MutexLock lock(mutex);
                Offset& end = ends[partition];
                end = std::max(end, next(appended.last_offset));
                trouble.clear();
            },
            [this] { changes.signal(); },
            [this](const std::string& why) {
                const MutexLock lock(mutex);
                trouble = "kafka at " + settings.bootstrap + ": " + why;
            });
        if (!started) return started.error();
        producer = std::move(*started);
        return Done{};
    }

    Offset end_of(ports::Partition partition) {
        const MutexLock lock(mutex);
        const auto found = ends.find(partition);
        return found == ends.end() ? kFirstOffset : found->second;
    }

    /// Why an offset cannot be read, and where the partition lies.
    Error outside(ports::Partition partition, Offset offset) {
        const Result<ports::Extent> extent = admin->extent(partition);
        if (!extent) return extent.error();
        const std::string where =
            partition_name(partition) + ": offset " + std::to_string(offset.value());
        if (offset < extent->first_offset) {
            return {Next::kStop, Code::kLost,
                    where + " was truncated; the first one is " +
                        std::to_string(extent->first_offset.value())};
        }
        if (offset > extent->next_offset) {
            return {Next::kStop, Code::kLost,
                    where + " is beyond the end " + std::to_string(extent->next_offset.value()) +
                        "; the topic was recreated or lost its tail"};
        }
        return {Next::kRetry, Code::kStale, where + " was outside the partition a moment ago"};
    }

    const Settings settings;
    mutable Mutex mutex;
    /// Behind what was acknowledged to us.
    std::map<ports::Partition, Offset> ends TRUEUP_GUARDED_BY(mutex);
    /// Until the next append that is acknowledged.
    std::string trouble TRUEUP_GUARDED_BY(mutex);
    ports::Wakeup changes;
    std::unique_ptr<Admin> admin;
    Streams streams;
    std::unique_ptr<Producer> producer;  ///< first to go: it reports to all of the above
};

KafkaLog::KafkaLog(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
KafkaLog::~KafkaLog() = default;

Result<std::unique_ptr<KafkaLog>> KafkaLog::open(Settings settings) {
    auto parts = std::make_unique<Parts>(std::move(settings));
    if (Status started = parts->start(); !started) return started.error();
    return std::unique_ptr<KafkaLog>(new KafkaLog(std::move(parts)));
}

std::unique_ptr<ports::PendingAppend> KafkaLog::append(ports::Partition partition,
                                                       const ports::Entries& entries) {
    TRUEUP_CHECK(partition.topic != Topic::kUnspecified && partition.index.value() >= 0);
    return ports::pending(parts_->producer->append(partition, entries));
}

Result<ports::Fetched> KafkaLog::read(ports::Partition partition, Offset offset,
                                      std::size_t max_bytes) {
    Result<ports::Fetched> fetched =
        parts_->streams.read(partition, offset, max_bytes, parts_->end_of(partition));
    if (fetched || fetched.error().next != Next::kRefresh) return fetched;
    return parts_->outside(partition, offset);
}

bool KafkaLog::may_have(ports::Partition partition, Offset offset) {
    return parts_->streams.may_have(partition, offset, parts_->end_of(partition));
}

std::uint64_t KafkaLog::changes_seen() const { return parts_->changes.seen(); }

void KafkaLog::wait(std::uint64_t seen, Millis max_wait) { parts_->changes.wait(seen, max_wait); }

void KafkaLog::wake() { parts_->changes.signal(); }

void KafkaLog::begin_stop() {
    parts_->streams.wake();
    parts_->producer->begin_stop(kLastAppends);
}

std::unique_ptr<ports::Wakeup::Listener> KafkaLog::listen(std::function<void()> heard) {
    return parts_->changes.listen(std::move(heard));
}

Status KafkaLog::truncate(ports::Partition partition, Offset offset) {
    const Result<ports::Extent> extent = describe(partition);
    if (!extent) return extent.error();
    if (offset <= extent->first_offset) return Done{};
    return parts_->admin->delete_before(partition, offset);
}

Result<ports::Extent> KafkaLog::describe(ports::Partition partition) {
    return parts_->admin->extent(partition);
}

Result<Offset> KafkaLog::offset_at(ports::Partition partition, BrokerTime time) {
    return parts_->admin->offset_at(partition, time);
}

std::string KafkaLog::name() const {
    return "kafka:" + parts_->admin->cluster() + ":" + parts_->settings.prefix;
}

std::string KafkaLog::trouble() const {
    const MutexLock lock(parts_->mutex);
    return parts_->trouble;
}

std::uint64_t KafkaLog::renewals() const { return parts_->producer->renewals(); }

std::size_t KafkaLog::streams() const { return parts_->streams.open(); }

}  // namespace trueup::connectors::kafka
