// Trying again what nobody could answer yet, for as long as it takes: servers come back, and a
// process that ended meanwhile would only be started again.
#pragma once

#include "engine/base/error.h"
#include "engine/base/time.h"
#include "engine/ports/clock.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace trueup::apps {

/// Waits between attempts, each twice as long as the one before.
class Pauses {
  public:
    Pauses(Millis first, Millis most) : next_(first), most_(most) {}
    Millis next() {
        const Millis pause = next_;
        next_ = std::min(most_, 2 * next_);
        return pause;
    }

  private:
    Millis next_;
    Millis most_;
};

/// Says what is waited for once, when it is something else than before, and every ten minutes.
class WaitNews {
  public:
    /// Is this to be said now?
    bool due(const std::string& what, SteadyTime now) {
        if (said_ == what && now - at_ < kRemindEvery) return false;
        said_ = what;
        at_ = now;
        return true;
    }
    /// Was anything said since the last call?
    bool take_said() { return !std::exchange(said_, {}).empty(); }

  private:
    static constexpr Millis kRemindEvery = std::chrono::minutes(10);
    std::string said_;
    SteadyTime at_{};
};

/// How the start waits for what is not there yet.
struct Waiting {
    std::function<bool(Millis)> pause;             ///< true: give up
    std::function<void(const std::string&)> tell;  ///< what is waited for; empty: for nothing
};

/// Attempts until it is no kRetry. An error of kRetry says that `pause` gave up.
template <typename Attempt>
auto attempt_until_answered(const Attempt& attempt, const Waiting& waiting) {
    ports::Clock& clock = ports::system_clock();
    Pauses pauses(Millis{500}, Millis{10'000});
    WaitNews news;
    for (;;) {
        auto done = attempt();
        const bool again = !done && done.error().next == Next::kRetry;
        waiting.tell(again ? done.error().what : std::string());
        if (!again) return done;
        if (news.due(done.error().what, clock.steady_now())) {
            spdlog::warn("{}; retrying", done.error().what);
        }
        if (waiting.pause(pauses.next())) return done;
    }
}

}  // namespace trueup::apps
