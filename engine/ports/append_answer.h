// The answer of an append under way, for logs whose own threads give it: given once by the log,
// taken once by the caller. Thread-safe.
#pragma once

#include "engine/base/result.h"
#include "engine/ports/log.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

namespace trueup::ports {

class AppendAnswer {
  public:
    bool ready() const { return ready_.load(std::memory_order_acquire); }
    void give(Result<Appended> result);
    /// Waits until it is given.
    Result<Appended> take();

  private:
    std::atomic<bool> ready_ = false;
    std::mutex mutex_;
    std::condition_variable given_;
    std::optional<Result<Appended>> result_;
};

/// What the caller of `Log::append` holds of it.
std::unique_ptr<PendingAppend> pending(std::shared_ptr<AppendAnswer> answer);

}  // namespace trueup::ports
