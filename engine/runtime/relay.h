// The relay: publishes findings and commands after their journal record was read back. At least
// once: their ids and positions depend on nothing but the journal, so a repetition is recognised.
//
// Commands of a batch are acknowledged before its findings are appended; so a finding in the topic
// proves that the commands of every earlier journal record are there, and after a restart the relay
// goes on from the record that the last finding names.
//
// Not thread-safe: the shard's thread owns it.
#pragma once

#include "engine/base/result.h"
#include "engine/codec/signature.h"
#include "engine/core/fold.h"
#include "engine/ports/log.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace trueup::runtime {

class Relay {
  public:
    /// Commands are signed with `keys`, which outlive the relay.
    Relay(ports::Log& log, std::int32_t partition, const codec::KeyRing& keys)
        : log_(log), partition_(partition), keys_(keys) {}

    /// Finds out what was published before. Until then nothing may be offered.
    Status resume();

    /// Takes over what the record at this journal offset led to. Offsets ascend.
    void offer(std::int64_t journal_offset, core::FoldReport& report);

    /// Moves the appends on; never blocks. An error is a failed append: the batch will be tried
    /// again by the next call.
    Status step();
    /// Blocks until everything that was offered is acknowledged.
    Status drain();

    /// Everything up to this journal offset is published.
    bool idle() const {
        return commands_.empty() && findings_.empty() && batch_.empty() && batch_findings_.empty();
    }
    /// While true, do not fold on: the relay is the bottleneck.
    bool full() const { return commands_.size() + findings_.size() > kMostWaiting; }

    std::uint64_t published() const { return published_; }

  private:
    static constexpr std::size_t kMostWaiting = 20'000;
    Status settle_pending();
    void start();

    ports::Log& log_;
    std::int32_t partition_;
    const codec::KeyRing& keys_;
    std::int64_t from_ = 0;  ///< emissions of earlier journal records are out already
    std::vector<ports::Entry> commands_;
    std::vector<ports::Entry> findings_;
    std::vector<ports::Entry> batch_;           ///< under way; kept for another try
    std::vector<ports::Entry> batch_findings_;  ///< follow once the batch's commands are in
    Topic batch_topic_ = Topic::kUnspecified;
    std::unique_ptr<ports::PendingAppend> pending_;
    std::uint64_t published_ = 0;
};

}  // namespace trueup::runtime
