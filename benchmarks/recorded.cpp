#include "benchmarks/recorded.h"

#include <utility>

namespace trueup::bench {

Recorder::Recorder(Load& load, std::size_t record_bytes, std::uint32_t per_second)
    : load_(load),
      record_bytes_(record_bytes),
      per_second_(per_second),
      now_(from_millis<BrokerTime>(1'767'225'600'000)) {}

void Recorder::open(const Settings& settings, const std::vector<Input>& opening) {
    builder_.set_genesis({JournalId({1, 2}), 1, PartitionNumber(0)});
    builder_.set_settings(settings, kNoOffset);
    flush();
    for (const Input& input : opening) add(input);
    flush();
}

void Recorder::add(const Input& input) {
    Offset& end = ends_[static_cast<std::size_t>(input.topic)];
    builder_.add_item(input.topic, previous(end), end, now_, input.bytes);
    end = next(end);
    if (++in_second_ >= per_second_) {
        in_second_ = 0;
        flush();
        now_ += Millis{1'000};
        add(load_.progress(Side::kPods, now_));
        add(load_.progress(Side::kRows, now_));
    }
    if (builder_.size() >= record_bytes_) flush();
}

void Recorder::tick(Millis step) {
    flush();
    now_ += step;
    records_.push_back({std::exchange(end_, next(end_)), now_, builder_.take()});
}

void Recorder::flush() {
    if (builder_.size() <= codec::JournalRecordBuilder().size()) return;
    records_.push_back({std::exchange(end_, next(end_)), now_, builder_.take()});
}

std::vector<Recorded> Recorder::take() {
    flush();
    return take_whole();
}

std::vector<Recorded> Recorder::take_whole() { return std::exchange(records_, {}); }

}  // namespace trueup::bench
