// Proves tests/support/memory_log.h: the log that other tests trust keeps the log contract.
#include "tests/support/memory_log.h"

#include "tests/ports/log_contract.h"

#include <gtest/gtest.h>

namespace trueup::ports {
namespace {

class MemoryLogUnderTest final : public LogUnderTest {
  public:
    MemoryLogUnderTest() { log_.block_in_wait(true); }
    Log& log() override { return log_; }
    Result<Headers> headers(Partition partition, Offset offset) override {
        return log_.headers(partition, offset);
    }
    void reopen() override {}

  private:
    testing::MemoryLog log_;
};

std::unique_ptr<LogUnderTest> make_memory_log() { return std::make_unique<MemoryLogUnderTest>(); }

}  // namespace

INSTANTIATE_TEST_SUITE_P(Memory, LogContract, ::testing::Values(make_memory_log));

}  // namespace trueup::ports
