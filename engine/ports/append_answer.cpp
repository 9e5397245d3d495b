#include "engine/ports/append_answer.h"

#include "engine/base/check.h"

#include <utility>

namespace trueup::ports {

namespace {

class Pending final : public PendingAppend {
  public:
    explicit Pending(std::shared_ptr<AppendAnswer> answer) : answer_(std::move(answer)) {}
    bool ready() const override { return answer_->ready(); }
    Result<Appended> take() override { return answer_->take(); }

  private:
    std::shared_ptr<AppendAnswer> answer_;
};

}  // namespace

void AppendAnswer::give(Result<Appended> result) {
    {
        const MutexLock lock(mutex_);
        result_ = std::move(result);
        ready_.store(true, std::memory_order_release);
    }
    given_.notify_all();
}

Result<Appended> AppendAnswer::take() {
    const MutexLock lock(mutex_);
    while (!ready()) given_.wait(mutex_);
    TRUEUP_CHECK(result_.has_value());  // taken once
    Result<Appended> result = std::move(*result_);
    result_.reset();
    return result;
}

std::unique_ptr<PendingAppend> pending(std::shared_ptr<AppendAnswer> answer) {
    return std::make_unique<Pending>(std::move(answer));
}

}  // namespace trueup::ports
