// Reads which commands have ended from `outcomes` and, once that is known, `commands`, partition by
// partition.
//
// What is older than the window is not looked at: reading begins where the window does, however
// long the log is kept.
//
//   K1  No command of a partition is handed out before its outcomes were read up to where they
//       ended at the start.
//   K2  Outcomes that retention took before they were read stop the partition: one that ended in
//       them would be carried out again.
//
// Not thread-safe.
#pragma once

#include "engine/codec/signature.h"
#include "engine/model/command.h"
#include "engine/ports/log.h"
#include "executors/ended_commands.h"
#include "executors/parked_command.h"
#include "executors/partition_assignment.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trueup::executors {

struct ArrivedCommand {
    Command command;
    PartitionNumber partition;
    Offset offset;
};

class CommandReader {
  public:
    /// `window`: how long a command may live, with all skew; older records are passed over.
    /// Only commands that are signed with `keys` are handed out; they outlive the reader.
    CommandReader(ports::Log& log, const std::vector<PartitionNumber>& partitions, Millis window,
                  EndedCommands& ended, const codec::KeyRing& keys);

    struct Read {
        std::vector<ArrivedCommand> commands;
        std::vector<ParkedCommand> parked;
        std::uint64_t unauthenticated = 0;  ///< parked since nobody signed them whom we know
        std::uint64_t skipped = 0;          ///< commands older than the window
        bool moved = false;                 ///< something was read
    };
    /// Reads on a bounded piece; nothing before `broker_now` is known. Without it later on, or
    /// without `room`, outcomes only; so of partitions that `assignment` has not. One that it
    /// has again is read from where the window begins: some may be there that nobody carried out.
    Read step(std::optional<BrokerTime> broker_now, bool room,
              const PartitionAssignment* assignment = nullptr);

    /// True once it is known of every partition what has ended in it.
    bool ended_known() const;
    /// Why something is not read; empty when all is well.
    const std::string& trouble() const { return trouble_; }

  private:
    struct Lane {
        PartitionNumber index;
        bool placed = false;   ///< the offsets below are known
        bool stopped = false;  ///< K2
        Offset outcomes;
        Offset outcomes_end;             ///< where they ended at the start
        std::optional<Offset> commands;  ///< none: to be looked for
        bool complete() const { return placed && !stopped && outcomes >= outcomes_end; }
    };
    bool place(Lane& lane, BrokerTime broker_now);
    /// The first offset that can be read, if retention took `offset`.
    std::optional<Offset> cut(ports::Partition partition, Offset offset);
    bool read_outcomes(Lane& lane, std::optional<BrokerTime> broker_now, Read& read);
    void read_commands(Lane& lane, BrokerTime broker_now, Read& read);
    void take_command(const Lane& lane, const ports::Record& record, Read& read);

    ports::Log& log_;
    Millis window_;
    EndedCommands& ended_;
    const codec::KeyRing& keys_;
    std::vector<Lane> lanes_;
    std::string trouble_;
};

}  // namespace trueup::executors
