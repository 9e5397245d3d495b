#include "apps/stop_signal.h"

#include <unistd.h>

#include <csignal>
#include <ctime>

namespace trueup::apps {

namespace {

constexpr int kNews = SIGUSR1;

sigset_t stop_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

sigset_t with_news() {
    sigset_t set = stop_signals();
    sigaddset(&set, kNews);
    return set;
}

/// The signal that came; not above 0: none did.
int next_of(const sigset_t& set, Millis max_wait) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(max_wait);
    timespec limit{};
    limit.tv_sec = seconds.count();
    limit.tv_nsec = std::chrono::nanoseconds(max_wait - seconds).count();
    return sigtimedwait(&set, nullptr, &limit);
}

}  // namespace

StopSignal::StopSignal() {
    const sigset_t set = with_news();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

bool StopSignal::wait(Millis max_wait) {
    asked_ = asked_ || again(max_wait);
    return asked_;
}

bool StopSignal::wait_for_news(Millis max_wait) {
    if (asked_) return true;
    const int came = next_of(with_news(), max_wait);
    // Before the caller looks: what comes from here on ends the next wait.
    if (came == kNews) woken_ = false;
    asked_ = came > 0 && came != kNews;
    return asked_;
}

bool StopSignal::again(Millis max_wait) { return next_of(stop_signals(), max_wait) > 0; }

void StopSignal::wake() {
    if (!woken_.exchange(true)) ::kill(::getpid(), kNews);
}

}  // namespace trueup::apps
