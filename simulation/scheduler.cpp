#include "simulation/scheduler.h"

#include <algorithm>
#include <utility>

namespace trueup::simulation {

void Scheduler::at(SteadyTime when, std::function<void()> what) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(acts_.size()));
        acts_.emplace_back();
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    acts_[place] = std::move(what);
    queue_.push_back({std::max(when, now_), random_.next(), events_++, place});
    std::push_heap(queue_.begin(), queue_.end());
}

void Scheduler::run_until(Millis end) {
    const SteadyTime last = kStart + end;
    while (!queue_.empty() && queue_.front().when < last) {
        std::pop_heap(queue_.begin(), queue_.end());
        const Event event = queue_.back();
        queue_.pop_back();
        now_ = event.when;
        const std::function<void()> what = std::move(acts_[event.place]);
        free_.push_back(event.place);
        what();
    }
    now_ = std::max(now_, last);
}

}  // namespace trueup::simulation
