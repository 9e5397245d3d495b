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
    if (asked_) return true;
    const sigset_t set = stop_signals();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(max_wait);
    timespec limit{};
    limit.tv_sec = seconds.count();
    limit.tv_nsec = std::chrono::nanoseconds(max_wait - seconds).count();
    asked_ = sigtimedwait(&set, nullptr, &limit) > 0;
    return asked_;
}

}  // namespace trueup::apps
