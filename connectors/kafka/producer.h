// Appends: one idempotent producer for all topics of a process.
//
// Appends queue here, per partition. A batch goes out at once where none of its partition is under
// way, and else once it is large; at most four at a time, since more makes librdkafka's network
// thread spin. So what comes while a batch is under way goes with the next one, and that gives
// throughput and latency at once. An append is answered when all its records are acknowledged.
//
// When a delivery fails, nobody knows what became of what is under way: all of it is answered
// kRetry, the producer is thrown away, and a new one goes on with what was still queued (L5).
// Whoever needs to know what arrived reads back.
//
// A process that is to end does not wait for brokers as long as a delivery may take, half a minute:
// whoever started it would have killed it by then.
//
// Thread-safe. `append` waits while a quarter of the memory is queued.
#pragma once

#include "connectors/kafka/client.h"
#include "engine/base/mutex.h"
#include "engine/ports/append_answer.h"
#include "engine/ports/records.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace trueup::connectors::kafka {

class Producer {
  public:
    /// Told of each append that was acknowledged, before its answer is given.
    using OnAppended = std::function<void(ports::Partition, const ports::Appended&)>;

    /// Told after an append was answered, whatever became of it.
    using OnAnswered = std::function<void()>;

    /// Told that no broker answers. Appends under way go on waiting.
    using OnTrouble = std::function<void(const std::string& why)>;

    /// `settings` outlive it.
    static Result<std::unique_ptr<Producer>> start(const Settings& settings, OnAppended told,
                                                   OnAnswered answered, OnTrouble worried);
    /// Waits for what was appended, as long as a delivery may take or `begin_stop` says.
    ~Producer();
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;

    std::shared_ptr<ports::AppendAnswer> append(ports::Partition partition,
                                                const ports::Entries& entries)
        TRUEUP_EXCLUDES(mutex_);

    /// What is appended by now or later is answered kRetry unless it is acknowledged within `wait`.
    void begin_stop(Millis wait) TRUEUP_EXCLUDES(mutex_);

    /// How many producers were thrown away.
    std::uint64_t renewals() const { return renewals_; }

  private:
    /// One append, until each of its pieces has an answer.
    struct Whole {
        std::shared_ptr<ports::AppendAnswer> answer = std::make_shared<ports::AppendAnswer>();
        std::size_t pieces = 0;  ///< without an answer
        ports::Appended appended{kNoOffset, kNoOffset, {}};
        std::optional<Error> error;  ///< the first one
        void fail(Error why) {
            if (!error) error = std::move(why);
        }
    };
    struct Line;
    /// A piece of an append: `count` of its entries from `first` on. librdkafka points into them
    /// until each was delivered.
    struct Unit {
        ports::Partition partition;
        Line* line = nullptr;
        std::shared_ptr<Whole> whole;
        ports::Entries entries;
        std::size_t first = 0;
        std::size_t count = 0;
        std::size_t bytes = 0;
        std::size_t batch = 0;        ///< its slot in `batches_`
        std::size_t outstanding = 0;  ///< records without a report
    };
    using UnitRef = std::unique_ptr<Unit>;

    /// What goes to one partition.
    struct Line {
        std::deque<UnitRef> queue;
        std::size_t bytes = 0;    ///< of `queue`
        std::size_t batches = 0;  ///< under way
    };

    Producer(const Settings& settings, OnAppended told, OnAnswered answered, OnTrouble worried);
    Status renew() TRUEUP_REQUIRES(mutex_);
    void run() TRUEUP_EXCLUDES(mutex_);
    std::vector<Unit*> next_units() TRUEUP_REQUIRES(mutex_);
    void take_batch(Line& line, std::vector<Unit*>& out) TRUEUP_REQUIRES(mutex_);
    static std::vector<UnitRef> cut(ports::Partition partition, const ports::Entries& entries);
    void send(Unit& unit);
    void delivered(const rd_kafka_message_t& message) TRUEUP_EXCLUDES(mutex_);
    void settle(Unit& unit) TRUEUP_REQUIRES(mutex_);
    void finish(const Unit& unit) TRUEUP_REQUIRES(mutex_);
    void settle_unsent() TRUEUP_REQUIRES(mutex_);
    bool out_of_time() const TRUEUP_REQUIRES(mutex_);
    void give_up() TRUEUP_REQUIRES(mutex_);
    void doom();
    rd_kafka_topic_t* topic(Topic topic);

    const Settings& settings_;
    const OnAppended told_;
    const OnAnswered answered_;
    const OnTrouble worried_;
    Callbacks callbacks_;

    Mutex mutex_;
    CondVar room_;
    CondVar idle_;
    std::map<ports::Partition, Line> lines_ TRUEUP_GUARDED_BY(mutex_);
    /// Partitions with something queued, each once.
    std::deque<ports::Partition> turns_ TRUEUP_GUARDED_BY(mutex_);
    std::size_t queued_bytes_ TRUEUP_GUARDED_BY(mutex_) = 0;
    std::map<Unit*, UnitRef> sent_ TRUEUP_GUARDED_BY(mutex_);
    /// Units without an answer, per batch under way.
    std::vector<std::size_t> batches_ TRUEUP_GUARDED_BY(mutex_);
    std::size_t open_batches_ TRUEUP_GUARDED_BY(mutex_) = 0;
    bool stopping_ TRUEUP_GUARDED_BY(mutex_) = false;
    std::optional<CondVar::Deadline> until_ TRUEUP_GUARDED_BY(mutex_);  ///< of a stop
    bool doomed_ = false;  ///< of `thread_`, as are the topics
    std::map<Topic, TopicHandle> topics_;
    Client client_;
    Queue reports_ TRUEUP_GUARDED_BY(mutex_);  ///< what `thread_` polls
    std::atomic<std::uint64_t> renewals_ = 0;
    std::thread thread_;
};

}  // namespace trueup::connectors::kafka
