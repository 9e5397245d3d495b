#include "connectors/embedded/writer.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace trueup::connectors {

namespace {

/// What one fsync covers at most, unless a single unit is larger.
constexpr std::size_t kGroupBytes = std::size_t{8} << 20U;

}  // namespace

EmbeddedLog::Writer::Writer(std::unique_ptr<Disk> disk, Settings settings)
    : settings_(std::move(settings)),
      disk_(std::move(disk)),
      tail_(settings_.memory_bytes / 4),
      clock_(*settings_.clock) {}

EmbeddedLog::Writer::~Writer() {
    {
        const MutexLock lock(queue_mutex_);
        stopping_ = true;
    }
    queued_.notify_all();
    if (thread_.joinable()) thread_.join();
}

Status EmbeddedLog::Writer::load() {
    Result<Extents> extents = disk_->extents();
    if (!extents.ok()) return extents.error();
    for (const auto& [partition, extent] : *extents) clock_.not_before(extent.last_append);
    tail_.reset(*extents);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    return Done{};
}

void EmbeddedLog::Writer::enqueue(Unit unit) {
    {
        const MutexLock lock(queue_mutex_);
        const std::size_t room = settings_.memory_bytes / 4;
        while (!queue_.empty() && queued_bytes_ >= room) room_.wait(queue_mutex_);
        queued_bytes_ += unit.packed.size();
        queue_.push_back(std::move(unit));
    }
    queued_.notify_one();
}

bool EmbeddedLog::Writer::take_group(std::vector<Unit>& group) {
    group.clear();
    MutexLock lock(queue_mutex_);
    while (queue_.empty() && !stopping_) queued_.wait(queue_mutex_);
    std::size_t bytes = 0;
    while (!queue_.empty() && (group.empty() || bytes < kGroupBytes)) {
        bytes += queue_.front().packed.size();
        group.push_back(std::move(queue_.front()));
        queue_.pop_front();
    }
    queued_bytes_ -= bytes;
    lock.unlock();
    room_.notify_all();
    return !group.empty();
}

void EmbeddedLog::Writer::run() {
    std::vector<Unit> group;
    while (take_group(group)) commit(group);
}

void EmbeddedLog::Writer::commit(std::vector<Unit>& group) {
    Status done = settle();
    if (done.ok()) {
        seal_group(group);
        done = write_group(group);
        if (!done.ok()) {
            // Before the answers: whoever is told of a failure and reads back finds the truth.
            doubtful_ = true;
            if (const Status settled = settle(); !settled.ok()) done = settled;
        } else {
            publish(group);
        }
    }
    for (Unit& unit : group) {
        if (unit.refused) {
            unit.answer->give(*unit.refused);
        } else if (!done.ok()) {
            unit.answer->give(Error{Next::kRetry, done.error().code, done.error().what});
        } else {
            unit.answer->give(ports::Appended{unit.block->first_offset,
                                              previous(unit.block->next_offset()),
                                              unit.block->append_time});
        }
    }
    // Once for both: whoever waits finds the records, and its own answer.
    changes_.signal();
}

void EmbeddedLog::Writer::seal_group(std::vector<Unit>& group) {
    std::map<ports::Partition, TimedExtent> ends;
    for (Unit& unit : group) {
        if (unit.refused) continue;
        auto [end, fresh] = ends.try_emplace(unit.partition);
        if (fresh) end->second = tail_.extent(unit.partition);
        unit.block = seal(std::move(unit.packed), end->second.next_offset,
                          clock_.next(end->second.last_append));
        end->second.next_offset = unit.block->next_offset();
        end->second.last_append = unit.block->append_time;
    }
}

Status EmbeddedLog::Writer::write_group(const std::vector<Unit>& group) {
    std::vector<std::pair<ports::Partition, BlockRef>> blocks;
    for (const Unit& unit : group) {
        if (!unit.refused) blocks.emplace_back(unit.partition, unit.block);
    }
    if (blocks.empty()) return Done{};
    ++commits_;
    if (commits_ == settings_.faults.write_lost) {
        return Error{Next::kRetry, Code::kUnavailable, "fault: write lost"};
    }
    Status written = disk_->write(blocks);
    if (commits_ == settings_.faults.answer_lost) {
        return Error{Next::kRetry, Code::kUnavailable, "fault: answer lost"};
    }
    return written;
}

void EmbeddedLog::Writer::publish(const std::vector<Unit>& group) {
    for (const Unit& unit : group) {
        if (!unit.refused) tail_.publish(unit.partition, unit.block);
    }
}

Status EmbeddedLog::Writer::settle() {
    if (!doubtful_.load(std::memory_order_acquire)) return Done{};
    const MutexLock lock(settle_mutex_);
    if (!doubtful_.load(std::memory_order_acquire)) return Done{};
    if (Status opened = disk_->reopen(); !opened.ok()) return opened;
    if (Status loaded = load(); !loaded.ok()) return loaded;
    doubtful_.store(false, std::memory_order_release);
    changes_.signal();
    return Done{};
}

Status EmbeddedLog::Writer::truncate(ports::Partition partition, Offset offset) {
    if (Status settled = settle(); !settled.ok()) return settled;
    MutexLock lock(settle_mutex_);
    TimedExtent extent = tail_.extent(partition);
    if (offset <= extent.first_offset) return Done{};
    if (offset > extent.next_offset) {
        return Error{Next::kSkip, Code::kInvalid,
                     "cannot truncate " + std::string(name_of(partition.topic)) + "/" +
                         std::to_string(partition.index.value()) + " to " +
                         std::to_string(offset.value()) + ": it ends at " +
                         std::to_string(extent.next_offset.value())};
    }
    extent.first_offset = offset;
    // Readers are told first: a failed truncation may have happened, as a failed append may.
    tail_.set_first(partition, offset);
    if (Status truncated = disk_->truncate(partition, extent); !truncated.ok()) return truncated;
    lock.unlock();  // or who settles would wait for as long as the room takes to be given back
    return disk_->free(partition);
}

}  // namespace trueup::connectors
