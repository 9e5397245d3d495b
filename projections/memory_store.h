// The store of the projection as a map in memory: for tests, for the simulator, and for readers
// that fold a journal once and forget. Nothing survives the process: `flush` does nothing, and
// there are no checkpoints.
#pragma once

#include "engine/base/shared_mutex.h"
#include "engine/base/thread_safety.h"
#include "engine/ports/store.h"

#include <functional>
#include <map>
#include <string>

namespace trueup::projections {

/// Thread-safe.
class MemoryStore final : public ports::Store {
  public:
    Result<std::optional<std::string>> get(std::string_view key) override TRUEUP_EXCLUDES(mutex_);
    Result<std::vector<std::optional<std::string>>> get_many(
        const std::vector<std::string_view>& keys) override TRUEUP_EXCLUDES(mutex_);
    Status each(std::string_view prefix, std::string_view after, std::size_t limit,
                const Visit& visit) override TRUEUP_EXCLUDES(mutex_);
    Status apply(const ports::StoreBatch& batch) override TRUEUP_EXCLUDES(mutex_);
    Status flush() override { return Done{}; }
    Result<std::string> checkpoint(const std::string& folder, const NameImage& name) override;

  private:
    std::optional<std::string> find(std::string_view key) const TRUEUP_REQUIRES_SHARED(mutex_);

    SharedMutex mutex_;
    std::map<std::string, std::string, std::less<>> rows_ TRUEUP_GUARDED_BY(mutex_);
};

}  // namespace trueup::projections
