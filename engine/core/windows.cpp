#include "engine/core/windows.h"

#include <algorithm>

namespace trueup::core {

namespace {

constexpr Millis kMinute{60'000};
constexpr Millis kDay = 24 * 60 * kMinute;
constexpr Millis kWeek = 7 * kDay;

/// 1970 began on a Thursday; weeks are counted from Mondays.
Millis since_monday(BrokerTime now) { return (now.time_since_epoch() + 3 * kDay) % kWeek; }

/// Calls `visit(opens, closes)` for each opening of the week, as times since Monday.
template <typename Visitor>
void each_opening(std::span<const Window> windows, Visitor&& visit) {
    for (const Window& window : windows) {
        for (int day = 0; day < 7; ++day) {
            const bool open = ((window.days >> static_cast<unsigned>(day)) & 1U) != 0;
            if (!open || window.from >= window.to) continue;
            visit(day * kDay + window.from * kMinute, day * kDay + window.to * kMinute);
        }
    }
}

}  // namespace

std::optional<Millis> opens_in(std::span<const Window> windows, BrokerTime now) {
    if (windows.empty()) return Millis{0};
    const Millis at = since_monday(now);
    std::optional<Millis> soonest;
    each_opening(windows, [&](Millis opens, Millis closes) {
        const bool inside = at >= opens && at < closes;
        const Millis wait = inside ? Millis{0} : (opens - at + kWeek) % kWeek;
        soonest = std::min(soonest.value_or(wait), wait);
    });
    return soonest;
}

Millis closes_in(std::span<const Window> windows, BrokerTime now) {
    if (windows.empty()) return kWeek;
    // From one window right into the next one, at most once around.
    const Millis at = since_monday(now);
    Millis end{0};
    for (bool further = true; further && end < kWeek;) {
        further = false;
        each_opening(windows, [&](Millis opens, Millis closes) {
            const Millis place = (at + end) % kWeek;
            if (place < opens || place >= closes) return;
            end += closes - place;
            further = true;
        });
    }
    return end;
}

}  // namespace trueup::core
