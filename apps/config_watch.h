// Notices that the configuration, or a policy that it names, is not any more what this process
// started with. None of that is put in force by looking: a process goes on as it is until somebody
// restarts it, and says so.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/mutex.h"
#include "engine/base/time.h"

#include <functional>
#include <string>

namespace trueup::apps {

/// Thread-safe.
class ConfigWatch {
  public:
    static constexpr Millis kEvery{5'000};

    /// `digest` is that of the configuration which was read from `path` at the start; `warn` takes
    /// each other sentence once.
    ConfigWatch(std::string path, Hash128 digest, std::function<void(const std::string&)> warn);

    /// Looks, unless the last look was less than `kEvery` ago. Reads every file of the
    /// configuration. What is seen twice counts, so that half of a file that is just being written
    /// does not.
    void look(SteadyTime now) TRUEUP_EXCLUDES(mutex_);
    /// What is different, and what to do; empty: nothing is.
    std::string sentence() const TRUEUP_EXCLUDES(mutex_);

  private:
    std::string judged() const;

    const std::string path_;
    const Hash128 digest_;
    const std::function<void(const std::string&)> warn_;
    mutable Mutex mutex_;
    SteadyTime next_ TRUEUP_GUARDED_BY(mutex_){};
    std::string last_ TRUEUP_GUARDED_BY(mutex_);     ///< of the last look
    std::string settled_ TRUEUP_GUARDED_BY(mutex_);  ///< of the last two
};

}  // namespace trueup::apps
