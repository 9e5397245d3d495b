// The answer of an append under way, for logs whose own threads give it: given once by the log,
// taken once by the caller. Thread-safe.
#pragma once

#include "engine/base/mutex.h"
#include "engine/base/result.h"
#include "engine/ports/log.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <optional>

namespace trueup::ports {

class AppendAnswer {
  public:
    bool ready() const { return ready_.load(std::memory_order_acquire); }
    void give(Result<Appended> result) TRUEUP_EXCLUDES(mutex_);
    /// Waits until it is given.
    Result<Appended> take();
    /// As PendingAppend::tell, until `forget`.
    void tell(std::function<void()> heard);
    void forget();

  private:
    std::atomic<bool> ready_ = false;
    std::mutex mutex_;
    std::condition_variable given_;
    std::optional<Result<Appended>> result_;
    std::function<void()> heard_;
};

/// What the caller of `Log::append` holds of it.
std::unique_ptr<PendingAppend> pending(std::shared_ptr<AppendAnswer> answer);

}  // namespace trueup::ports
