// Nothing is taken from a source, and nothing is done in it, before it has shown once that it can
// be read as configured. One that does not answer is asked again until it does; one that answers
// that something is wrong, too, until somebody mends it. Each is asked on a thread of its own.
#pragma once

#include "apps/retry.h"
#include "engine/base/mutex.h"
#include "engine/base/result.h"
#include "engine/base/time.h"

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace trueup::apps {

/// Did nobody answer, so that another attempt may do? Else a server said what is wrong.
inline bool unanswered(const Error& error) {
    return error.next == Next::kRetry || error.next == Next::kRefresh;
}

struct SourceCheck {
    std::string name;
    std::string place;  ///< in the configuration, as `file:line`
    /// Asks once, and blocks for some seconds. Yields the primary key's columns; of a cluster none.
    std::function<Result<std::vector<std::string>>()> ask;
};

/// As `config check` says it: the place, the source, and what is wrong.
std::string sentence_of(const SourceCheck& check, const Error& error);

/// What is known of a source.
struct Admission {
    std::string doubt;  ///< why nothing may be asked of it yet; empty: everything may
    std::vector<std::string> pk_columns;
};

/// Thread-safe.
class SourceChecks {
  public:
    /// Begins to ask. `pauses`: between two attempts.
    explicit SourceChecks(std::vector<SourceCheck> checks,
                          Pauses pauses = Pauses(Millis{1'000}, Millis{30'000}));
    /// As `stop`, and waits for questions that are open.
    ~SourceChecks();
    SourceChecks(const SourceChecks&) = delete;
    SourceChecks& operator=(const SourceChecks&) = delete;

    /// Waits until each was answered once, or nobody answered within its time; `pause` waits, true:
    /// no longer. One sentence for each where a server said what is wrong: the caller ends then. Is
    /// none, what happens from now on is logged.
    std::vector<std::string> first_answers(const std::function<bool(Millis)>& pause)
        TRUEUP_EXCLUDES(mutex_);
    /// A source that is not asked stays in doubt.
    Admission look(const std::string& name) const TRUEUP_EXCLUDES(mutex_);
    /// The sources in doubt, each with why.
    std::vector<std::pair<std::string, std::string>> doubts() const TRUEUP_EXCLUDES(mutex_);
    /// Waits for news, at most so long; not at all once stopped.
    void wait(Millis at_most) const TRUEUP_EXCLUDES(mutex_);
    /// Calls `heard` at each answer from now on, by the threads that ask.
    void tell(std::function<void()> heard) TRUEUP_EXCLUDES(mutex_);
    /// Asks nobody any more.
    void stop() TRUEUP_EXCLUDES(mutex_);

  private:
    struct One {
        SourceCheck check;
        bool asked = false;
        std::string flaw;  ///< what the server said is wrong, last
        Admission admission;
        WaitNews news;
    };
    void run(One& one) TRUEUP_EXCLUDES(mutex_);
    /// Takes an answer, and logs what is news.
    bool take(One& one, const Result<std::vector<std::string>>& answer) TRUEUP_REQUIRES(mutex_);
    void log(One& one) TRUEUP_REQUIRES(mutex_);

    const Pauses pauses_;
    mutable Mutex mutex_;
    mutable CondVar news_;
    bool stopping_ TRUEUP_GUARDED_BY(mutex_) = false;
    bool talks_ TRUEUP_GUARDED_BY(mutex_) = false;
    std::function<void()> heard_ TRUEUP_GUARDED_BY(mutex_);
    std::map<std::string, One> all_ TRUEUP_GUARDED_BY(mutex_);
    std::vector<std::thread> threads_;
};

}  // namespace trueup::apps
