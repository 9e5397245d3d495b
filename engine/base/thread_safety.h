// The words by which code says which lock guards what. clang's thread-safety analysis reads them,
// and `tools/check_steps clang_tidy` refuses code that does not hold to them; other compilers see
// nothing. https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
//
// A class states under its mutex what the mutex is for: members are TRUEUP_GUARDED_BY(mutex_),
// private functions that want it held TRUEUP_REQUIRES(mutex_), functions that take it
// TRUEUP_EXCLUDES(mutex_). The locks themselves are in mutex.h and shared_mutex.h.
#pragma once

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
