#include "simulation/broker_client.h"

#include <algorithm>
#include <string>
#include <utility>

namespace trueup::simulation {

namespace {

Error no_answer() { return {Next::kRetry, Code::kUnavailable, "the broker does not answer"}; }

}  // namespace

Broker::Client::Client(Broker& broker, CrashPoint& life, std::vector<Topic> news,
                       std::function<void()> wake)
    : broker_(broker), life_(life), topics_(std::move(news)), wake_(std::move(wake)) {
    broker_.clients_.push_back(this);
}

Broker::Client::~Client() { std::erase(broker_.clients_, this); }

void Broker::Client::draw_lags(Millis longest) {
    for (Millis& lag : lags_) lag = broker_.random_.delay(longest);
}

/// Whether a call gets through to the broker.
Status Broker::Client::answers() {
    if (!life_.call()) return Error{Next::kRetry, Code::kUnavailable, "this process is dead"};
    if (cut_off_ || broker_.troubles_.down) return no_answer();
    return Done{};
}

Offset Broker::Client::visible_end(const Records& records, Topic topic, View& view) const {
    const SteadyTime now = broker_.scheduler_.steady_now();
    const Millis lag = lags_[static_cast<std::size_t>(topic)];
    view.seen = std::max(view.seen, view.acked);
    // Offsets are dense: record n is at place n.
    const auto place = [&] { return static_cast<std::size_t>(view.seen.value()); };
    while (place() < records.size() && records[place()]->stored_at + lag <= now) {
        view.seen = next(view.seen);
    }
    return view.seen;
}

Result<ports::Fetched> Broker::Client::read(ports::Partition partition, Offset offset,
                                            std::size_t max_bytes) {
    if (Status through = answers(); !through) return through.error();
    if (broker_.random_.chance(broker_.troubles_.failed_reads)) return no_answer();
    const PartitionState& state = broker_.partitions_[partition];
    View& view = views_[partition];
    if (offset > std::min(state.next_offset, view.cut_at)) {
        return Error{Next::kStop, Code::kLost,
                     "the log lost what was before offset " + std::to_string(offset.value())};
    }
    if (offset < state.first_offset) {
        return Error{Next::kStop, Code::kLost,
                     "offset " + std::to_string(offset.value()) + " was truncated"};
    }
    ports::Fetched fetched;
    fetched.next_offset = offset;
    const Offset end = visible_end(state.records, partition.topic, view);
    std::size_t bytes = 0;
    for (Offset at = std::max(offset, kFirstOffset); at < end; at = next(at)) {
        const auto& record = state.records[static_cast<std::size_t>(at.value())];
        if (!fetched.records.empty() && bytes >= max_bytes) break;
        bytes += record->value.size();
        fetched.records.push_back({at, record->append_time, record->key, record->value});
        fetched.storage.push_back(record);
        fetched.next_offset = next(at);
    }
    return fetched;
}

void Broker::Client::wait(std::uint64_t /*seen*/, Millis /*max_wait*/) {}

Status Broker::Client::truncate(ports::Partition partition, Offset offset) {
    if (Status through = answers(); !through) return through.error();
    PartitionState& state = broker_.partitions_[partition];
    if (offset > state.next_offset) {
        return Error{Next::kSkip, Code::kInvalid,
                     "it ends at " + std::to_string(state.next_offset.value())};
    }
    if (offset <= state.first_offset) return Done{};
    state.first_offset = offset;
    if (broker_.truncation_) broker_.truncation_(partition, offset);
    return Done{};
}

Result<ports::Extent> Broker::Client::describe(ports::Partition partition) {
    if (Status through = answers(); !through) return through.error();
    const PartitionState& state = broker_.partitions_[partition];
    return ports::Extent{state.first_offset, state.next_offset};
}

}  // namespace trueup::simulation
