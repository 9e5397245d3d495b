#include "engine/runtime/sequencer.h"

#include <algorithm>

namespace trueup::runtime {

void Sequencer::resume(const core::Meta& meta) {
    for (const Topic topic : kInputTopics) {
        const std::int64_t last = meta.last[static_cast<std::size_t>(topic)];
        positions_[static_cast<std::size_t>(topic)] = {last + 1, last};
    }
}

Status Sequencer::rewind(const core::Gap& gap) {
    const auto extent = log_.describe({gap.topic, partition_});
    if (!extent) return extent.error();
    if (extent->first_offset > gap.last + 1) {
        return Error{Next::kStop, std::string(name_of(gap.topic)) + " lost the records from " +
                                      std::to_string(gap.last + 1) + " to " +
                                      std::to_string(extent->first_offset - 1) +
                                      " before they were journaled: take a new epoch of its "
                                      "sources under a new journal, or restore the topic"};
    }
    Position& position = positions_[static_cast<std::size_t>(gap.topic)];
    if (position.next <= gap.last + 1) return Done{};
    position = {gap.last + 1, gap.last};
    ++rewinds_;
    return Done{};
}

Result<bool> Sequencer::gather(codec::JournalRecordBuilder& record, std::size_t max_bytes) {
    bool more = false;
    for (const Topic topic : kInputTopics) {
        Position& position = positions_[static_cast<std::size_t>(topic)];
        if (record.size() >= max_bytes) return true;
        const std::size_t room = max_bytes - record.size();
        const auto fetched = log_.read({topic, partition_}, position.next, room);
        if (!fetched) return fetched.error();
        for (const ports::Record& in : fetched->records) {
            const std::size_t cost = in.value.size() + codec::JournalRecordBuilder::kItemOverhead;
            if (record.count() > 0 && record.size() + cost > max_bytes) return true;
            record.add_item(topic, position.prev, in.offset, in.append_time, in.value);
            position = {in.offset + 1, in.offset};
        }
        more = more || !fetched->records.empty();
    }
    return more;
}

}  // namespace trueup::runtime
