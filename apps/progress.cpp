#include "apps/progress.h"

#include "engine/ports/clock.h"

#include <fmt/core.h>

#include <cstdio>

namespace trueup::apps {

namespace {

constexpr Millis kSaySo{2'000};

}  // namespace

Progress::Progress(StopSignal& stop) : stop_(&stop), said_(ports::system_clock().steady_now()) {}

bool Progress::operator()(const std::string& source, std::uint64_t objects) {
    const SteadyTime now = ports::system_clock().steady_now();
    if (now - said_ >= kSaySo) {
        said_ = now;
        fmt::print(stderr, "reading {}: {} so far ...\n", source, objects);
    }
    return !stop_->wait(Millis{0});
}

}  // namespace trueup::apps
