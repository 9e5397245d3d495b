// A log in memory for tests: the port of engine/ports/log.h with a clock that the test sets and
// with the failures of a real log on request.
//
// What it gets wrong, on purpose: nothing is durable, headers and values are never limited in size,
// and all partitions share one clock. `wait` never sleeps unless `block_in_wait(true)` was said, so
// that a test of one thread never hangs. Appends complete at once unless they are held.
//
// Thread-safe.
#pragma once

#include "engine/base/check.h"
#include "engine/base/mutex.h"
#include "engine/ports/log.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trueup::testing {

/// One stored record, as a test looks at it.
struct StoredRecord {
    Offset offset;
    BrokerTime append_time{};
    std::string key;
    std::string value;
    Headers headers;
};

class MemoryLog final : public ports::Log {
  public:
    explicit MemoryLog(std::int64_t now_millis = 1'700'000'000'000)
        : now_(from_millis<BrokerTime>(now_millis)) {}

    // The clock. Append times are max(previous of the partition, clock): they never descend, also
    // when the clock is set back.
    void set_now(BrokerTime now) {
        const MutexLock lock(mutex_);
        now_ = now;
    }
    void advance(Millis by) {
        const MutexLock lock(mutex_);
        now_ += by;
    }
    BrokerTime now() const {
        const MutexLock lock(mutex_);
        return now_;
    }

    // Failures.
    /// The next append to `topic` (kUnspecified: to any) fails with kRetry; `stored` says whether
    /// its records are there all the same. Several calls queue up.
    void fail_next_append(bool stored, Topic topic = Topic::kUnspecified) {
        const MutexLock lock(mutex_);
        append_failures_.push_back({topic, stored, Next::kRetry});
    }
    /// The same with another error.
    void fail_next_append_with(Next next, bool stored, Topic topic = Topic::kUnspecified) {
        const MutexLock lock(mutex_);
        append_failures_.push_back({topic, stored, next});
    }
    /// The next `count` reads and describes fail with kRetry.
    void fail_reads(std::size_t count) {
        const MutexLock lock(mutex_);
        failing_reads_ = count;
    }
    /// The n-th read or describe from now on (from 1) fails with kRetry.
    void fail_read(std::size_t n) {
        const MutexLock lock(mutex_);
        reads_to_failure_ = n;
    }
    /// Reads find nothing from this offset on, as those of a consumer that is behind.
    void hide_from(Offset offset) {
        const MutexLock lock(mutex_);
        hidden_from_ = offset;
    }
    /// From now on appends stay pending (neither readable nor answered) until `release_appends`.
    void hold_appends() {
        const MutexLock lock(mutex_);
        holding_ = true;
    }
    /// Carries out what is held, in order, and ends holding.
    void release_appends();
    /// The next record of the partition gets an offset that is higher by `count` (Kafka skips).
    void skip_offsets(ports::Partition partition, std::int64_t count) {
        const MutexLock lock(mutex_);
        Offset& end = partitions_[partition].next_offset;
        end = further(end, count);
    }
    /// What was stored from this offset on is gone, and the next records take its place.
    void lose_from(ports::Partition partition, Offset offset) {
        const MutexLock lock(mutex_);
        PartitionState& state = partitions_[partition];
        while (!state.records.empty() && state.records.back()->offset >= offset) {
            state.records.pop_back();
        }
        state.next_offset = offset;
        const bool none = state.records.empty();
        state.last_append = none ? BrokerTime{} : state.records.back()->append_time;
    }
    /// What the log says that it takes; nothing until then.
    void say_stored(std::uint64_t bytes) {
        const MutexLock lock(mutex_);
        stored_ = bytes;
    }
    void block_in_wait(bool block) {
        const MutexLock lock(mutex_);
        block_in_wait_ = block;
    }

    // What a test looks at.
    std::vector<StoredRecord> records(ports::Partition partition) const;
    std::size_t held_appends() const {
        const MutexLock lock(mutex_);
        return held_.size();
    }
    std::uint64_t reads() const {
        const MutexLock lock(mutex_);
        return reads_;
    }

    // The port.
    std::unique_ptr<ports::PendingAppend> append(ports::Partition partition,
                                                 const ports::Entries& entries) override;
    Result<ports::Fetched> read(ports::Partition partition, Offset offset,
                                std::size_t max_bytes) override;
    Result<Headers> headers(ports::Partition partition, Offset offset);
    /// True for all that a test has made fail or hidden.
    bool may_have(ports::Partition partition, Offset offset) override {
        const MutexLock lock(mutex_);
        const bool meddled =
            failing_reads_ != 0 || reads_to_failure_ != 0 || hidden_from_ != kBeyondOffsets;
        return meddled || offset < partitions_[partition].next_offset;
    }
    std::uint64_t changes_seen() const override { return changes_.seen(); }
    void wait(std::uint64_t seen, Millis max_wait) override;
    void wake() override { changes_.signal(); }
    std::unique_ptr<ports::Wakeup::Listener> listen(std::function<void()> heard) override {
        return changes_.listen(std::move(heard));
    }
    Status truncate(ports::Partition partition, Offset offset) override;
    std::optional<std::uint64_t> stored_bytes() const override {
        const MutexLock lock(mutex_);
        return stored_;
    }
    Result<ports::Extent> describe(ports::Partition partition) override;

  private:
    struct Answer {
        Mutex mutex;
        CondVar given;
        std::optional<Result<ports::Appended>> result TRUEUP_GUARDED_BY(mutex);
        std::function<void()> heard TRUEUP_GUARDED_BY(mutex);
    };
    class Pending final : public ports::PendingAppend {
      public:
        explicit Pending(std::shared_ptr<Answer> answer) : answer_(std::move(answer)) {}
        bool ready() const override {
            const MutexLock lock(answer_->mutex);
            return answer_->result.has_value();
        }
        Result<ports::Appended> take() override {
            const MutexLock lock(answer_->mutex);
            while (!answer_->result) answer_->given.wait(answer_->mutex);
            return *answer_->result;
        }
        void tell(std::function<void()> heard) override {
            const MutexLock lock(answer_->mutex);
            answer_->heard = std::move(heard);
            if (answer_->result) answer_->heard();
        }
        ~Pending() override {
            const MutexLock lock(answer_->mutex);
            answer_->heard = nullptr;
        }
        Pending(const Pending&) = delete;
        Pending& operator=(const Pending&) = delete;

      private:
        std::shared_ptr<Answer> answer_;
    };
    struct Failure {
        Topic topic = Topic::kUnspecified;
        bool stored = false;
        Next next = Next::kRetry;
    };
    struct Held {
        ports::Partition partition;
        ports::Entries entries;
        std::shared_ptr<Answer> answer;
    };
    struct PartitionState {
        std::deque<std::shared_ptr<const StoredRecord>> records;
        Offset first_offset;
        Offset next_offset;
        BrokerTime last_append{};
    };

    void carry_out(Held append) TRUEUP_REQUIRES(mutex_);
    bool read_fails() TRUEUP_REQUIRES(mutex_) {
        if (reads_to_failure_ > 0 && --reads_to_failure_ == 0) return true;
        if (failing_reads_ == 0) return false;
        --failing_reads_;
        return true;
    }
    ports::Appended store(const Held& append) TRUEUP_REQUIRES(mutex_);
    static Error below_start(Offset offset, Offset first) {
        return {Next::kStop, Code::kLost,
                "offset " + std::to_string(offset.value()) + " is below the first one, " +
                    std::to_string(first.value())};
    }

    mutable Mutex mutex_;
    ports::Wakeup changes_;
    std::map<ports::Partition, PartitionState> partitions_ TRUEUP_GUARDED_BY(mutex_);
    std::deque<Failure> append_failures_ TRUEUP_GUARDED_BY(mutex_);
    std::deque<Held> held_ TRUEUP_GUARDED_BY(mutex_);
    BrokerTime now_ TRUEUP_GUARDED_BY(mutex_);
    std::size_t failing_reads_ TRUEUP_GUARDED_BY(mutex_) = 0;
    Offset hidden_from_ TRUEUP_GUARDED_BY(mutex_) = kBeyondOffsets;
    std::size_t reads_to_failure_ TRUEUP_GUARDED_BY(mutex_) = 0;  ///< 0: none is to fail
    std::optional<std::uint64_t> stored_ TRUEUP_GUARDED_BY(mutex_);
    std::uint64_t reads_ TRUEUP_GUARDED_BY(mutex_) = 0;
    bool holding_ TRUEUP_GUARDED_BY(mutex_) = false;
    bool block_in_wait_ TRUEUP_GUARDED_BY(mutex_) = false;
};

inline std::unique_ptr<ports::PendingAppend> MemoryLog::append(ports::Partition partition,
                                                               const ports::Entries& entries) {
    TRUEUP_CHECK(!entries.empty());
    auto answer = std::make_shared<Answer>();
    const MutexLock lock(mutex_);
    Held append{partition, entries, answer};
    if (holding_) {
        held_.push_back(std::move(append));
    } else {
        carry_out(std::move(append));
    }
    return std::make_unique<Pending>(std::move(answer));
}

inline void MemoryLog::release_appends() {
    const MutexLock lock(mutex_);
    holding_ = false;
    while (!held_.empty()) {
        carry_out(std::move(held_.front()));
        held_.pop_front();
    }
}

inline void MemoryLog::carry_out(Held append) {
    const auto failure =
        std::find_if(append_failures_.begin(), append_failures_.end(), [&](const Failure& f) {
            return f.topic == Topic::kUnspecified || f.topic == append.partition.topic;
        });
    std::optional<Result<ports::Appended>> result;
    if (failure == append_failures_.end()) {
        result.emplace(store(append));
    } else {
        if (failure->stored) store(append);
        result.emplace(
            Error{failure->next, Code::kUnavailable, "the append failed, as the test wanted"});
        append_failures_.erase(failure);
    }
    {
        const MutexLock lock(append.answer->mutex);
        append.answer->result = std::move(result);
        if (append.answer->heard) append.answer->heard();
        append.answer->given.notify_all();
    }
    changes_.signal();
}

inline ports::Appended MemoryLog::store(const Held& append) {
    PartitionState& state = partitions_[append.partition];
    state.last_append = std::max(state.last_append, now_);
    ports::Appended appended{state.next_offset, state.next_offset, state.last_append};
    for (const ports::Entry& entry : append.entries) {
        appended.last_offset = std::exchange(state.next_offset, next(state.next_offset));
        state.records.push_back(std::make_shared<StoredRecord>(StoredRecord{
            appended.last_offset, state.last_append, entry.key, entry.value, entry.headers}));
    }
    return appended;
}

inline Result<ports::Fetched> MemoryLog::read(ports::Partition partition, Offset offset,
                                              std::size_t max_bytes) {
    const MutexLock lock(mutex_);
    ++reads_;
    if (read_fails()) {
        return Error{Next::kRetry, Code::kUnavailable, "the read failed, as the test wanted"};
    }
    const PartitionState& state = partitions_[partition];
    if (offset < state.first_offset) return below_start(offset, state.first_offset);
    ports::Fetched fetched;
    fetched.next_offset = offset;
    std::size_t bytes = 0;
    auto place =
        std::lower_bound(state.records.begin(), state.records.end(), offset,
                         [](const auto& record, Offset wanted) { return record->offset < wanted; });
    for (; place != state.records.end(); ++place) {
        const StoredRecord& record = **place;
        if (record.offset >= hidden_from_) break;
        if (!fetched.records.empty() && bytes >= max_bytes) break;
        bytes += record.value.size();
        fetched.records.push_back({record.offset, record.append_time, record.key, record.value});
        fetched.storage.push_back(*place);
        fetched.next_offset = next(record.offset);
    }
    return fetched;
}

inline Result<Headers> MemoryLog::headers(ports::Partition partition, Offset offset) {
    const MutexLock lock(mutex_);
    for (const auto& record : partitions_[partition].records) {
        if (record->offset == offset) return record->headers;
    }
    return Error{Next::kSkip, Code::kNotFound,
                 "there is no record at offset " + std::to_string(offset.value())};
}

inline void MemoryLog::wait(std::uint64_t seen, Millis max_wait) {
    bool blocks = false;
    {
        const MutexLock lock(mutex_);
        blocks = block_in_wait_;
    }
    if (blocks) changes_.wait(seen, max_wait);
}

inline Status MemoryLog::truncate(ports::Partition partition, Offset offset) {
    const MutexLock lock(mutex_);
    PartitionState& state = partitions_[partition];
    state.first_offset = std::max(state.first_offset, std::min(offset, state.next_offset));
    while (!state.records.empty() && state.records.front()->offset < state.first_offset) {
        state.records.pop_front();
    }
    return Done{};
}

inline Result<ports::Extent> MemoryLog::describe(ports::Partition partition) {
    const MutexLock lock(mutex_);
    if (read_fails()) {
        return Error{Next::kRetry, Code::kUnavailable,
                     "the log does not answer, as the test wanted"};
    }
    const PartitionState& state = partitions_[partition];
    return ports::Extent{state.first_offset, state.next_offset};
}

inline std::vector<StoredRecord> MemoryLog::records(ports::Partition partition) const {
    const MutexLock lock(mutex_);
    std::vector<StoredRecord> copies;
    const auto found = partitions_.find(partition);
    if (found == partitions_.end()) return copies;
    for (const auto& record : found->second.records) copies.push_back(*record);
    return copies;
}

}  // namespace trueup::testing
