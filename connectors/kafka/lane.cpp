#include "connectors/kafka/lane.h"

#include "engine/ports/clock.h"

#include <utility>

namespace trueup::connectors::kafka {

namespace {

constexpr int kPollMs = 100;                // a stop waits as long
constexpr std::size_t kMostAtOnce = 2'000;  // messages taken over under one lock
constexpr std::chrono::seconds kUnused{5};  // until a stream is closed that nobody reads

}  // namespace

Result<std::unique_ptr<Streams::Lane>> Streams::Lane::start(Streams& owner) {
    std::unique_ptr<Lane> lane(new Lane(owner));
    Result<Client> made = make_reader(lane->callbacks_);
    if (!made) return made.error();
    lane->client_ = std::move(*made);
    lane->queue_.reset(rd_kafka_queue_get_consumer(lane->client_.get()));
    lane->owner_.opening_.assert_held();
    lane->meet_all();
    lane->thread_ = std::thread([raw = lane.get()] { raw->run(); });
    return lane;
}

Streams::Lane::~Lane() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
    streams_.clear();  // before the client that their messages belong to
    known_.clear();
}

Streams::StreamRef Streams::Lane::at(ports::Partition partition) const {
    owner_.mutex_.assert_held();
    const auto found = streams_.find(partition);
    return found == streams_.end() ? nullptr : found->second;
}

std::size_t Streams::Lane::size() const {
    owner_.mutex_.assert_held();
    return streams_.size();
}

Status Streams::Lane::open(ports::Partition partition, Offset offset) {
    owner_.opening_.assert_held();
    if (Status met = meet(partition.topic); !met) return met;
    auto stream = std::make_shared<Stream>();
    stream->partition = partition;
    stream->position = stream->expected = offset;
    stream->used = ports::system_clock().steady_now();
    {
        const MutexLock lock(owner_.mutex_);
        streams_[partition] = std::move(stream);
    }
    const Partitions list = one_partition(owner_.settings_, partition, offset.value());
    // It stays paused from stream to stream if the last one was.
    rd_kafka_resume_partitions(client_.get(), list.get());
    const Owned<rd_kafka_error_t, rd_kafka_error_destroy> error(
        rd_kafka_incremental_assign(client_.get(), list.get()));
    if (!error) {
        ask_for_end(partition);
        return Done{};
    }
    const MutexLock lock(owner_.mutex_);
    streams_.erase(partition);
    return error_of(rd_kafka_error_code(error.get()), "read " + partition_name(partition));
}

void Streams::Lane::close(ports::Partition partition) {
    const Partitions list = one_partition(owner_.settings_, partition, RD_KAFKA_OFFSET_INVALID);
    const Owned<rd_kafka_error_t, rd_kafka_error_destroy> error(
        rd_kafka_incremental_unassign(client_.get(), list.get()));
    const MutexLock lock(owner_.mutex_);
    streams_.erase(partition);
    going_on_.erase(partition);
}

void Streams::Lane::pause(Stream& stream) {
    if (stream.paused) return;
    stream.paused = true;
    const Partitions list = one_partition(owner_.settings_, stream.partition, 0);
    rd_kafka_pause_partitions(client_.get(), list.get());
}

void Streams::Lane::go_on(Stream& stream) {
    owner_.mutex_.assert_held();
    if (!going_on_.insert(stream.partition).second) return;
    rd_kafka_queue_yield(queue_.get());
}

/// The client library notices that it may fetch again only when its thread wakes, up to a second
/// later: a journal of gigabytes would be read at 12 MB a second. A question to the same broker
/// wakes it, and nobody needs the answer: this thread has other streams, and has to end. (What asks
/// for watermarks does not end in time while no broker answers, 2.0.2.)
void Streams::Lane::resume() {
    std::set<ports::Partition> partitions;
    {
        const MutexLock lock(owner_.mutex_);
        partitions.swap(going_on_);
        for (const ports::Partition partition : partitions) {
            if (const StreamRef stream = at(partition)) stream->paused = false;
        }
    }
    for (const ports::Partition partition : partitions) {
        const Partitions list = one_partition(owner_.settings_, partition, 0);
        rd_kafka_resume_partitions(client_.get(), list.get());
        list->elems[0].offset = RD_KAFKA_OFFSET_END;
        rd_kafka_offsets_for_times(client_.get(), list.get(), 1);
    }
}

TopicHandle Streams::Lane::handle_of(Topic topic) {
    const std::string name = topic_name(owner_.settings_, topic);
    return TopicHandle(rd_kafka_topic_new(client_.get(), name.c_str(), nullptr));
}

Result<Metadata> Streams::Lane::ask_where(rd_kafka_topic_t* topic) {
    const rd_kafka_metadata_t* raw = nullptr;
    const rd_kafka_resp_err_t error =
        rd_kafka_metadata(client_.get(), 0, topic, &raw, static_cast<int>(kAnswer.count()));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(error, "look up the topics");
    return Metadata(raw);
}

void Streams::Lane::meet_all() {
    for (std::size_t i = 1; i < kTopics; ++i) {
        known_.emplace(static_cast<Topic>(i), handle_of(static_cast<Topic>(i)));
    }
    const Result<Metadata> answer = ask_where(nullptr);
    for (int i = 0; answer && i < (*answer)->topic_cnt; ++i) {
        const rd_kafka_metadata_topic& one = (*answer)->topics[i];
        if (one.err == RD_KAFKA_RESP_ERR_NO_ERROR)
            met_.insert(topic_of(owner_.settings_, one.topic));
    }
}

Status Streams::Lane::meet(Topic topic) {
    if (met_.contains(topic)) return Done{};
    const Result<Metadata> answer = ask_where(known_.at(topic).get());
    if (!answer) return answer.error();
    met_.insert(topic);
    return Done{};
}

void Streams::Lane::ask_for_end(ports::Partition partition) {
    const Result<ports::Extent> extent = owner_.describe_(partition);
    const MutexLock lock(owner_.mutex_);
    const StreamRef stream = at(partition);
    if (!extent || !stream || stream->expected != extent->next_offset) return;
    stream->at_end = true;
    stream->end = extent->next_offset;
}

void Streams::Lane::run() {
    std::vector<rd_kafka_message_t*> came;
    while (!stopping_) {
        came.clear();
        rd_kafka_message_t* message = rd_kafka_consumer_poll(client_.get(), kPollMs);
        for (; message != nullptr; message = rd_kafka_consumer_poll(client_.get(), 0)) {
            came.push_back(message);
            if (came.size() == kMostAtOnce) break;
        }
        if (!came.empty()) deliver(came);
        resume();
        close_unused();
    }
}

void Streams::Lane::deliver(const std::vector<rd_kafka_message_t*>& came) {
    bool news = false;
    {
        const MutexLock lock(owner_.mutex_);
        for (rd_kafka_message_t* message : came) news = take(message) || news;
        for (auto& [partition, stream] : streams_) look_for_end(*stream);
    }
    owner_.news_.notify_all();
    if (news) owner_.arrived_();
}

Streams::Stream* Streams::Lane::stream_of(const rd_kafka_message_t& message) {
    if (message.rkt == nullptr) return nullptr;
    if (message.rkt != last_topic_) {
        last_topic_ = message.rkt;
        last_ = topic_of(owner_.settings_, rd_kafka_topic_name(message.rkt));
    }
    const auto found = streams_.find({last_, PartitionNumber(message.partition)});
    return found == streams_.end() ? nullptr : found->second.get();
}

bool Streams::Lane::take(rd_kafka_message_t* raw) {
    Message message(raw);
    Stream* stream = stream_of(*message);
    if (stream == nullptr) return false;
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        stream->end = Offset(message->offset);
        stream->at_end = stream->end >= stream->expected;
        return false;
    }
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        stream->error = read_error(*message, stream->partition);
        // Who waits for it hears of it there. Told as news, one that fails for good would have
        // everybody read again, and fail again, without a pause.
        return stream->readers == 0;
    }
    const Offset offset(message->offset);
    if (offset < stream->expected) return false;
    stream->expected = next(offset);
    stream->at_end = false;
    stream->moved = true;
    stream->bytes += weight(*message);
    stream->waiting.push_back(message.release());
    if (stream->bytes > owner_.settings_.memory_bytes / kStreamShare) pause(*stream);
    return true;
}

void Streams::Lane::look_for_end(Stream& stream) {
    if (!std::exchange(stream.moved, false)) return;
    std::int64_t low = 0;
    std::int64_t high = 0;
    const std::string name = topic_name(owner_.settings_, stream.partition.topic);
    const rd_kafka_resp_err_t error = rd_kafka_get_watermark_offsets(
        client_.get(), name.c_str(), stream.partition.index.value(), &low, &high);
    const bool known = error == RD_KAFKA_RESP_ERR_NO_ERROR && high >= 0;
    if (!known || stream.expected < Offset(high)) return;
    stream.at_end = true;
    stream.end = stream.expected;
}

Error Streams::Lane::read_error(const rd_kafka_message_t& message, ports::Partition partition) {
    const std::string doing = "read " + partition_name(partition);
    switch (message.err) {
        case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
        case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
            return {Next::kRefresh, Code::kStale, doing + ": the offset is outside the partition"};
        case RD_KAFKA_RESP_ERR__BAD_MSG:
        case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
            return {Next::kStop, Code::kCorrupt,
                    doing +
                        ": the broker returned damaged records; check its disk, and copy the "
                        "partition from a replica"};
        default:
            return error_of(message.err, doing);
    }
}

void Streams::Lane::close_unused() {
    const SteadyTime now = ports::system_clock().steady_now();
    if (now < next_look_) return;
    next_look_ = now + std::chrono::seconds(1);
    std::vector<ports::Partition> unused;
    {
        const MutexLock lock(owner_.mutex_);
        for (const auto& [partition, stream] : streams_) {
            if (now - stream->used > kUnused) unused.push_back(partition);
        }
    }
    if (unused.empty()) return;
    if (!owner_.opening_.try_lock()) return;  // one that is just being opened may be among them
    const MutexLock opening(owner_.opening_, std::adopt_lock);
    for (const ports::Partition partition : unused) {
        bool still = false;
        {
            const MutexLock lock(owner_.mutex_);
            const StreamRef stream = at(partition);
            still = stream && now - stream->used > kUnused;
        }
        if (still) close(partition);
    }
}

}  // namespace trueup::connectors::kafka
