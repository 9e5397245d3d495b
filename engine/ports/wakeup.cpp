#include "engine/ports/wakeup.h"

namespace trueup::ports {

Wakeup::Listener::~Listener() {
    const MutexLock lock(of_.listening_);
    std::erase(of_.listeners_, this);
}

void Wakeup::signal() {
    {
        const MutexLock lock(mutex_);
        ++count_;
    }
    more_.notify_all();
    const MutexLock lock(listening_);
    for (const Listener* listener : listeners_) listener->heard_();
}

bool Wakeup::wait(std::uint64_t seen, Millis max_wait) {
    const CondVar::Deadline until = CondVar::in(max_wait);
    const MutexLock lock(mutex_);
    while (count_ <= seen && more_.wait_until(mutex_, until)) {
    }
    return count_ > seen;
}

std::unique_ptr<Wakeup::Listener> Wakeup::listen(std::function<void()> heard) {
    std::unique_ptr<Listener> listener(new Listener(*this, std::move(heard)));
    const MutexLock lock(listening_);
    listeners_.push_back(listener.get());
    return listener;
}

}  // namespace trueup::ports
