// Whose commands an executor carries out, where several share the work: those of the partitions
// that are assigned to it.
//
// An assignment saves work twice done, no more: it may be wrong for a while, two executors may have
// the same partition, and each write is safe without it. Implementations are thread-safe.
#pragma once

#include "engine/base/id.h"

#include <string>

namespace trueup::executors {

class PartitionAssignment {
  public:
    virtual ~PartitionAssignment() = default;
    /// Whether the commands of this partition are ours at the moment.
    virtual bool has(PartitionNumber partition) const = 0;
    /// Why we have none, in one sentence; empty while nothing is wrong.
    virtual std::string trouble() const = 0;
};

}  // namespace trueup::executors
