#include "executors/executor_loop.h"

#include <algorithm>
#include <utility>

namespace trueup::executors {

ExecutorLoop::ExecutorLoop(Dispatcher& dispatcher, ExecutorLoopSettings settings)
    : dispatcher_(dispatcher), settings_(std::move(settings)) {}

void ExecutorLoop::step(SteadyTime now, Millis max_wait) {
    if (limit_ != SteadyTime::max()) max_wait = std::clamp(limit_ - now, Millis(0), max_wait);
    dispatcher_.step(now, max_wait);
    const std::string trouble = dispatcher_.stats().trouble;
    if (trouble != trouble_ && !trouble.empty() && settings_.on_trouble) {
        settings_.on_trouble(trouble);
    }
    trouble_ = trouble;
}

std::size_t ExecutorLoop::close(SteadyTime now) {
    dispatcher_.close();
    limit_ = now + settings_.settle_within;
    return dispatcher_.unsettled();
}

bool ExecutorLoop::settled(SteadyTime now) const {
    return now >= limit_ || dispatcher_.unsettled() == 0;
}

}  // namespace trueup::executors
