#include "apps/shard_looks.h"

#include <utility>

namespace trueup::apps {

Result<std::optional<core::SubjectLook>> ShardLooks::ask(const std::string& key, Millis timeout) {
    const Error late{Next::kRetry, Code::kTimeout,
                     "the shard does not answer at the moment; try again"};
    std::future<Answer> answered;
    {
        const MutexLock lock(mutex_);
        if (closed_ || questions_.size() >= kMost) return late;
        Question question{key, {}};
        answered = question.answer.get_future();
        questions_.push_back(std::move(question));
    }
    // Again and again: one that comes before the shard begins to wait wakes nothing.
    constexpr Millis kWakeAgain{50};
    for (Millis waited{0};; waited += kWakeAgain) {
        // A question that is given up stays in the queue; its answer goes nowhere.
        if (waited >= timeout) return late;
        wake_();
        if (answered.wait_for(kWakeAgain) == std::future_status::ready) break;
    }
    try {
        return answered.get();
    } catch (const std::future_error&) {  // it was closed meanwhile
        return late;
    }
}

std::vector<ShardLooks::Question> ShardLooks::take() {
    const MutexLock lock(mutex_);
    return std::exchange(questions_, {});
}

void ShardLooks::answer(runtime::Shard& shard) {
    for (Question& question : take()) {
        question.answer.set_value(shard.look_at(question.key));
    }
}

void ShardLooks::close() {
    {
        const MutexLock lock(mutex_);
        closed_ = true;
    }
    take();  // their promises are broken with it
}

}  // namespace trueup::apps
