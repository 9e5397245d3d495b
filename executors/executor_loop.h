// What an executor does for as long as its process runs, and how it ends: Dispatcher::step is a
// round; after `close` nothing is started, and for a while what went out may still end in its
// outcome. Thread and clock are the caller's.
//
// Not thread-safe.
#pragma once

#include "executors/dispatcher.h"

#include <functional>
#include <string>

namespace trueup::executors {

struct ExecutorLoopSettings {
    Millis settle_within{3'000};  ///< after it the next start finds out what became of a write
    /// The log is not read, and why; once each. Called by `step`.
    std::function<void(const std::string& sentence)> on_trouble;
};

class ExecutorLoop {
  public:
    /// `dispatcher` outlives it.
    ExecutorLoop(Dispatcher& dispatcher, ExecutorLoopSettings settings);

    /// One round; waits at most `max_wait` for more.
    void step(SteadyTime now, Millis max_wait);

    /// The process is about to end: step on until it is `settled`. Returns how many writes have no
    /// outcome yet.
    std::size_t close(SteadyTime now);
    /// After `close`: all that went out has ended in its outcome, or had its time.
    bool settled(SteadyTime now) const;

  private:
    Dispatcher& dispatcher_;
    const ExecutorLoopSettings settings_;
    std::string trouble_;
    SteadyTime limit_ = SteadyTime::max();  ///< of settling
};

}  // namespace trueup::executors
