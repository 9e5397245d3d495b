// Locks that clang's thread-safety analysis understands: which mutex guards a member and which one
// a function wants held is written beside it, and `tools/check_steps clang_tidy` refuses code that
// does not hold to it. The standard library's own locks say nothing of that in libstdc++, so they
// are used here alone (tools/tidy.py). https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
//
// A class states under its mutex what the mutex is for: members are TRUEUP_GUARDED_BY(mutex_),
// private functions that want it held TRUEUP_REQUIRES(mutex_), functions that take it
// TRUEUP_EXCLUDES(mutex_). They hold it by a MutexLock in their scope; CondVar's waits take the
// mutex itself.
//
// The analysis looks at one function at a time, and at a lambda as a function of its own, so a wait
// is a loop around `wait` and takes no predicate. Two paths to one mutex it takes for two: a part
// that refers back to its owner says `owner_.mutex_.assert_held()`, and what another object guards
// is written out, not kept as a local reference. Constructors and destructors are alone with what
// they make and end, and not looked at.
//
// Costs nothing: each is the standard library's, inline.
#pragma once

#include "engine/base/time.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#if defined(__clang__)
#define TRUEUP_THREAD_ATTRIBUTE(words) __attribute__((words))
#else
#define TRUEUP_THREAD_ATTRIBUTE(words)
#endif

/// A member is read and written, what a pointer points to is reached, under this mutex only.
#define TRUEUP_GUARDED_BY(mutex) TRUEUP_THREAD_ATTRIBUTE(guarded_by(mutex))
#define TRUEUP_PT_GUARDED_BY(mutex) TRUEUP_THREAD_ATTRIBUTE(pt_guarded_by(mutex))

/// Who calls the function holds the mutex, at least for reading (shared), or must not hold it since
/// the function takes it.
#define TRUEUP_REQUIRES(...) TRUEUP_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define TRUEUP_REQUIRES_SHARED(...) TRUEUP_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define TRUEUP_EXCLUDES(...) TRUEUP_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

/// For locks themselves: what a function does with the mutex, without arguments with its own.
#define TRUEUP_CAPABILITY(name) TRUEUP_THREAD_ATTRIBUTE(capability(name))
#define TRUEUP_SCOPED_CAPABILITY TRUEUP_THREAD_ATTRIBUTE(scoped_lockable)
#define TRUEUP_ACQUIRE(...) TRUEUP_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define TRUEUP_ACQUIRE_SHARED(...) TRUEUP_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define TRUEUP_TRY_ACQUIRE(...) TRUEUP_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define TRUEUP_RELEASE(...) TRUEUP_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define TRUEUP_RELEASE_SHARED(...) TRUEUP_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define TRUEUP_RELEASE_GENERIC(...) TRUEUP_THREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))
#define TRUEUP_ASSERT_CAPABILITY(...) TRUEUP_THREAD_ATTRIBUTE(assert_capability(__VA_ARGS__))

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

/// Many read, or one writes.
class TRUEUP_CAPABILITY("mutex") SharedMutex {
  public:
    SharedMutex() = default;
    SharedMutex(const SharedMutex&) = delete;
    SharedMutex& operator=(const SharedMutex&) = delete;

    void lock() TRUEUP_ACQUIRE() { native_.lock(); }
    void unlock() TRUEUP_RELEASE() { native_.unlock(); }
    void lock_shared() TRUEUP_ACQUIRE_SHARED() { native_.lock_shared(); }
    void unlock_shared() TRUEUP_RELEASE_SHARED() { native_.unlock_shared(); }

  private:
    std::shared_mutex native_;
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

class TRUEUP_SCOPED_CAPABILITY ReaderLock {
  public:
    explicit ReaderLock(SharedMutex& mutex) TRUEUP_ACQUIRE_SHARED(mutex) : mutex_(mutex) {
        mutex_.lock_shared();
    }
    ~ReaderLock() TRUEUP_RELEASE_GENERIC() { mutex_.unlock_shared(); }
    ReaderLock(const ReaderLock&) = delete;
    ReaderLock& operator=(const ReaderLock&) = delete;

  private:
    SharedMutex& mutex_;
};

class TRUEUP_SCOPED_CAPABILITY WriterLock {
  public:
    explicit WriterLock(SharedMutex& mutex) TRUEUP_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
    ~WriterLock() TRUEUP_RELEASE() { mutex_.unlock(); }
    WriterLock(const WriterLock&) = delete;
    WriterLock& operator=(const WriterLock&) = delete;

  private:
    SharedMutex& mutex_;
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
