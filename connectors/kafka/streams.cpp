#include "connectors/kafka/streams.h"

#include "connectors/kafka/lane.h"
#include "engine/ports/clock.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors::kafka {

namespace {

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
        if (lane->at(stream.partition).get() == &stream) lane->go_on(stream);
    }
}

}  // namespace trueup::connectors::kafka
