#include "engine/ports/wakeup.h"

namespace trueup::ports {

Wakeup::Listener::~Listener() {
    const std::lock_guard lock(of_.listening_);
    std::erase(of_.listeners_, this);
}

void Wakeup::signal() {
    {
        const std::lock_guard lock(mutex_);
        ++count_;
    }
    more_.notify_all();
    const std::lock_guard lock(listening_);
    for (const Listener* listener : listeners_) listener->heard_();
}

bool Wakeup::wait(std::uint64_t seen, Millis max_wait) {
    std::unique_lock lock(mutex_);
    return more_.wait_for(lock, max_wait, [&] { return count_ > seen; });
}

std::unique_ptr<Wakeup::Listener> Wakeup::listen(std::function<void()> heard) {
    std::unique_ptr<Listener> listener(new Listener(*this, std::move(heard)));
    const std::lock_guard lock(listening_);
    listeners_.push_back(listener.get());
    return listener;
}

}  // namespace trueup::ports
