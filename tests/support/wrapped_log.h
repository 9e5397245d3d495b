// A log that hands everything on to another one, for tests that change what one call does.
#pragma once

#include "tests/support/memory_log.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace trueup::testing {

class WrappedLog : public ports::Log {
  public:
    /// `below` outlives it. Nobody waits for it: such a test has one thread.
    explicit WrappedLog(MemoryLog& below) : below_(below) {}
    explicit WrappedLog(std::unique_ptr<ports::Log> below)
        : own_(std::move(below)), below_(*own_) {}

    std::unique_ptr<ports::PendingAppend> append(ports::Partition partition,
                                                 const ports::Entries& entries) override {
        return below_.append(partition, entries);
    }
    Result<ports::Fetched> read(ports::Partition partition, Offset offset,
                                std::size_t max_bytes) override {
        return below_.read(partition, offset, max_bytes);
    }
    bool may_have(ports::Partition partition, Offset offset) override {
        return below_.may_have(partition, offset);
    }
    std::uint64_t changes_seen() const override { return below_.changes_seen(); }
    void wait(std::uint64_t seen, Millis max_wait) override {
        if (own_) own_->wait(seen, max_wait);
    }
    void wake() override {
        if (own_) own_->wake();
    }
    std::unique_ptr<ports::Wakeup::Listener> listen(std::function<void()> heard) override {
        return below_.listen(std::move(heard));
    }
    Status truncate(ports::Partition partition, Offset offset) override {
        return below_.truncate(partition, offset);
    }
    Result<ports::Extent> describe(ports::Partition partition) override {
        return below_.describe(partition);
    }
    std::optional<std::uint64_t> stored_bytes() const override {
        return own_ ? own_->stored_bytes() : std::nullopt;
    }

  private:
    std::unique_ptr<ports::Log> own_;
    ports::Log& below_;
};

}  // namespace trueup::testing
