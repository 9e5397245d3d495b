// A client that streams are read with, and its thread. For lane.cpp and streams.cpp only.
#pragma once

#include "connectors/kafka/client.h"
#include "connectors/kafka/streams.h"
#include "engine/base/id.h"
#include "engine/base/thread_safety.h"
#include "engine/base/time.h"
#include "engine/ports/records.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace trueup::connectors::kafka {

inline constexpr Millis kAnswer{5'000};          // how long a read waits for the brokers
inline constexpr std::size_t kStreamShare = 16;  // of the memory, for one stream

inline std::size_t weight(const rd_kafka_message_t& message) {
    return message.len + message.key_len + sizeof(rd_kafka_message_t);
}

/// One client, a partition of which is in one stream at most, and the thread that polls it.
class Streams::Lane {
  public:
    static Result<std::unique_ptr<Lane>> start(Streams& owner) TRUEUP_REQUIRES(owner.opening_);
    ~Lane();

    /// Under the owner's lock, as `size` and `go_on`.
    StreamRef at(ports::Partition partition) const;
    std::size_t size() const;

    /// Outside the owner's lock: it waits for the client. One at a time.
    Status open(ports::Partition partition, Offset offset) TRUEUP_EXCLUDES(owner_.mutex_);
    void close(ports::Partition partition) TRUEUP_EXCLUDES(owner_.mutex_);

    /// Asks for more again; by the thread of this class, soon.
    void go_on(Stream& stream);

  private:
    explicit Lane(Streams& owner) : owner_(owner) { callbacks_.settings = &owner.settings_; }

    TopicHandle handle_of(Topic topic);
    /// Has the client ask where topics lie: this one, or (nullptr) all that it has handles of. A
    /// topic that it meets by `assign` alone it asks about at its next look, up to a second later.
    Result<Metadata> ask_where(rd_kafka_topic_t* topic);
    /// In one question, before there is a fetch that the answer would have to wait for.
    void meet_all() TRUEUP_REQUIRES(owner_.opening_);
    Status meet(Topic topic) TRUEUP_REQUIRES(owner_.opening_);
    /// Is there anything to read at all? A fetch says so only after it has waited for more, behind
    /// the one that was under way. Without an answer here it has to.
    void ask_for_end(ports::Partition partition) TRUEUP_EXCLUDES(owner_.mutex_);
    void run();
    void deliver(const std::vector<rd_kafka_message_t*>& came) TRUEUP_EXCLUDES(owner_.mutex_);
    Stream* stream_of(const rd_kafka_message_t& message) TRUEUP_REQUIRES(owner_.mutex_);
    /// Takes the message over. True: something that nobody has seen, a record or an error.
    bool take(rd_kafka_message_t* raw) TRUEUP_REQUIRES(owner_.mutex_);
    /// An answer with records names the end too: no need to wait for the next, empty one.
    void look_for_end(Stream& stream) TRUEUP_REQUIRES(owner_.mutex_);
    /// Asks for no more.
    void pause(Stream& stream) TRUEUP_REQUIRES(owner_.mutex_);
    /// What `go_on` was told of; by the polling thread, as `pause`, so that neither passes the
    /// other.
    void resume() TRUEUP_EXCLUDES(owner_.mutex_);
    static Error read_error(const rd_kafka_message_t& message, ports::Partition partition);
    void close_unused() TRUEUP_EXCLUDES(owner_.mutex_, owner_.opening_);

    Streams& owner_;
    Callbacks callbacks_;
    Client client_;
    Queue queue_;  ///< of what `run` polls for
    std::map<ports::Partition, StreamRef> streams_ TRUEUP_GUARDED_BY(owner_.mutex_);
    std::map<Topic, TopicHandle> known_ TRUEUP_GUARDED_BY(owner_.opening_);
    /// Paused ones that are asked for again.
    std::set<ports::Partition> going_on_ TRUEUP_GUARDED_BY(owner_.mutex_);
    /// The client knows where they lie.
    std::set<Topic> met_ TRUEUP_GUARDED_BY(owner_.opening_);
    const rd_kafka_topic_t* last_topic_ = nullptr;  ///< of the polling thread, with the next two
    Topic last_ = Topic::kUnspecified;
    SteadyTime next_look_{};
    std::atomic<bool> stopping_ = false;
    std::thread thread_;
};

}  // namespace trueup::connectors::kafka
