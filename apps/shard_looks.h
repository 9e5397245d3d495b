// Questions of people about one subject, which only the shard's own thread may look up: they wait
// in a queue until that thread comes to them between two rounds.
//
// `ask` is for any thread, `answer` and `close` for the shard's.
#pragma once

#include "engine/base/mutex.h"
#include "engine/base/result.h"
#include "engine/core/look.h"
#include "engine/runtime/shard.h"

#include <cstddef>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

namespace trueup::apps {

class ShardLooks {
  public:
    /// `wake` brings the shard's thread out of its wait.
    explicit ShardLooks(std::function<void()> wake) : wake_(std::move(wake)) {}

    /// Waits for at most `timeout`. nullopt: there is no such subject. kRetry: the shard did not
    /// come to it, or has ended.
    Result<std::optional<core::SubjectLook>> ask(const std::string& key, Millis timeout)
        TRUEUP_EXCLUDES(mutex_);

    /// Answers what was asked so far.
    void answer(runtime::Shard& shard) TRUEUP_EXCLUDES(mutex_);
    /// Whoever asks from now on is told that the shard has ended.
    void close() TRUEUP_EXCLUDES(mutex_);

  private:
    static constexpr std::size_t kMost = 64;  ///< questions that wait at once
    using Answer = std::optional<core::SubjectLook>;
    struct Question {
        std::string key;
        std::promise<Answer> answer;
    };
    std::vector<Question> take() TRUEUP_EXCLUDES(mutex_);

    const std::function<void()> wake_;
    Mutex mutex_;
    std::vector<Question> questions_ TRUEUP_GUARDED_BY(mutex_);
    bool closed_ TRUEUP_GUARDED_BY(mutex_) = false;
};

}  // namespace trueup::apps
