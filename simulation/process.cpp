#include "simulation/process.h"

#include <algorithm>
#include <utility>

namespace trueup::simulation {

namespace {

constexpr Millis kSoon{2};  // until a process that has news gets the processor

}  // namespace

void Process::wake() {
    wake_at(around_.scheduler.steady_now() + around_.random.between(Millis{0}, kSoon));
}

void Process::wake_at(SteadyTime when) {
    if (next_ <= when) return;
    next_ = when;
    around_.scheduler.at(when, [this, when] {
        if (next_ != when) return;  // it was woken sooner
        next_ = SteadyTime::max();
        run();
    });
}

void Process::run() {
    const SteadyTime now = around_.scheduler.steady_now();
    if (now < asleep_until_) return wake_at(asleep_until_);
    if (!running_) {
        running_ = true;
        life_ = CrashPoint();
        start();
    }
    const Millis nap = step();
    if (life_.alive()) return wake_at(now + nap);
    die();
}

void Process::die() {
    end();
    log_.reset();
    running_ = false;
    asleep_until_ = around_.scheduler.steady_now() + down_;
    wake_at(asleep_until_);
}

void Process::crash_at(std::uint64_t n, Millis down) {
    life_.die_at(n);
    down_ = down;
    wake();
}

void Process::kill() {
    life_.die();
    if (running_) die();
}

void Process::sleep(Millis time) { asleep_until_ = around_.scheduler.steady_now() + time; }

void Process::cut_off(Millis time) {
    if (!log_) return;
    log_->cut_off(true);
    around_.scheduler.after(time, [this, cut = ++cuts_] {
        if (log_ && cut == cuts_) log_->cut_off(false);
    });
}

void Process::lag(Millis longest) {
    longest_lag_ = longest;
    if (log_) log_->draw_lags(longest);
}

void Process::heal() {
    asleep_until_ = std::min(asleep_until_, around_.scheduler.steady_now());
    if (life_.alive()) life_ = CrashPoint();
    ++cuts_;
    if (log_) log_->cut_off(false);
    lag(around_.broker.troubles().longest_lag);
    wake();
}

void Process::connect(const std::vector<Topic>& news) {
    log_ = around_.broker.client(life_, news, [this] { wake(); });
    log_->draw_lags(std::max(longest_lag_, around_.broker.troubles().longest_lag));
}

}  // namespace trueup::simulation
