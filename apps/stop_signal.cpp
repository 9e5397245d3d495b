#include "apps/stop_signal.h"

#include <csignal>
#include <ctime>

namespace trueup::apps {

namespace {

sigset_t stop_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

}  // namespace

StopSignal::StopSignal() {
    const sigset_t set = stop_signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

bool StopSignal::wait(Millis max_wait) {
    asked_ = asked_ || again(max_wait);
    return asked_;
}

bool StopSignal::again(Millis max_wait) {
    const sigset_t set = stop_signals();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(max_wait);
    timespec limit{};
    limit.tv_sec = seconds.count();
    limit.tv_nsec = std::chrono::nanoseconds(max_wait - seconds).count();
    return sigtimedwait(&set, nullptr, &limit) > 0;
}

}  // namespace trueup::apps
