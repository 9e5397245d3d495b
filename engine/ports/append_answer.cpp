#include "engine/ports/append_answer.h"

#include "engine/base/check.h"

#include <utility>

namespace trueup::ports {

namespace {

class Pending final : public PendingAppend {
  public:
    explicit Pending(std::shared_ptr<AppendAnswer> answer) : answer_(std::move(answer)) {}
    ~Pending() override { answer_->forget(); }
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    bool ready() const override { return answer_->ready(); }
    Result<Appended> take() override { return answer_->take(); }
    void tell(std::function<void()> heard) override { answer_->tell(std::move(heard)); }

  private:
    std::shared_ptr<AppendAnswer> answer_;
};

}  // namespace

void AppendAnswer::give(Result<Appended> result) {
    {
        const MutexLock lock(mutex_);
        result_ = std::move(result);
        ready_.store(true, std::memory_order_release);
        // Under the mutex: who forgets is not told any more once it has returned.
        if (heard_) heard_();
    }
    given_.notify_all();
}

void AppendAnswer::tell(std::function<void()> heard) {
    const MutexLock lock(mutex_);
    heard_ = std::move(heard);
    if (ready()) heard_();
}

void AppendAnswer::forget() {
    const MutexLock lock(mutex_);
    heard_ = nullptr;
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
