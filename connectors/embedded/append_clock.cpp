#include "connectors/embedded/append_clock.h"

#include <algorithm>

namespace trueup::connectors {

AppendClock::AppendClock(ports::Clock& clock)
    : clock_(clock),
      anchor_(from_millis<BrokerTime>(clock.wall_millis())),
      anchored_(clock.steady_now()) {}

void AppendClock::not_before(BrokerTime t) {
    last_ = std::max(last_, t);
    if (t > anchor_) {
        anchor_ = t;
        anchored_ = clock_.steady_now();
    }
}

BrokerTime AppendClock::now() {
    const auto wall = from_millis<BrokerTime>(clock_.wall_millis());
    const SteadyTime steady = clock_.steady_now();
    const BrokerTime ticked = anchor_ + (steady - anchored_);
    if (wall <= ticked) return ticked;  // C3
    anchor_ = wall;
    anchored_ = steady;
    return wall;
}

BrokerTime AppendClock::next(BrokerTime previous) {
    const BrokerTime here = now();
    const BrokerTime after = std::min(previous + Millis(1), here + kMaxLead);  // C2
    last_ = std::max({last_, here, after});                                    // C1
    return last_;
}

}  // namespace trueup::connectors
