// Locks that clang's thread-safety analysis understands: which mutex guards a member and which one
// a function wants held is written beside it (thread_safety.h). The standard library's own locks
// say nothing of that in libstdc++, so they are used here and in shared_mutex.h alone
// (tools/tidy.py).
//
// A mutex is held by a MutexLock in a scope; CondVar's waits take the mutex itself.
//
// The analysis looks at one function at a time, and at a lambda as a function of its own, so a wait
// is a loop around `wait` and takes no predicate. Two paths to one mutex it takes for two: a part
// that refers back to its owner says `owner_.mutex_.assert_held()`, and what another object guards
// is written out, not kept as a local reference. Constructors and destructors are alone with what
// they make and end, and not looked at.
//
// Costs nothing: each is the standard library's, inline.
#pragma once

#include "engine/base/thread_safety.h"
#include "engine/base/time.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace trueup {

/// Not recursive. Held by a MutexLock, as a rule.
class TRUEUP_CAPABILITY("mutex") Mutex {
  public:
    Mutex() = default;
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    void lock() TRUEUP_ACQUIRE() { native_.lock(); }
    void unlock() TRUEUP_RELEASE() { native_.unlock(); }
    bool try_lock() TRUEUP_TRY_ACQUIRE(true) { return native_.try_lock(); }
    /// For the analysis, where it cannot know it: this thread holds it. Looks at nothing.
    void assert_held() const TRUEUP_ASSERT_CAPABILITY() {}

  private:
    friend class CondVar;
    std::mutex native_;
};

/// Holds a mutex to the end of its scope, but for what lies between `unlock` and `lock`.
class TRUEUP_SCOPED_CAPABILITY MutexLock {
  public:
    explicit MutexLock(Mutex& mutex) TRUEUP_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
    /// Takes over a mutex that is held, as by `try_lock`.
    MutexLock(Mutex& mutex, std::adopt_lock_t) TRUEUP_REQUIRES(mutex) : mutex_(mutex) {}
    ~MutexLock() TRUEUP_RELEASE() {
        if (held_) mutex_.unlock();
    }
    MutexLock(const MutexLock&) = delete;
    MutexLock& operator=(const MutexLock&) = delete;

    void unlock() TRUEUP_RELEASE() {
        held_ = false;
        mutex_.unlock();
    }
    void lock() TRUEUP_ACQUIRE() {
        mutex_.lock();
        held_ = true;
    }

  private:
    Mutex& mutex_;
    bool held_ = true;
};

/// A wait gives the mutex back meanwhile, and may end for no reason: ask again what was waited for.
class CondVar {
  public:
    using Deadline = std::chrono::steady_clock::time_point;
    static Deadline in(Millis pause) { return std::chrono::steady_clock::now() + pause; }

    CondVar() = default;
    CondVar(const CondVar&) = delete;
    CondVar& operator=(const CondVar&) = delete;

    void wait(Mutex& mutex) TRUEUP_REQUIRES(mutex) {
        std::unique_lock<std::mutex> native(mutex.native_, std::adopt_lock);
        native_.wait(native);
        static_cast<void>(native.release());
    }
    /// False: it is `until`.
    bool wait_until(Mutex& mutex, Deadline until) TRUEUP_REQUIRES(mutex) {
        std::unique_lock<std::mutex> native(mutex.native_, std::adopt_lock);
        const std::cv_status ended = native_.wait_until(native, until);
        static_cast<void>(native.release());
        return ended == std::cv_status::no_timeout;
    }
    void notify_one() { native_.notify_one(); }
    void notify_all() { native_.notify_all(); }

  private:
    std::condition_variable native_;
};

}  // namespace trueup
