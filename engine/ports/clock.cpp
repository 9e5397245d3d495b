#include "engine/ports/clock.h"

namespace trueup::ports {

namespace {

class SystemClock final : public Clock {
  public:
    SteadyTime steady_now() override {
        const auto since = std::chrono::steady_clock::now().time_since_epoch();
        return SteadyTime(std::chrono::duration_cast<Millis>(since));
    }
    std::int64_t wall_millis() override {
        const auto since = std::chrono::system_clock::now().time_since_epoch();
        return std::chrono::duration_cast<Millis>(since).count();
    }
};

}  // namespace

Clock& system_clock() {
    static SystemClock clock;
    return clock;
}

}  // namespace trueup::ports
