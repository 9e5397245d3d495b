// Something to wait for that others tell of: a count of what happened, and whoever waits for more.
//
// Who waits where, and who wakes it. A thread waits in one place at a time, until the next thing
// that is due. What looks at a clock all the same says why where its interval is defined.
//   in `Log::wait`          a shard, an executor without calls under way, a source that stands by.
//                           Ended by every append that became readable or was answered, and by
//                           `Log::wake`: a stop, a person's question.
//   in the `poll` of a port a source, and an executor with calls under way, which waits for all
//                           its ports in one of them (interest.h). Ended by the port's own
//                           events and by its `wake`, which the answers of the source's appends
//                           (`PendingAppend::tell`), all news of the log (`Log::listen`, the
//                           executor) and whoever wants something of it call.
// A wake is never lost: it ends the wait that is under way, or the next one that began to look
// before it. So who waits for a count reads it first, looks for work, and waits then.
//
// Thread-safe.
#pragma once

#include "engine/base/mutex.h"
#include "engine/base/time.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace trueup::ports {

class Wakeup {
  public:
    /// Who hears of each signal, until it is destroyed.
    class Listener {
      public:
        ~Listener();
        Listener(const Listener&) = delete;
        Listener& operator=(const Listener&) = delete;

      private:
        friend class Wakeup;
        Listener(Wakeup& of, std::function<void()> heard) : of_(of), heard_(std::move(heard)) {}
        Wakeup& of_;
        const std::function<void()> heard_;
    };

    Wakeup() = default;
    Wakeup(const Wakeup&) = delete;
    Wakeup& operator=(const Wakeup&) = delete;

    /// How many signals there were.
    std::uint64_t seen() const { return count_.load(); }
    void signal() TRUEUP_EXCLUDES(mutex_, listening_);
    /// Waits until there were more than `seen`. False: `max_wait` was over first.
    bool wait(std::uint64_t seen, Millis max_wait) TRUEUP_EXCLUDES(mutex_);
    /// `heard` is called after the count grew, by the thread that signals: it is short, and calls
    /// nothing of this. The listener must not outlive this.
    std::unique_ptr<Listener> listen(std::function<void()> heard) TRUEUP_EXCLUDES(listening_);

  private:
    std::atomic<std::uint64_t> count_{0};
    Mutex mutex_;  ///< the count does not grow between a look at it and the wait
    CondVar more_;
    Mutex listening_;
    std::vector<Listener*> listeners_ TRUEUP_GUARDED_BY(listening_);
};

}  // namespace trueup::ports
