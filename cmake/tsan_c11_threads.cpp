// For builds with the thread sanitizer only. librdkafka starts its threads and takes its locks by
// C11's functions, which gcc 12's sanitizer does not intercept: it does not see such a thread begin
// (the first block of memory that the thread asks for ends the process), nor what its locks order.
// Here they are, over POSIX's, which it does. A program's own definitions win over the C library's,
// and glibc's types are the same below.
#include <pthread.h>
#include <threads.h>

#include <cerrno>
#include <utility>

namespace {

using Begin = std::pair<thrd_start_t, void*>;

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t));
pthread_mutex_t* posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* posix(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

int c11(int error) {
    if (error == 0) return thrd_success;
    if (error == ETIMEDOUT) return thrd_timedout;
    return error == EBUSY ? thrd_busy : thrd_error;
}

void* run(void* begin) {
    const Begin what = *static_cast<Begin*>(begin);
    delete static_cast<Begin*>(begin);
    return reinterpret_cast<void*>(static_cast<long>(what.first(what.second)));
}

}  // namespace

extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t start, void* argument) {
    auto* begin = new Begin(start, argument);
    const int error = pthread_create(thread, nullptr, run, begin);
    if (error != 0) delete begin;
    return c11(error);
}

int thrd_join(thrd_t thread, int* result) {
    void* said = nullptr;
    const int error = pthread_join(thread, &said);
    if (result != nullptr) *result = static_cast<int>(reinterpret_cast<long>(said));
    return c11(error);
}

int mtx_init(mtx_t* mutex, int type) {
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    const bool recursive = (type & mtx_recursive) != 0;
    pthread_mutexattr_settype(&how, recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
    const int error = pthread_mutex_init(posix(mutex), &how);
    pthread_mutexattr_destroy(&how);
    return c11(error);
}
void mtx_destroy(mtx_t* mutex) { pthread_mutex_destroy(posix(mutex)); }
int mtx_lock(mtx_t* mutex) { return c11(pthread_mutex_lock(posix(mutex))); }
int mtx_trylock(mtx_t* mutex) { return c11(pthread_mutex_trylock(posix(mutex))); }
int mtx_unlock(mtx_t* mutex) { return c11(pthread_mutex_unlock(posix(mutex))); }

int cnd_init(cnd_t* condition) { return c11(pthread_cond_init(posix(condition), nullptr)); }
void cnd_destroy(cnd_t* condition) { pthread_cond_destroy(posix(condition)); }
int cnd_signal(cnd_t* condition) { return c11(pthread_cond_signal(posix(condition))); }
int cnd_broadcast(cnd_t* condition) { return c11(pthread_cond_broadcast(posix(condition))); }
int cnd_wait(cnd_t* condition, mtx_t* mutex) {
    return c11(pthread_cond_wait(posix(condition), posix(mutex)));
}
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
    return c11(pthread_cond_timedwait(posix(condition), posix(mutex), until));
}

}  // extern "C"
