// The sequencer: merges a shard's input topics into journal records. Impure and tiny: it decides
// the order, and the journal remembers it.
//
// It never knows whether its appends arrived. It tells of each item which one it read before, and
// the fold tells it when one is missing: then it rewinds and appends again (design §5). Two live
// sequencers on one shard are harmless for the same reason.
//
// Not thread-safe: the shard's thread owns it.
#pragma once

#include "engine/base/result.h"
#include "engine/codec/journal_codec.h"
#include "engine/codec/signature.h"
#include "engine/core/fold.h"
#include "engine/ports/log.h"

#include <array>
#include <cstdint>

namespace trueup::runtime {

class Sequencer {
  public:
    /// Requests are checked against `keys`, which outlive the sequencer.
    Sequencer(ports::Log& log, PartitionNumber partition, const codec::KeyRing& keys)
        : log_(log), partition_(partition), keys_(keys) {}

    /// Reads on from behind what the fold has accepted.
    void resume(const core::Meta& meta);
    /// The fold misses what comes after `gap.last`. kStop when the log no longer has it: the gap
    /// cannot be refilled, and the shard must stop emitting.
    Status rewind(const core::Gap& gap);

    /// Passes over what the journal has already, by other engines. True: a record is there that it
    /// has not.
    Result<bool> follow(const core::Meta& meta);

    /// Adds what came in to `record`, up to about `max_bytes`. True: there may be more.
    Result<bool> gather(codec::JournalRecordBuilder& record, std::size_t max_bytes);

    std::uint64_t rewinds() const { return rewinds_; }

  private:
    struct Position {
        Offset next;              ///< where to read on
        Offset prev = kNoOffset;  ///< offset of the record read last
        /// Records that were read and are not in a journal record yet, from `used` on. A log that
        /// fetches ahead is never asked for the same ones twice.
        ports::Fetched page{};
        std::size_t used = 0;
    };
    enum class Took : std::uint8_t {
        kNothing,  ///< there is none at the moment
        kAll,      ///< what was there, less than a share
        kShare,    ///< there may be more
        kNoRoom,   ///< the next one would make the record too large
    };
    Result<bool> follow(Topic topic, Offset last);
    Status turn_page(Topic topic, Position& position, std::size_t max_bytes);
    Result<Took> take(Topic topic, codec::JournalRecordBuilder& record, std::size_t room,
                      std::size_t max_bytes);

    ports::Log& log_;
    PartitionNumber partition_;
    const codec::KeyRing& keys_;
    std::array<Position, kTopics> positions_{};
    std::uint64_t rewinds_ = 0;
};

}  // namespace trueup::runtime
