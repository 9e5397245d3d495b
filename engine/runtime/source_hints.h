// What shards need of sources that run in other processes, over the topic `requests`: a complete
// epoch, or proofs of progress in quick succession while findings wait for them. Signed as every
// request; a hint changes nothing but when a connector asks its source.
#pragma once

#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/codec/signature.h"
#include "engine/model/request.h"
#include "engine/ports/clock.h"
#include "engine/ports/log.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace trueup::runtime {

/// One shard's voice. Not thread-safe: the shard's thread owns it.
class SourceHintSender {
  public:
    static constexpr Millis kAgain{3'000};  ///< a hint that lasts is repeated this often

    /// `log`, `keys` and `clock` outlive it. `id_seed` makes the ids of its requests its own.
    SourceHintSender(ports::Log& log, PartitionNumber shard, const codec::KeyRing& keys,
                     ports::Clock& clock, std::uint64_t id_seed);

    /// Findings wait for progress (`hurry`), and these sources are to list everything again. Never
    /// blocks for an answer; a hint that is lost is repeated.
    void say(bool hurry, const std::vector<std::string>& epochs);

  private:
    void send(const std::string& source);

    ports::Log& log_;
    const PartitionNumber shard_;
    const codec::KeyRing& keys_;
    ports::Clock& clock_;
    std::uint64_t next_id_;
    std::map<std::string, SteadyTime> said_;  ///< by source; empty: hurry
};

/// Reads the hints of all shards from now on. Not thread-safe.
class SourceHintReader {
  public:
    static constexpr Millis kLasts{10'000};  ///< a hint to hurry

    /// `log` and `keys` outlive it.
    SourceHintReader(ports::Log& log, std::int32_t partitions, const codec::KeyRing& keys);

    /// Calls `epoch` for each source that is to take one.
    Status step(SteadyTime now, const std::function<void(const std::string& source)>& epoch);
    /// Some shard has findings that wait.
    bool hurry(SteadyTime now) const { return now < hurry_until_; }

  private:
    ports::Log& log_;
    const codec::KeyRing& keys_;
    std::vector<Offset> next_;  ///< per partition; -1: not placed yet
    SteadyTime hurry_until_{};
};

}  // namespace trueup::runtime
