#include "connectors/embedded/tail.h"

#include "engine/base/check.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors {

void Tail::reset(const Extents& extents) {
    const MutexLock lock(mutex_);
    order_.clear();
    states_.clear();
    bytes_ = 0;
    for (const auto& [partition, extent] : extents) states_[partition].extent = extent;
}

TimedExtent Tail::extent(ports::Partition partition) const {
    const MutexLock lock(mutex_);
    const auto found = states_.find(partition);
    return found == states_.end() ? TimedExtent{} : found->second.extent;
}

void Tail::publish(ports::Partition partition, BlockRef block) {
    const MutexLock lock(mutex_);
    State& state = states_[partition];
    TRUEUP_CHECK(block->first_offset == state.extent.next_offset);
    state.extent.next_offset = block->next_offset();
    state.extent.last_append = block->append_time;
    bytes_ += block->bytes.size();
    state.blocks.push_back(std::move(block));
    order_.push_back(&state);
    evict();
}

void Tail::evict() {
    while (bytes_ > capacity_) {
        State& oldest = *order_.front();
        order_.pop_front();
        bytes_ -= oldest.blocks.front()->bytes.size();
        oldest.blocks.pop_front();
    }
}

void Tail::set_first(ports::Partition partition, Offset first_offset) {
    const MutexLock lock(mutex_);
    states_[partition].extent.first_offset = first_offset;
}

Tail::View Tail::view(ports::Partition partition, Offset offset, std::size_t max_bytes) const {
    const MutexLock lock(mutex_);
    const auto found = states_.find(partition);
    if (found == states_.end()) return {};
    const State& state = found->second;
    View view{state.extent, {}};
    const auto& blocks = state.blocks;
    if (blocks.empty() || offset < blocks.front()->first_offset) return view;
    auto block = std::partition_point(blocks.begin(), blocks.end(), [&](const BlockRef& b) {
        return b->next_offset() <= offset;
    });
    std::size_t bytes = 0;
    for (; block != blocks.end(); ++block) {
        view.blocks.push_back(*block);
        // The first block may be entered at its last record, so it does not count.
        if (view.blocks.size() > 1) bytes += (*block)->bytes.size();
        if (bytes >= max_bytes) break;
    }
    return view;
}

}  // namespace trueup::connectors
