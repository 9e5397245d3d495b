// A lock that many hold who read, or one who writes: as mutex.h has it for one holder, with the
// same words about what it guards (thread_safety.h). Held by a ReaderLock or a WriterLock to the
// end of its scope. Costs nothing: the standard library's, inline.
#pragma once

#include "engine/base/thread_safety.h"

#include <shared_mutex>

namespace trueup {

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

}  // namespace trueup
