// Virtual time, and everything that is to happen in it. Nothing in a simulation happens but as an
// event of this queue; what is due at one moment happens in an order that the seed draws.
#pragma once

#include "engine/ports/clock.h"
#include "simulation/random.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace trueup::simulation {

/// Not thread-safe.
class Scheduler final : public ports::Clock {
  public:
    explicit Scheduler(std::uint64_t seed) : random_(seed) {}

    SteadyTime steady_now() override { return now_; }
    std::int64_t wall_millis() override { return wall_at(now_); }
    /// What the wall clock shows then.
    static std::int64_t wall_at(SteadyTime time) { return kBegin + (time - kStart).count(); }
    /// Since the simulation began.
    Millis since() const { return now_ - kStart; }

    void at(SteadyTime when, std::function<void()> what);
    void after(Millis delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }

    /// Lets everything happen that is due before `end` since the beginning, and stands there then.
    void run_until(Millis end);

    std::uint64_t events() const { return events_; }

  private:
    static constexpr SteadyTime kStart{Millis{1'000}};
    static constexpr std::int64_t kBegin = 1'700'000'000'000;  ///< the wall clock's start
    struct Event {
        SteadyTime when;
        std::uint64_t turn;  ///< drawn: the order within a moment
        std::uint64_t number;
        std::uint32_t place;  ///< of what happens, in `acts_`
        /// std::push_heap keeps the largest in front.
        bool operator<(const Event& other) const {
            if (when != other.when) return when > other.when;
            if (turn != other.turn) return turn > other.turn;
            return number > other.number;
        }
    };

    Random random_;
    SteadyTime now_ = kStart;
    std::uint64_t events_ = 0;
    std::vector<Event> queue_;  ///< a heap
    std::vector<std::function<void()>> acts_;
    std::vector<std::uint32_t> free_;  ///< places in `acts_`
};

}  // namespace trueup::simulation
