#include "benchmarks/follower.h"

#include "benchmarks/report.h"
#include "projections/rocksdb_store.h"

#include <algorithm>

namespace trueup::bench {

Follower::Follower(std::size_t memory, const std::string& folder)
    : memory_(runtime::memory_shares(memory)) {
    if (folder.empty()) {
        state_.emplace(no_rows_);
        return;
    }
    auto store = projections::RocksdbStore::open({folder, memory_.store});
    if (!store) fail(store.error().what);
    store_ = std::move(*store);
    projection_.emplace(*store_, PartitionNumber(0));
    state_.emplace(*projection_);
    if (Status loaded = projection_->load(*state_, memory_.subjects); !loaded) {
        fail(loaded.error().what);
    }
}

Follower::Took Follower::fold(const Recorded& record) {
    const double start = wall_seconds();
    const Status read =
        codec::decode_journal(record.bytes, record.offset, record.append_time, view_);
    if (!read) fail(read.error().what);
    if (store_) {
        if (Status ahead = projection_->read_ahead(*state_, view_); !ahead) {
            fail(ahead.error().what);
        }
    }
    report_.clear();
    const double before = wall_seconds();
    const double cpu_before = thread_cpu_seconds();
    core::fold(*state_, view_, report_);
    const double cpu = thread_cpu_seconds() - cpu_before;
    const double fold = wall_seconds() - before;
    if (!state_->halted.empty()) fail(state_->halted);
    findings_ += report_.findings.size();
    if (store_) {
        const std::size_t waits = std::min(memory_.subjects, state_->waits.bytes());
        state_->subjects.evict(memory_.subjects - waits);
    }
    const Took took{fold, cpu, wall_seconds() - start};
    if (store_ && state_->subjects.dirty_bytes() > memory_.write_behind) write_behind();
    return took;
}

double Follower::fold(const std::vector<Recorded>& records) {
    const double start = wall_seconds();
    for (const Recorded& record : records) fold(record);
    save();
    return wall_seconds() - start;
}

void Follower::save() {
    if (!store_) return;
    write_behind();
    if (Status flushed = store_->flush(); !flushed) fail(flushed.error().what);
}

void Follower::write_behind() {
    if (Status written = projection_->write_behind(*state_, parked_); !written) {
        fail(written.error().what);
    }
}

}  // namespace trueup::bench
