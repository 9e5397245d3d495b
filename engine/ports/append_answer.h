// The answer of an append under way, for logs whose own threads give it: given once by the log,
// taken once by the caller. Thread-safe.
#pragma once

#include "engine/base/mutex.h"
#include "engine/base/result.h"
#include "engine/ports/pending_append.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

namespace trueup::ports {

class AppendAnswer {
  public:
    bool ready() const { return ready_.load(std::memory_order_acquire); }
    void give(Result<Appended> result) TRUEUP_EXCLUDES(mutex_);
    /// Waits until it is given.
    Result<Appended> take() TRUEUP_EXCLUDES(mutex_);
    /// As PendingAppend::tell, until `forget`.
    void tell(std::function<void()> heard) TRUEUP_EXCLUDES(mutex_);
    void forget() TRUEUP_EXCLUDES(mutex_);

  private:
    std::atomic<bool> ready_ = false;
    Mutex mutex_;
    CondVar given_;
    std::optional<Result<Appended>> result_ TRUEUP_GUARDED_BY(mutex_);
    std::function<void()> heard_ TRUEUP_GUARDED_BY(mutex_);
};

/// What the caller of `Log::append` holds of it.
std::unique_ptr<PendingAppend> pending(std::shared_ptr<AppendAnswer> answer);

}  // namespace trueup::ports
