#include "engine/runtime/sequencer.h"

#include "engine/base/guard.h"
#include "engine/codec/limits.h"

#include <algorithm>
#include <array>

namespace trueup::runtime {

namespace {

constexpr std::size_t kFollowBytes = std::size_t{1} << 20U;
constexpr std::size_t kShares = 8;  ///< of a record; what a topic gets before the next one's turn

}  // namespace

void Sequencer::resume(const core::Meta& meta) {
    for (const Topic topic : kInputTopics) {
        const Offset last = meta.last[static_cast<std::size_t>(topic)];
        positions_[static_cast<std::size_t>(topic)] = {.next = next(last), .prev = last};
    }
}

Status Sequencer::rewind(const core::Gap& gap) {
    const auto extent = log_.describe({gap.topic, partition_});
    if (!extent) return extent.error();
    if (extent->first_offset > next(gap.last)) {
        return Error{Next::kStop, Code::kLost,
                     std::string(name_of(gap.topic)) + " lost the records from " +
                         std::to_string(next(gap.last).value()) + " to " +
                         std::to_string(previous(extent->first_offset).value()) +
                         " before they were journaled: restore the topic, or begin a new journal"};
    }
    Position& position = positions_[static_cast<std::size_t>(gap.topic)];
    if (position.next <= next(gap.last) || !TRUEUP_GUARD("rewind_to_gap")) return Done{};
    position = {.next = next(gap.last), .prev = gap.last};
    ++rewinds_;
    return Done{};
}

Result<bool> Sequencer::gather(codec::JournalRecordBuilder& record, std::size_t max_bytes) {
    // In shares: behind a long backlog of one topic the others, the progress in them too, would
    // wait until it is gone.
    const std::size_t share = max_bytes / kShares;
    bool more = false;
    std::array<bool, kTopics> drained{};
    for (bool again = true; again;) {
        again = false;
        for (const Topic topic : kInputTopics) {
            bool& empty = drained[static_cast<std::size_t>(topic)];
            if (empty) continue;
            if (record.size() >= max_bytes) return true;
            const std::size_t room = std::min(share, max_bytes - record.size());
            const Result<Took> took = take(topic, record, room, max_bytes);
            if (!took) return took.error();
            if (*took == Took::kNoRoom) return true;
            more = more || *took != Took::kNothing;
            empty = *took != Took::kShare;
            again = again || !empty;
        }
    }
    return more;
}

/// Reads on once everything on the page was used.
Status Sequencer::turn_page(Topic topic, Position& position, std::size_t max_bytes) {
    if (position.used < position.page.records.size()) return Done{};
    auto fetched = log_.read({topic, partition_}, position.next, max_bytes);
    if (!fetched) return fetched.error();
    if (fetched->records.empty() && position.page.records.empty()) return Done{};
    position.page = std::move(*fetched);
    position.used = 0;
    return Done{};
}

Result<bool> Sequencer::follow(const core::Meta& meta) {
    bool behind = false;
    for (const Topic topic : kInputTopics) {
        const Result<bool> more = follow(topic, meta.last[static_cast<std::size_t>(topic)]);
        if (!more) return more.error();
        behind = behind || *more;
    }
    return behind;
}

Result<bool> Sequencer::follow(Topic topic, Offset last) {
    Position& position = positions_[static_cast<std::size_t>(topic)];
    for (;;) {
        const Status turned = turn_page(topic, position, kFollowBytes);
        if (!turned) {
            if (position.next > last) return turned.error();
            position = {.next = next(last), .prev = last};  // what is gone was journaled in time
            return true;
        }
        const std::vector<ports::Record>& page = position.page.records;
        if (page.empty()) return false;
        for (; position.used < page.size(); ++position.used) {
            const Offset offset = page[position.used].offset;
            if (offset > last) return true;
            position.prev = offset;
            position.next = next(offset);
        }
    }
}

Result<Sequencer::Took> Sequencer::take(Topic topic, codec::JournalRecordBuilder& record,
                                        std::size_t room, std::size_t max_bytes) {
    Position& position = positions_[static_cast<std::size_t>(topic)];
    const std::vector<ports::Record>& page = position.page.records;
    if (Status turned = turn_page(topic, position, max_bytes); !turned) return turned.error();
    if (page.empty()) return Took::kNothing;
    const std::size_t full = record.size() + room;
    while (position.used < page.size() && record.size() < full) {
        const ports::Record& in = page[position.used];
        // What is larger than an item may be is parked, whatever it says: so much of it is
        // journaled that the fold sees that. All of it might make a record that nobody can read.
        const std::string_view value = in.value.substr(0, codec::kMaxItemBytes + 1);
        const std::size_t cost = value.size() + codec::JournalRecordBuilder::kItemOverhead;
        if (record.count() > 0 && record.size() + cost > max_bytes) return Took::kNoRoom;
        const bool authentic =
            topic == Topic::kRequests && keys_.authentic(codec::kRequestSignature, in.value);
        record.add_item(topic, position.prev, in.offset, in.append_time, value, authentic);
        ++position.used;
        position.prev = in.offset;
        position.next = next(in.offset);
    }
    return record.size() >= full ? Took::kShare : Took::kAll;
}

}  // namespace trueup::runtime
