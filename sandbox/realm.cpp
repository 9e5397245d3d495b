#include "sandbox/realm.h"

#include <algorithm>

namespace trueup::sandbox {

std::optional<Failure> Realm::take_failure(Op op) {
    const auto found = failures.find(op);
    if (found == failures.end() || found->second.empty()) return std::nullopt;
    Failure failure = found->second.front();
    found->second.pop_front();
    if (failure.kind == Failure::Kind::kShortPage) short_page_at = clock.steady_now();
    return failure;
}

void Realm::add_effect(Effect effect) {
    records.emplace_back(effect);
    effects.push_back(std::move(effect));
}

void Realm::wake(bool& woken) {
    {
        const MutexLock lock(mutex);
        woken = true;
    }
    changed.notify_all();
}

Act::Act(Realm& realm) : realm_(realm), now_{}, wall_ms_(0) {
    realm.mutex.lock();
    realm_.mutex.assert_held();
    settle();
}

Act::~Act() {
    save();
    realm_.mutex.unlock();
}

void Act::settle() {
    now_ = realm_.clock.steady_now();
    wall_ms_ = realm_.clock.wall_millis();
    realm_.api.settle(now_);
}

void Act::save() {
    if (realm_.records.empty()) return;
    if (realm_.file && realm_.file_status.ok()) {
        // A confirmed position alone need not be on disk: a real server saves it at checkpoints.
        const bool sync =
            std::any_of(realm_.records.begin(), realm_.records.end(),
                        [](const Record& one) { return !std::holds_alternative<Slot>(one); });
        realm_.file_status = realm_.file->append(realm_.records, sync);
    }
    if (realm_.observer) realm_.observer(realm_.records);
    realm_.records.clear();
    realm_.changed.notify_all();
}

void Act::wait(Millis max_wait, std::optional<SteadyTime> wake_at, bool& woken) {
    realm_.mutex.assert_held();
    save();
    if (wake_at) max_wait = std::min(max_wait, std::max(Millis(1), *wake_at - now_));
    if (realm_.settings.block_in_poll && max_wait.count() > 0 && !woken) {
        realm_.changed.wait_until(realm_.mutex, CondVar::in(max_wait));
    }
    woken = false;
    settle();
}

}  // namespace trueup::sandbox
