#include "engine/core/awaited.h"

#include <algorithm>

namespace trueup::core {

void Awaited::wait_for(const Wait& wait) {
    if (std::find(waits_.begin(), waits_.end(), wait) == waits_.end()) waits_.push_back(wait);
}

/// Registers what the verdicts wait for now in place of what they waited for before.
void Awaited::renew_waits(Entry& entry) {
    Subject& subject = entry.subject;
    // A wait that woke this subject was taken out of the table: then also when nothing differs.
    if (waits_ == subject.waits && !entry.woken) return;
    const Waiter who(subject.key, entry.hash);
    const auto goes_on = [&](const std::vector<Wait>& waits, const Wait& wait) {
        return !entry.woken && std::find(waits.begin(), waits.end(), wait) != waits.end();
    };
    for (const Wait& wait : subject.waits) {
        if (!goes_on(waits_, wait)) state_.waits.remove(who, wait);
    }
    for (const Wait& wait : waits_) {
        if (!goes_on(subject.waits, wait)) state_.waits.add(who, wait);
    }
    if (waits_ == subject.waits) return;
    subject.waits = waits_;
    state_.subjects.mark_dirty(entry);
}

}  // namespace trueup::core
