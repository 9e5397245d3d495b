#include "connectors/postgres/slot_acks.h"

#include "engine/base/guard.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors::postgres {

namespace {

constexpr Millis kQuietEvery{1000};

}  // namespace

std::optional<Fact> SlotAcks::quiet_until(Lsn end, SteadyTime now) {
    if (outstanding_.empty() || !TRUEUP_GUARD("postgres_confirms_durable")) {
        // Not worth a status update of its own: it goes with the next one.
        durable_ = std::max(durable_, end);
        return std::nullopt;
    }
    if (end <= outstanding_.back()) return std::nullopt;
    if (last_quiet_ && now - *last_quiet_ < kQuietEvery) return std::nullopt;
    last_quiet_ = now;
    published(end);
    Fact confirm;
    confirm.kind = Fact::Kind::kConfirm;
    confirm.confirm = end;
    return confirm;
}

void SlotAcks::delivered(Lsn end) {
    if (std::find(outstanding_.begin(), outstanding_.end(), end) == outstanding_.end()) return;
    // A transaction that came again after a reconnect is there twice; all of its copies are equal.
    while (!outstanding_.empty() && outstanding_.front() <= end) outstanding_.pop_front();
    if (end <= durable_) return;
    durable_ = end;
    moved_ = true;
}

bool SlotAcks::take_moved() { return std::exchange(moved_, false); }

}  // namespace trueup::connectors::postgres
