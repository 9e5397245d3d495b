// A journal in memory, as the sequencer would have written it while changes came at a steady rate.
#pragma once

#include "benchmarks/load.h"
#include "engine/codec/journal_codec.h"
#include "engine/runtime/shard_settings.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trueup::bench {

struct Recorded {
    Offset offset = kNoOffset;
    BrokerTime append_time{};
    std::string bytes;
};

/// As large as an engine makes its records.
inline std::size_t usual_record_bytes() { return runtime::ShardSettings{}.record_bytes; }

/// Packs inputs into records of about `record_bytes`. Each `per_second` inputs the journal's time
/// goes on by a second; each of those seconds both sources prove their progress.
class Recorder {
  public:
    Recorder(Load& load, std::size_t record_bytes, std::uint32_t per_second);

    /// Genesis, settings and what the load opens with; each a record of its own kind first.
    void open(const Settings& settings, const std::vector<Input>& opening);
    void open(const Settings& settings) { open(settings, load_.opening()); }
    void add(const Input& input);
    /// A record without items, `step` later.
    void tick(Millis step);
    void flush();
    /// What was recorded since the last call; `take_whole` leaves the record that is not full yet.
    std::vector<Recorded> take();
    std::vector<Recorded> take_whole();

  private:
    Load& load_;
    std::size_t record_bytes_;
    std::uint32_t per_second_;
    std::uint32_t in_second_ = 0;
    BrokerTime now_;
    std::array<Offset, kTopics> ends_{};
    Offset end_;
    codec::JournalRecordBuilder builder_;
    std::vector<Recorded> records_;
};

}  // namespace trueup::bench
