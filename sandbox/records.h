// What happened in a world, as facts from which it can be rebuilt: the state of the two servers is
// the fold of these records, and world_file.h keeps them.
#pragma once

#include "sandbox/types.h"

#include <memory>
#include <variant>

namespace trueup::sandbox {

using PodPtr = std::shared_ptr<const Pod>;
using Values = std::shared_ptr<const ports::SqlRow>;  ///< in the order of the table's columns

/// The first record of a file.
struct Born {
    std::uint64_t seed = 0;
};

/// One write to a pod. An added pod has no `before`, a deleted one no `after`.
struct PodEvent {
    std::uint64_t resource_version = 0;
    PodPtr before;
    PodPtr after;
    const Pod& subject() const { return after ? *after : *before; }
};

/// A write to some other object moved the counter, or old versions were forgotten.
struct ClusterMark {
    std::uint64_t newest = 0;
    std::uint64_t oldest = 0;  ///< watches and lists from below get 410
};

struct RowChange {
    char kind = 'I';  ///< I, U, D, T as in pgoutput
    ports::Lsn lsn = 0;
    Values before;
    Values after;
};

/// One committed transaction.
struct Commit {
    std::uint32_t xid = 0;
    ports::Lsn commit_lsn = 0;  ///< of the commit record
    ports::Lsn end_lsn = 0;     ///< just behind it
    std::int64_t wall_ms = 0;
    std::vector<RowChange> changes;
};

/// WAL that does not concern the table.
struct WalMark {
    ports::Lsn lsn = 0;
};

struct Slot {
    std::string name;
    ports::Lsn confirmed = 0;
    ports::Lsn saved = 0;  ///< what a crash of the server goes back to
    bool lost = false;
};

struct SlotDropped {
    std::string name;
};

using Record =
    std::variant<Born, PodEvent, ClusterMark, Commit, WalMark, Slot, SlotDropped, Effect>;

}  // namespace trueup::sandbox
