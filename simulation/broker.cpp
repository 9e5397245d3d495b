#include "simulation/broker.h"

#include "engine/base/check.h"
#include "simulation/broker_client.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace trueup::simulation {

namespace {

constexpr Millis kTimeOut{5'000};  // of an append that nobody answers
constexpr Millis kLatest{20'000};  // a record that comes late comes within this
constexpr Millis kDoubledAfter{2'000};

Error no_answer() { return {Next::kRetry, Code::kUnavailable, "the broker does not answer"}; }

}  // namespace

/// One append on its way. Its partition's next ones are stored and answered after it.
struct Broker::Append {
    ports::Partition partition;
    std::vector<ports::Entry> entries;
    Fate fate = Fate::kStored;
    bool stored = false;
    std::optional<Result<ports::Appended>> answer;
    ports::Appended place;
};

class Broker::Pending final : public ports::PendingAppend {
  public:
    Pending(Client& client, std::shared_ptr<Append> append)
        : client_(client), append_(std::move(append)) {}
    bool ready() const override { return append_->answer.has_value(); }
    Result<ports::Appended> take() override {
        if (!ready()) client_.finish_up_to(*append_);
        return *append_->answer;
    }

  private:
    Client& client_;
    std::shared_ptr<Append> append_;
};

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

std::unique_ptr<ports::PendingAppend> Broker::Client::append(
    ports::Partition partition, const std::vector<ports::Entry>& entries) {
    TRUEUP_CHECK(!entries.empty());
    auto append = std::make_shared<Append>();
    if (!life_.call()) {
        append->answer = Error{Next::kRetry, Code::kUnavailable, "this process is dead"};
        return std::make_unique<Pending>(*this, std::move(append));
    }
    append->partition = partition;
    append->entries = entries;
    append->fate = broker_.draw_fate(cut_off_);
    Scheduler& scheduler = broker_.scheduler_;
    Random& random = broker_.random_;
    View& view = views_[partition];
    const Millis takes = random.delay(broker_.troubles_.longest_append);
    const bool stored = append->fate != Fate::kLost && append->fate != Fate::kLate;
    const bool fails = append->fate != Fate::kStored && append->fate != Fate::kDoubled;
    SteadyTime answer_at = scheduler.steady_now() + takes;
    if (stored) {
        view.last_store = std::max(view.last_store + Millis{1}, answer_at);  // nothing overtakes
        answer_at = view.last_store + random.delay(broker_.troubles_.longest_append);
        scheduler.at(view.last_store, [&broker = broker_, append] {
            if (!append->stored) broker.store(*append);
        });
    }
    if (fails) answer_at += random.between(Millis{0}, kTimeOut);
    view.last_answer = std::max(view.last_answer, answer_at);
    store_later(append, view);
    view.appends.push_back(append);
    scheduler.at(view.last_answer, [this, here = std::weak_ptr<bool>(here_), append] {
        if (!here.expired() && !append->answer) finish_up_to(*append);
    });
    return std::make_unique<Pending>(*this, std::move(append));
}

void Broker::Client::store_later(const std::shared_ptr<Append>& append, const View& view) {
    Scheduler& scheduler = broker_.scheduler_;
    Random& random = broker_.random_;
    if (append->fate == Fate::kLate) {
        scheduler.at(view.last_answer + random.delay(kLatest),
                     [&broker = broker_, append] { broker.store(*append); });
    }
    if (append->fate == Fate::kDoubled) {
        scheduler.at(view.last_store + random.delay(kDoubledAfter), [&broker = broker_, append] {
            Append again = *append;
            broker.store(again);
        });
    }
}

void Broker::Client::finish(Append& append) {
    if (append.fate == Fate::kStored || append.fate == Fate::kDoubled) {
        if (!append.stored) broker_.store(append);
        append.answer = append.place;
        View& view = views_[append.partition];
        const Offset end = broker_.partitions_[append.partition].next_offset;
        // What it acknowledges may be lost already.
        view.acked = std::max(view.acked, std::min(next(append.place.last_offset), end));
    } else {
        append.answer =
            Error{Next::kRetry, Code::kTimeout, "the append was not acknowledged in time"};
    }
    wake_();
}

/// Answers come in the order of the appends. Who waits for one gets it at once: nobody else's time
/// passes while a process stands still in a call.
void Broker::Client::finish_up_to(const Append& append) {
    View& view = views_[append.partition];
    while (!append.answer) {
        const std::shared_ptr<Append> first = view.appends.front();
        view.appends.pop_front();
        finish(*first);
    }
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
