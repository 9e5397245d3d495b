#include "simulation/broker_append.h"

#include "engine/base/check.h"
#include "simulation/broker_client.h"

#include <algorithm>
#include <utility>

namespace trueup::simulation {

namespace {

constexpr Millis kTimeOut{5'000};  // of an append that nobody answers
constexpr Millis kLatest{20'000};  // a record that comes late comes within this
constexpr Millis kDoubledAfter{2'000};

}  // namespace

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

std::unique_ptr<ports::PendingAppend> Broker::Client::append(ports::Partition partition,
                                                             const ports::Entries& entries) {
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

}  // namespace trueup::simulation
