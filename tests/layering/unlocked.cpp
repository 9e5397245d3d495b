// Mistakes with locks, each of which clang-tidy has to refuse, and what it has to let be:
// locks_test.py. Part of no program.
#include "engine/base/mutex.h"
#include "engine/base/shared_mutex.h"

namespace trueup::testing {

class Tally {
  public:
    void reads_without_the_lock(int& sum) const { sum = sum_; }  // refused
    void writes_without_the_lock(int n) { sum_ += n; }           // refused
    void calls_what_wants_the_lock(int n) { add(n); }            // refused
    void waits_without_the_lock() { changed_.wait(mutex_); }     // refused
    void locks() TRUEUP_EXCLUDES(mutex_) { const MutexLock lock(mutex_); }
    void locks_twice() {
        const MutexLock lock(mutex_);
        locks();  // refused
    }
    void goes_on_after_unlock(int n) {
        MutexLock lock(mutex_);
        add(n);
        lock.unlock();
        add(n);  // refused
    }
    void writes_while_others_read(int n) {
        const ReaderLock lock(shared_mutex_);
        shared_ = n;  // refused
    }
    void keeps_the_lock() { mutex_.lock(); }  // refused
    void is_right(int n) TRUEUP_EXCLUDES(mutex_) {
        MutexLock lock(mutex_);
        while (sum_ < n) changed_.wait(mutex_);
        lock.unlock();
        lock.lock();
        add(n);
    }
    int reads_beside_others() const {
        const ReaderLock lock(shared_mutex_);
        return shared_;
    }

  private:
    void add(int n) TRUEUP_REQUIRES(mutex_) { sum_ += n; }

    mutable Mutex mutex_;
    CondVar changed_;
    int sum_ TRUEUP_GUARDED_BY(mutex_) = 0;
    mutable SharedMutex shared_mutex_;
    int shared_ TRUEUP_GUARDED_BY(shared_mutex_) = 0;
};

}  // namespace trueup::testing
