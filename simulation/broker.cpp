#include "simulation/broker.h"

#include "simulation/broker_append.h"
#include "simulation/broker_client.h"

#include <algorithm>
#include <utility>

namespace trueup::simulation {

BrokerTime Broker::now() const {
    return from_millis<BrokerTime>(scheduler_.wall_millis() + ahead_.count());
}

std::unique_ptr<Broker::Client> Broker::client(CrashPoint& life, std::vector<Topic> news,
                                               std::function<void()> wake) {
    return std::make_unique<Client>(*this, life, std::move(news), std::move(wake));
}

Broker::Fate Broker::draw_fate(bool cut_off) {
    if (troubles_.down || cut_off) return random_.chance(200) ? Fate::kLate : Fate::kLost;
    if (random_.chance(troubles_.lost)) return Fate::kLost;
    if (random_.chance(troubles_.unknown)) return Fate::kUnknown;
    if (random_.chance(troubles_.late)) return Fate::kLate;
    if (random_.chance(troubles_.doubled)) return Fate::kDoubled;
    return Fate::kStored;
}

void Broker::store(Append& append) {
    PartitionState& state = partitions_[append.partition];
    state.last_append = std::max(state.last_append, now());
    append.stored = true;
    append.place = {state.next_offset, state.next_offset, state.last_append};
    for (const ports::Entry& entry : append.entries) {
        append.place.last_offset = std::exchange(state.next_offset, next(state.next_offset));
        state.records.push_back(std::make_shared<const Record>(
            Record{append.place.last_offset, state.last_append, scheduler_.steady_now(), entry.key,
                   entry.value}));
        if (observer_) observer_(append.partition, *state.records.back());
    }
    for (Client* client : clients_) {
        const Topic topic = append.partition.topic;
        const auto& topics = client->topics_;
        if (std::find(topics.begin(), topics.end(), topic) == topics.end()) continue;
        scheduler_.after(client->lags_[static_cast<std::size_t>(topic)], client->wake_);
        ++client->news_;
    }
}

SteadyTime Broker::stored_at(ports::Partition partition, BrokerTime append_time) {
    const Records& records = partitions_[partition].records;
    const auto found = std::lower_bound(
        records.begin(), records.end(), append_time,
        [](const auto& record, BrokerTime wanted) { return record->append_time < wanted; });
    return found == records.end() ? scheduler_.steady_now() : (*found)->stored_at;
}

void Broker::cut_tail(ports::Partition partition, std::size_t count) {
    PartitionState& state = partitions_[partition];
    while (count-- > 0 && !state.records.empty()) {
        state.next_offset = state.records.back()->offset;
        state.records.pop_back();
    }
    state.first_offset = std::min(state.first_offset, state.next_offset);
    for (Client* client : clients_) {
        Client::View& view = client->views_[partition];
        if (std::max(view.seen, view.acked) > state.next_offset) {
            view.cut_at = std::min(view.cut_at, state.next_offset);
        }
        view.seen = std::min(view.seen, state.next_offset);
        view.acked = std::min(view.acked, state.next_offset);
    }
}

}  // namespace trueup::simulation
