#include "connectors/kafka/streams.h"

#include "engine/ports/clock.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace trueup::connectors::kafka {

namespace {

constexpr int kPollMs = 100;  // the client library ends it sooner; else a stop waits as long
constexpr std::size_t kMostAtOnce = 2'000;  // messages taken over under one lock
constexpr Millis kAnswer{5'000};            // how long a read waits for the brokers
constexpr std::chrono::seconds kUnused{5};  // until a stream is closed that nobody reads
constexpr std::size_t kStreamShare = 8;     // of the memory, for one stream

std::size_t weight(const rd_kafka_message_t& message) {
    return message.len + message.key_len + sizeof(rd_kafka_message_t);
}

/// Messages that were handed out; they die with the last view into them.
struct Kept {
    std::vector<rd_kafka_message_t*> messages;
    Kept() = default;
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;
    ~Kept() {
        for (rd_kafka_message_t* message : messages) rd_kafka_message_destroy(message);
    }
};

}  // namespace

Streams::Stream::~Stream() {
    for (rd_kafka_message_t* message : waiting) rd_kafka_message_destroy(message);
}

/// One client, a partition of which is in one stream at most, and the thread that polls it.
class Streams::Lane {
  public:
    static Result<std::unique_ptr<Lane>> start(Streams& owner) TRUEUP_REQUIRES(owner.opening_) {
        std::unique_ptr<Lane> lane(new Lane(owner));
        Result<Client> made = make_reader(lane->callbacks_);
        if (!made) return made.error();
        lane->client_ = std::move(*made);
        lane->owner_.opening_.assert_held();
        lane->meet_all();
        lane->thread_ = std::thread([raw = lane.get()] { raw->run(); });
        return lane;
    }

    ~Lane() {
        stopping_ = true;
        if (thread_.joinable()) thread_.join();
        streams_.clear();  // before the client that their messages belong to
        known_.clear();
    }

    /// Under the owner's lock, as `size` and `pause`.
    StreamRef at(ports::Partition partition) const {
        owner_.mutex_.assert_held();
        const auto found = streams_.find(partition);
        return found == streams_.end() ? nullptr : found->second;
    }
    std::size_t size() const {
        owner_.mutex_.assert_held();
        return streams_.size();
    }

    /// Outside the owner's lock: it waits for the client. One at a time.
    Status open(ports::Partition partition, Offset offset) TRUEUP_EXCLUDES(owner_.mutex_) {
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

    void close(ports::Partition partition) TRUEUP_EXCLUDES(owner_.mutex_) {
        const Partitions list = one_partition(owner_.settings_, partition, RD_KAFKA_OFFSET_INVALID);
        const Owned<rd_kafka_error_t, rd_kafka_error_destroy> error(
            rd_kafka_incremental_unassign(client_.get(), list.get()));
        const MutexLock lock(owner_.mutex_);
        streams_.erase(partition);
    }

    /// Asks for no more, or for more again.
    void pause(Stream& stream, bool pause) {
        if (stream.paused == pause) return;
        stream.paused = pause;
        const Partitions list = one_partition(owner_.settings_, stream.partition, 0);
        if (pause) {
            rd_kafka_pause_partitions(client_.get(), list.get());
        } else {
            rd_kafka_resume_partitions(client_.get(), list.get());
        }
    }

  private:
    explicit Lane(Streams& owner) : owner_(owner) { callbacks_.settings = &owner.settings_; }

    TopicHandle handle_of(Topic topic) {
        const std::string name = topic_name(owner_.settings_, topic);
        return TopicHandle(rd_kafka_topic_new(client_.get(), name.c_str(), nullptr));
    }

    /// Has the client ask where topics lie: this one, or (nullptr) all that it has handles of. A
    /// topic that it meets by `assign` alone it asks about at its next look, up to a second later.
    Result<Metadata> ask_where(rd_kafka_topic_t* topic) {
        const rd_kafka_metadata_t* raw = nullptr;
        const rd_kafka_resp_err_t error =
            rd_kafka_metadata(client_.get(), 0, topic, &raw, static_cast<int>(kAnswer.count()));
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(error, "look up the topics");
        return Metadata(raw);
    }

    /// In one question, before there is a fetch that the answer would have to wait for.
    void meet_all() TRUEUP_REQUIRES(owner_.opening_) {
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

    Status meet(Topic topic) TRUEUP_REQUIRES(owner_.opening_) {
        if (met_.contains(topic)) return Done{};
        const Result<Metadata> answer = ask_where(known_.at(topic).get());
        if (!answer) return answer.error();
        met_.insert(topic);
        return Done{};
    }

    /// Is there anything to read at all? A fetch says so only after it has waited for more, behind
    /// the one that was under way. Without an answer here it has to.
    void ask_for_end(ports::Partition partition) TRUEUP_EXCLUDES(owner_.mutex_) {
        const Result<ports::Extent> extent = owner_.describe_(partition);
        const MutexLock lock(owner_.mutex_);
        const StreamRef stream = at(partition);
        if (!extent || !stream || stream->expected != extent->next_offset) return;
        stream->at_end = true;
        stream->end = extent->next_offset;
    }

    void run() {
        std::vector<rd_kafka_message_t*> came;
        while (!stopping_) {
            came.clear();
            rd_kafka_message_t* message = rd_kafka_consumer_poll(client_.get(), kPollMs);
            for (; message != nullptr; message = rd_kafka_consumer_poll(client_.get(), 0)) {
                came.push_back(message);
                if (came.size() == kMostAtOnce) break;
            }
            if (!came.empty()) deliver(came);
            close_unused();
        }
    }

    void deliver(const std::vector<rd_kafka_message_t*>& came) TRUEUP_EXCLUDES(owner_.mutex_) {
        bool news = false;
        {
            const MutexLock lock(owner_.mutex_);
            for (rd_kafka_message_t* message : came) news = take(message) || news;
            for (auto& [partition, stream] : streams_) look_for_end(*stream);
        }
        owner_.news_.notify_all();
        if (news) owner_.arrived_();
    }

    Stream* stream_of(const rd_kafka_message_t& message) TRUEUP_REQUIRES(owner_.mutex_) {
        if (message.rkt == nullptr) return nullptr;
        if (message.rkt != last_topic_) {
            last_topic_ = message.rkt;
            last_ = topic_of(owner_.settings_, rd_kafka_topic_name(message.rkt));
        }
        const auto found = streams_.find({last_, PartitionNumber(message.partition)});
        return found == streams_.end() ? nullptr : found->second.get();
    }

    /// Takes the message over. True: something that nobody has seen, a record or an error.
    bool take(rd_kafka_message_t* raw) TRUEUP_REQUIRES(owner_.mutex_) {
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
        if (stream->bytes > owner_.settings_.memory_bytes / kStreamShare) pause(*stream, true);
        return true;
    }

    /// An answer with records names the end too: no need to wait for the next, empty one.
    void look_for_end(Stream& stream) TRUEUP_REQUIRES(owner_.mutex_) {
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

    static Error read_error(const rd_kafka_message_t& message, ports::Partition partition) {
        const std::string doing = "read " + partition_name(partition);
        switch (message.err) {
            case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
            case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
                return {Next::kRefresh, Code::kStale,
                        doing + ": the offset is outside the partition"};
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

    void close_unused() TRUEUP_EXCLUDES(owner_.mutex_, owner_.opening_) {
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

    Streams& owner_;
    Callbacks callbacks_;
    Client client_;
    std::map<ports::Partition, StreamRef> streams_ TRUEUP_GUARDED_BY(owner_.mutex_);
    std::map<Topic, TopicHandle> known_ TRUEUP_GUARDED_BY(owner_.opening_);
    /// The client knows where they lie.
    std::set<Topic> met_ TRUEUP_GUARDED_BY(owner_.opening_);
    const rd_kafka_topic_t* last_topic_ = nullptr;  ///< of the polling thread, with the next two
    Topic last_ = Topic::kUnspecified;
    SteadyTime next_look_{};
    std::atomic<bool> stopping_ = false;
    std::thread thread_;
};

Streams::Streams(const Settings& settings, std::function<void()> arrived, Describe describe)
    : settings_(settings), arrived_(std::move(arrived)), describe_(std::move(describe)) {}

Streams::~Streams() = default;

std::size_t Streams::open() const {
    const MutexLock lock(mutex_);
    std::size_t count = 0;
    for (const auto& lane : lanes_) count += lane->size();
    return count;
}

void Streams::wake() {
    {
        const MutexLock lock(mutex_);
        ++wakes_;
    }
    news_.notify_all();
}

/// Offsets may skip at the end: whoever was told of that end reads on there.
bool Streams::goes_on_at(const Stream& stream, Offset offset) {
    if (stream.error) return false;
    const bool skipped =
        stream.waiting.empty() && stream.at_end && offset > stream.position && offset <= stream.end;
    return stream.position == offset || skipped;
}

Streams::StreamRef Streams::known(ports::Partition partition, Offset offset) {
    const MutexLock lock(mutex_);
    for (const auto& lane : lanes_) {
        StreamRef stream = lane->at(partition);
        if (stream && goes_on_at(*stream, offset)) {
            stream->position = offset;
            stream->used = ports::system_clock().steady_now();
            return stream;
        }
    }
    return nullptr;
}

/// The stream that goes on at `offset`, opened where there is none.
Result<Streams::StreamRef> Streams::find(ports::Partition partition, Offset offset) {
    if (StreamRef stream = known(partition, offset)) return stream;
    const MutexLock opening(opening_);
    if (StreamRef stream = known(partition, offset)) return stream;
    const Result<Lane*> free = make_room(partition);
    if (!free) return free.error();
    if (Status opened = (*free)->open(partition, offset); !opened) return opened.error();
    const MutexLock lock(mutex_);
    StreamRef stream = (*free)->at(partition);
    if (stream) return stream;  // it may have failed by now: `read` says how
    return Error{Next::kRetry, Code::kUnavailable,
                 "read " + partition_name(partition) + ": it was closed at once"};
}

Result<Streams::Lane*> Streams::make_room(ports::Partition partition) {
    Lane* free = nullptr;
    std::vector<Lane*> failed;
    {
        const MutexLock lock(mutex_);
        for (const auto& lane : lanes_) {
            const StreamRef stream = lane->at(partition);
            if (stream && !stream->error) continue;
            if (stream) failed.push_back(lane.get());
            if (free == nullptr) free = lane.get();
        }
    }
    // A stream that failed makes room; nobody can read on in it.
    for (Lane* lane : failed) lane->close(partition);
    if (free != nullptr) return free;
    Result<std::unique_ptr<Lane>> lane = Lane::start(*this);
    if (!lane) return lane.error();
    const MutexLock lock(mutex_);
    lanes_.push_back(std::move(*lane));
    return lanes_.back().get();
}

Result<ports::Fetched> Streams::read(ports::Partition partition, Offset offset,
                                     std::size_t max_bytes, Offset at_least) {
    ports::Fetched out;
    out.next_offset = offset;
    for (;;) {
        const Result<StreamRef> found = find(partition, offset);
        if (!found) return found.error();
        Stream& stream = **found;
        const CondVar::Deadline until = CondVar::in(kAnswer);
        const MutexLock lock(mutex_);
        const std::uint64_t wakes = wakes_;
        const auto settled = [&] {
            const bool end = stream.at_end && stream.end >= at_least;
            return !stream.waiting.empty() || stream.error || end || stream.position != offset;
        };
        ++stream.readers;
        while (!settled() && wakes_ == wakes && news_.wait_until(mutex_, until)) {
        }
        --stream.readers;
        if (!settled() || wakes_ != wakes) {
            return Error{Next::kRetry, Code::kTimeout,
                         "read " + partition_name(partition) + ": no answer from the brokers"};
        }
        // Another reader at the same offset was quicker: there will be a stream for each.
        if (stream.position != offset) continue;
        if (stream.waiting.empty() && stream.error) return *stream.error;
        take(stream, max_bytes, out);
        if (out.records.empty()) out.next_offset = std::max(offset, stream.end);
        return out;
    }
}

bool Streams::may_have(ports::Partition partition, Offset offset, Offset at_least) {
    const MutexLock lock(mutex_);
    for (const auto& lane : lanes_) {
        const StreamRef stream = lane->at(partition);
        if (!stream || !goes_on_at(*stream, offset)) continue;
        stream->used = ports::system_clock().steady_now();
        // Offsets that were skipped at the end bring nothing, but the reader behind them.
        const bool behind = stream->end > offset || stream->end < at_least;
        return !stream->waiting.empty() || stream->error || !stream->at_end || behind;
    }
    return true;
}

/// Under the lock.
void Streams::take(Stream& stream, std::size_t max_bytes, ports::Fetched& out) {
    if (stream.waiting.empty()) return;
    auto kept = std::make_shared<Kept>();
    for (std::size_t bytes = 0; !stream.waiting.empty();) {
        rd_kafka_message_t* message = stream.waiting.front();
        if (!out.records.empty() && bytes + message->len + message->key_len > max_bytes) break;
        bytes += message->len + message->key_len;
        stream.waiting.pop_front();
        stream.bytes -= weight(*message);
        kept->messages.push_back(message);
        const auto view = [](const void* data, std::size_t size) {
            return std::string_view(static_cast<const char*>(data), data == nullptr ? 0 : size);
        };
        const Offset offset(message->offset);
        out.records.push_back(
            {offset, from_millis<BrokerTime>(rd_kafka_message_timestamp(message, nullptr)),
             view(message->key, message->key_len), view(message->payload, message->len)});
        out.next_offset = next(offset);
    }
    stream.position = out.next_offset;
    out.storage.push_back(std::move(kept));
    if (!stream.paused || stream.bytes > settings_.memory_bytes / kStreamShare / 4) return;
    for (const auto& lane : lanes_) {
        if (lane->at(stream.partition).get() == &stream) lane->pause(stream, false);
    }
}

}  // namespace trueup::connectors::kafka
