// What the HTTP side shows of a Host, made of the copies that its threads leave.
#include "apps/host.h"
#include "apps/version.h"
#include "engine/core/budget.h"
#include "engine/ports/clock.h"

namespace trueup::apps {

namespace {

std::vector<api::NamedCount> fold_counters(const core::Counters& c) {
    return {{"items", c.items},
            {"duplicates", c.duplicates},
            {"gaps", c.gaps},
            {"parked", c.parked},
            {"foreign_tokens", c.foreign_tokens},
            {"repeated_seq", c.repeated_seq},
            {"holes", c.holes},
            {"unchanged", c.unchanged},
            {"stale_versions", c.stale_versions},
            {"swept", c.swept},
            {"quarantines", c.quarantines},
            {"clamped_steps", c.clamped_steps},
            {"unknown_outcomes", c.unknown_outcomes},
            {"late_outcomes", c.late_outcomes},
            {"unauthenticated_requests", c.unauthenticated}};
}

void add_executor(api::Snapshot& view, const executors::DispatcherStats& stats) {
    view.executor_counters = {
        {"known", stats.known},     {"duplicates", stats.duplicates},
        {"parked", stats.parked},   {"unauthenticated", stats.unauthenticated},
        {"skipped", stats.skipped}, {"append_failures", stats.append_failures}};
    view.held_commands = stats.held;
    const auto& bounds = executors::CheckToWrite::kBoundsMillis;
    view.check_to_write_bounds_ms.assign(bounds.begin(), bounds.end());
    view.check_to_write_counts.assign(stats.check_to_write.counts.begin(),
                                      stats.check_to_write.counts.end());
    view.check_to_write_sum_seconds = static_cast<double>(stats.check_to_write.sum_micros) / 1e6;
}

double in_seconds(Millis time) { return static_cast<double>(time.count()) / 1000.0; }

void add_tallies(api::Snapshot& view, const core::Meta& meta) {
    const core::Policy* policy = core::find_policy(meta.settings.use);
    if (policy == nullptr) return;
    for (std::size_t i = 0; i < policy->tallies.size(); ++i) {
        view.tallies.push_back({std::string(policy->tallies[i]), meta.tallies[i]});
    }
}

void add_passes(api::Snapshot& view, const core::Meta& meta) {
    const core::Pass& pass = meta.pass;
    view.passes = pass.completed;
    view.pass_seconds = in_seconds(Millis(static_cast<std::int64_t>(pass.millis)));
    for (const std::int64_t bound : core::Pass::kBoundsSeconds) {
        view.pass_bounds_ms.push_back(1'000 * bound);
    }
    view.pass_counts.assign(pass.durations.begin(), pass.durations.end());
    if (pass.running) view.pass_age_seconds = in_seconds(meta.broker_now - pass.started);
    view.pauses = meta.pauses.size();
}

api::SourceView source_view(const core::SourceState& source, const core::Meta& meta) {
    api::SourceView view;
    view.name = source.name;
    view.known = source.known;
    view.quarantined = source.quarantined_at != 0;
    view.objects = source.population;
    const bool proven = source.complete_as_of != BrokerTime{};
    const Millis age = meta.broker_now - source.complete_as_of;
    view.fresh = proven && age <= meta.settings.stale_after;
    if (proven) view.progress_age_seconds = in_seconds(age);
    if (proven && source.source_clock != SourceTime{}) {
        view.clock_skew_seconds = in_seconds(source.source_clock.time_since_epoch() -
                                             source.complete_as_of.time_since_epoch());
    }
    return view;
}

}  // namespace

void Host::add_checkpoint(api::Snapshot& view) const {
    const std::lock_guard lock(mutex_);
    view.checkpoint_offset = checkpoint_offset_;
    const Millis age(ports::system_clock().wall_millis() - checkpoint_made_at_);
    if (checkpoint_made_at_ != 0) view.checkpoint_age_seconds = in_seconds(age);
}

api::Snapshot Host::snapshot() const {
    const runtime::ShardStatus status = shard_->status();
    const core::Meta& meta = status.meta;
    api::Snapshot view;
    view.version = kVersion;
    view.refused = status.refused.empty() ? fatal() : status.refused;
    view.caught_up = status.caught_up;
    view.journal_offset = meta.applied;
    view.journal_time_seconds = in_seconds(meta.now.time_since_epoch());
    view.subjects = meta.subjects;
    view.open_findings = meta.open_findings;
    view.outbox = meta.outbox;
    add_tallies(view, meta);
    add_passes(view, meta);
    view.cached_bytes = status.cached_bytes;
    add_checkpoint(view);
    for (const auto& source : sources_) {
        api::SourceView shown;
        shown.name = source->spec.name;
        for (const core::SourceState& known : meta.sources) {
            if (known.name == source->spec.name) shown = source_view(known, meta);
        }
        const std::lock_guard lock(source->mutex);
        shown.answering = source->health.answering;
        shown.trouble = source->health.trouble;
        shown.failures = source->health.failures;
        shown.epochs = source->health.epochs;
        shown.published = source->published;
        view.sources.push_back(std::move(shown));
    }
    for (std::size_t i = 0; i < meta.rules.size() && i < meta.settings.rules.size(); ++i) {
        const core::RuleCounters& counts = meta.rules[i];
        view.rules.push_back(
            {meta.settings.rules[i].rule, std::string(name_of(meta.settings.rules[i].mode)),
             counts.detected, counts.commands, counts.retracted, counts.mended,
             core::left_of(meta.settings.rules[i].budget, counts.spending, meta), counts.outcomes});
    }
    view.fold_counters = fold_counters(meta.counters);
    add_executor(view, dispatcher_->stats());
    return view;
}

}  // namespace trueup::apps
