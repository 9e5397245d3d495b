#include "engine/runtime/shard_loop.h"

#include <algorithm>
#include <utility>

namespace trueup::runtime {

ShardLoop::ShardLoop(Shard& shard, ports::Log& log, ShardLoopSettings settings)
    : shard_(shard), log_(log), settings_(std::move(settings)) {
    const core::State& state = shard_.state();
    told_ = state.meta.settings;
    if (state.plan != nullptr) told_plan_ = state.plan->number;
}

void ShardLoop::step(Millis max_wait) {
    std::uint64_t seen = log_.changes_seen();
    switch (alive_ ? round(seen) : Round::kFailed) {
        case Round::kBusy:
            return;
        case Round::kQuiet:
            tell();
            return log_.wait(seen, std::min(max_wait, shard_.idle_time()));
        case Round::kFailed:
            // What the failed round itself brought is no reason to try again at once.
            return log_.wait(log_.changes_seen(), std::min(max_wait, kRetryPause));
    }
}

/// `seen`: the log as it was before the step that found nothing to do.
ShardLoop::Round ShardLoop::round(std::uint64_t& seen) {
    for (int i = 0; i < kMostSteps; ++i) {
        // Read before all that it stands for: what comes behind this line ends the wait.
        seen = log_.changes_seen();
        if (stopping_) return Round::kBusy;
        const Result<bool> busy = shard_.step();
        if (!busy) {
            fail(busy.error());
            return Round::kFailed;
        }
        tell_settings();
        if (!*busy) return Round::kQuiet;
    }
    return Round::kBusy;
}

void ShardLoop::fail(const Error& error) {
    if (settings_.on_failure) settings_.on_failure(error);
    if (error.next != Next::kStop) return;
    alive_ = false;
    {
        const MutexLock lock(mutex_);
        fatal_ = error.what;
    }
    if (settings_.on_quiet) settings_.on_quiet({}, {});  // it hurries nobody any more
}

void ShardLoop::tell_settings() {
    const core::State& state = shard_.state();
    const bool same = state.plan == nullptr || state.plan->number == told_plan_;
    if (same || !settings_.on_settings || !shard_.active()) return;
    if (!settings_.on_settings(told_, state.meta.settings)) return;
    told_ = state.meta.settings;
    told_plan_ = state.plan->number;
}

void ShardLoop::tell() {
    if (!settings_.on_quiet) return;
    const ShardStatus status = shard_.status();
    std::vector<std::string> wanted;
    for (const SourceId id : shard_.take_wanted_epochs()) {
        wanted.push_back(status.meta.sources[id].name);
    }
    settings_.on_quiet(status, wanted);
}

std::string ShardLoop::fatal() const {
    const MutexLock lock(mutex_);
    return fatal_;
}

}  // namespace trueup::runtime
