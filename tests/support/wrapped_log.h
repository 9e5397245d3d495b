// A log that hands everything on to one in memory, for tests that change what one call does.
#pragma once

#include "tests/support/memory_log.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace trueup::testing {

class WrappedLog : public ports::Log {
  public:
    /// `below` outlives it.
    explicit WrappedLog(MemoryLog& below) : below_(below) {}
    std::unique_ptr<ports::PendingAppend> append(
        ports::Partition partition, const std::vector<ports::Entry>& entries) override {
        return below_.append(partition, entries);
    }
    Result<ports::Fetched> read(ports::Partition partition, std::int64_t offset,
                                std::size_t max_bytes) override {
        return below_.read(partition, offset, max_bytes);
    }
    std::uint64_t changes_seen() const override { return below_.changes_seen(); }
    void wait(std::uint64_t, Millis) override {}
    void wake() override {}
    Status truncate(ports::Partition partition, std::int64_t offset) override {
        return below_.truncate(partition, offset);
    }
    Result<ports::Extent> describe(ports::Partition partition) override {
        return below_.describe(partition);
    }

  private:
    MemoryLog& below_;
};

}  // namespace trueup::testing
