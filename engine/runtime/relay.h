// The relay: publishes findings and commands after their journal record was read back. At least
// once: their ids and positions depend on nothing but the journal, so a repetition is recognised.
//
// Commands of a batch are acknowledged before its findings are appended; so a finding in the topic
// proves that the commands of every earlier journal record are there, and after a restart the relay
// goes on from the record that the last finding names.
//
// Of two engines on a shard one publishes. The other one defers: it keeps what it would publish
// until it reads in the findings that it is there, and publishes what is not there after a while.
//
// Many emissions at once, as when a backlog is folded, are encoded on a thread of their own while
// the owner folds on.
//
// Not thread-safe: the shard's thread owns it.
#pragma once

#include "engine/base/result.h"
#include "engine/codec/signature.h"
#include "engine/core/fold.h"
#include "engine/model/headers.h"
#include "engine/ports/log.h"

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <vector>

namespace trueup::runtime {

class Relay {
  public:
    /// Commands are signed with `keys`, which outlive the relay. `jobs`: deferred has everything
    /// done by the caller.
    Relay(ports::Log& log, PartitionNumber partition, const codec::KeyRing& keys,
          std::launch jobs = std::launch::async, FindingHeaders headers = FindingHeaders::kId)
        : log_(log), partition_(partition), keys_(keys), headers_(headers), jobs_(jobs) {}

    /// Finds out what was published before. Until then nothing may be offered.
    Status resume();

    /// Takes over the findings and commands of the record at this offset of that journal, and
    /// leaves other memory in their place. Offsets ascend.
    void offer(const JournalId& journal, Offset offset, core::FoldReport& report);

    /// Moves the appends on; never blocks. An error is a failed append: the batch will be tried
    /// again by the next call.
    Status step();
    /// Blocks until everything that was offered is acknowledged.
    Status drain();

    /// Another engine publishes: begin nothing new. `drain` publishes all the same.
    void defer(bool on) { deferred_ = on; }
    /// Reads on in the findings and forgets what they prove to be published. What was there at the
    /// last look already is published now.
    Status look();

    /// Everything that was offered is published.
    bool idle() const {
        return offered_.empty() && !encoding_.valid() && batch_.empty() && batch_findings_.empty();
    }
    /// While true, do not fold on: the relay is the bottleneck.
    bool full() const { return offered_count_ + encoding_count_ > kMostWaiting; }

    std::uint64_t published() const { return published_; }

  private:
    static constexpr std::size_t kMostWaiting = 20'000;
    static constexpr std::size_t kMany = 500;  ///< emissions; fewer are encoded by the caller
    static constexpr std::size_t kMostSpare = 16;
    /// Of one record.
    struct Emissions {
        JournalId journal;
        Offset offset = kNoOffset;
        std::vector<Command> commands;
        Recycled<FindingEdge> findings;
        std::size_t count() const { return commands.size() + findings.size(); }
    };
    /// Where the finding that was seen last in the topic comes from.
    struct Seen {
        JournalId journal;
        Offset offset = kNoOffset;
        std::uint32_t index = 0;
        BrokerTime append_time{};
        bool proves(const Emissions& of_record) const;
    };
    struct Batch {
        std::vector<ports::Entry> commands;
        std::vector<ports::Entry> findings;
        std::vector<Emissions> spent;  ///< their memory is used again
    };
    Status read_findings();
    Result<bool> is_of_this_journal(const Seen& seen);
    Batch encode(std::vector<Emissions> offered) const;
    void start_encoding();
    bool take_batch(bool wait);
    Status settle_pending();
    void start(bool wait);

    ports::Log& log_;
    PartitionNumber partition_;
    const codec::KeyRing& keys_;
    Seen seen_;
    Offset look_from_;  ///< in the findings
    bool deferred_ = false;
    bool overdue_ = false;               ///< what is deferred should be there by now
    Offset newest_at_look_ = kNoOffset;  ///< journal offset of what was offered last
    const FindingHeaders headers_;
    const std::launch jobs_;
    std::vector<Emissions> offered_;
    std::size_t offered_count_ = 0;
    std::atomic<bool> encoded_{false};  ///< said by the job: `encoding_` is there in a moment
    std::future<Batch> encoding_;       ///< what was offered before
    std::size_t encoding_count_ = 0;
    std::vector<Emissions> spare_;
    ports::Entries batch_;           ///< under way; kept for another try
    ports::Entries batch_findings_;  ///< follow once the batch's commands are in
    Topic batch_topic_ = Topic::kUnspecified;
    std::unique_ptr<ports::PendingAppend> pending_;
    std::uint64_t published_ = 0;
};

}  // namespace trueup::runtime
