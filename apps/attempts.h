// Trying again what nobody could answer yet: brokers that come up, or elect leaders, need a moment.
#pragma once

#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/ports/clock.h"

#include <spdlog/spdlog.h>

#include <functional>

namespace trueup::apps {

inline constexpr Millis kAttemptPause{500};
inline constexpr Millis kBrokersComeUp{50'000};  // an attempt may take 10 s

/// Attempts until it is no kRetry, for about a minute at most. `pause` waits; true: give up.
template <typename Attempt>
auto attempt_for_a_minute(const Attempt& attempt, const std::function<bool(Millis)>& pause) {
    ports::Clock& clock = ports::system_clock();
    const SteadyTime limit = clock.steady_now() + kBrokersComeUp;
    for (;;) {
        auto done = attempt();
        const bool again = !done && done.error().next == Next::kRetry;
        if (!again || clock.steady_now() >= limit) return done;
        spdlog::warn("{}; waiting for it, a minute at most", done.error().what);
        if (pause(kAttemptPause)) return done;
    }
}

}  // namespace trueup::apps
