// What the HTTP side shows of a Host, made of the copies that its threads leave.
#include "apps/host.h"
#include "engine/base/hash.h"
#include "engine/base/version.h"
#include "engine/core/budget.h"

#include <algorithm>
#include <array>
#include <system_error>

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
    view.blocked_commands = stats.blocked;
    view.executor_partitions = stats.partitions;
    view.executor_trouble = stats.trouble;
    const auto& bounds = executors::CheckToWrite::kBoundsMillis;
    view.check_to_write_bounds_ms.assign(bounds.begin(), bounds.end());
    view.check_to_write_counts.assign(stats.check_to_write.counts.begin(),
                                      stats.check_to_write.counts.end());
    view.check_to_write_sum_seconds = static_cast<double>(stats.check_to_write.sum_micros) / 1e6;
}

double in_seconds(Millis time) { return static_cast<double>(time.count()) / 1000.0; }

void add_tallies(api::Snapshot& view, const core::Meta& meta, const core::Plan& plan) {
    view.count_reasons = plan.count_reasons();
    for (std::size_t i = 0; i < plan.tallies.size(); ++i) {
        const core::PlanTally& tally = plan.tallies[i];
        const bool unknown_words = tally.unlisted.role != kNoRole;
        view.tallies.push_back({unknown_words ? std::string(api::kUnknownWords) : tally.name,
                                tally.label, tally.value, meta.tallies[i]});
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
    if (pass.running) view.pass_started_seconds = in_seconds(Millis(to_millis(pass.started)));
}

void add_pauses(api::Snapshot& view, const core::Meta& meta) {
    for (const core::Pause& pause : meta.pauses) {
        const bool one = pause.rule.value() < meta.settings.rules.size();
        view.pauses.push_back({one ? meta.settings.rules[pause.rule.value()].rule : std::string(),
                               pause.by, pause.comment, to_millis(pause.since)});
    }
}

api::QuarantineView quarantine_view(const core::SourceState& source, const SourceSettings& settings,
                                    const core::Meta& meta) {
    // The API knows nothing of the core, so it has a word of its own for each of these.
    static constexpr std::array kKinds{api::Quarantine::kNone, api::Quarantine::kDrop,
                                       api::Quarantine::kEmpty, api::Quarantine::kWrong,
                                       api::Quarantine::kRewound};
    if (source.misread) {
        return {.kind = api::Quarantine::kMisread,
                .read_by = to_hex(source.mapping),
                .wanted = to_hex(settings.mapping)};
    }
    return {kKinds[static_cast<std::size_t>(source.quarantine)], source.quarantined_at,
            settings.at_least, meta.present};
}

api::SourceView source_view(const core::SourceState& source, const core::Meta& meta) {
    api::SourceView view;
    view.name = source.name;
    view.known = source.known;
    view.objects = source.population;
    const bool proven = source.complete_as_of != BrokerTime{};
    const Millis age = meta.broker_now - source.complete_as_of;
    view.fresh = proven && age <= meta.settings.stale_after;
    if (proven) view.lag_seconds = in_seconds(age);
    if (proven && source.source_clock != SourceTime{}) {
        view.clock_skew_seconds = in_seconds(source.source_clock.time_since_epoch() -
                                             source.complete_as_of.time_since_epoch());
    }
    return view;
}

void add_rules(api::Snapshot& view, const core::Meta& meta, const core::Plan& plan) {
    for (std::size_t i = 0; i < meta.rules.size() && i < meta.settings.rules.size(); ++i) {
        const core::RuleCounters& counts = meta.rules[i];
        view.rules.push_back(
            {meta.settings.rules[i].rule, std::string(name_of(meta.settings.rules[i].mode)),
             i < plan.rules.size() ? plan.rules[i].does : std::string(), counts.detected,
             counts.commands, counts.retracted, counts.mended,
             core::left_of(meta.settings.rules[i].budget, counts.spending, meta), counts.outcomes});
        if (i >= plan.rules.size() || i >= meta.enabling.size()) continue;
        const core::Enabling& enabling = meta.enabling[i];
        const Hash128& text = plan.rules[i].text;
        api::RuleView& rule = view.rules.back();
        if (!text.none()) rule.text = to_hex(text);
        const RuleSettings& settings = meta.settings.rules[i];
        rule.waits_ms = (settings.grace + settings.create_window).count();
        rule.enabled = enabling.has(text);
        rule.former = enabling.texts.size() > (rule.enabled ? 1U : 0U);
        rule.shown = enabling.looked >= kFirstOffset;
    }
}

api::Snapshot shard_view(const ShardHost& shard) {
    const runtime::ShardStatus status = shard.status();
    const core::Meta& meta = status.meta;
    api::Snapshot view;
    view.refused = status.refused.empty() ? shard.fatal() : status.refused;
    view.caught_up = status.caught_up;
    view.active_shards = status.active ? 1 : 0;
    view.journal_offset = meta.applied;
    view.journal_time_seconds = in_seconds(meta.now.time_since_epoch());
    view.subjects = meta.subjects;
    view.open_findings = meta.open_findings;
    view.outbox = meta.outbox;
    view.endings = meta.endings;
    view.endings_stuck = meta.stuck;
    static const core::Plan kNone;
    const core::Plan& plan = status.plan == nullptr ? kNone : *status.plan;
    add_tallies(view, meta, plan);
    add_passes(view, meta);
    add_pauses(view, meta);
    view.shards.push_back({shard.index(), to_millis(meta.now), meta.applied});
    view.cached_bytes = status.cached_bytes;
    const ShardHost::Made made = shard.checkpoint();
    view.checkpoint_offset = made.offset;
    view.checkpoint_timestamp_seconds = in_seconds(Millis(made.at));
    view.journal_begin = shard.journal_begin();
    for (const SourceSettings& known : meta.settings.sources) {
        api::SourceView source;
        source.name = known.name;
        for (const core::SourceState& state : meta.sources) {
            if (state.name != known.name) continue;
            source = source_view(state, meta);
            source.quarantine = quarantine_view(state, known, meta);
        }
        source.answering = source.fresh;  // as far as an engine can tell
        view.sources.push_back(std::move(source));
    }
    add_rules(view, meta, plan);
    view.fold_counters = fold_counters(meta.counters);
    return view;
}

void merge(std::vector<api::NamedCount>& into, const std::vector<api::NamedCount>& from) {
    for (std::size_t i = 0; i < into.size() && i < from.size(); ++i) into[i].value += from[i].value;
}

void merge(std::vector<api::TallyView>& into, const std::vector<api::TallyView>& from) {
    for (std::size_t i = 0; i < into.size() && i < from.size(); ++i) into[i].value += from[i].value;
}
void merge(api::SourceView& into, const api::SourceView& from) {
    into.known = into.known && from.known;
    into.fresh = into.fresh && from.fresh;
    into.answering = into.answering && from.answering;
    if (into.quarantine.kind == api::Quarantine::kNone) into.quarantine = from.quarantine;
    into.objects += from.objects;
    const bool none = into.lag_seconds < 0 || from.lag_seconds < 0;
    into.lag_seconds = none ? -1 : std::max(into.lag_seconds, from.lag_seconds);
}

void merge(api::RuleView& into, const api::RuleView& from) {
    into.detected += from.detected;
    into.commands += from.commands;
    into.retracted += from.retracted;
    into.mended += from.mended;
    into.budget_left += from.budget_left;
    into.enabled = into.enabled && from.enabled;
    into.former = into.former || from.former;
    into.shown = into.shown && from.shown;
    for (std::size_t k = 0; k < into.outcomes.size(); ++k) into.outcomes[k] += from.outcomes[k];
}

/// Several shards as one: what is counted adds up, of what may be wrong the worst counts.
void merge(api::Snapshot& into, const api::Snapshot& from) {
    if (into.refused.empty()) into.refused = from.refused;
    into.caught_up = into.caught_up && from.caught_up;
    into.active_shards += from.active_shards;
    into.journal_offset = std::max(into.journal_offset, from.journal_offset);
    into.journal_time_seconds = std::min(into.journal_time_seconds, from.journal_time_seconds);
    into.subjects += from.subjects;
    into.open_findings += from.open_findings;
    for (std::size_t i = 0; i < into.endings.size(); ++i) into.endings[i] += from.endings[i];
    into.endings_stuck += from.endings_stuck;
    into.outbox += from.outbox;
    merge(into.tallies, from.tallies);
    into.passes = std::min(into.passes, from.passes);
    into.pass_seconds = std::max(into.pass_seconds, from.pass_seconds);
    // The oldest of those that run.
    if (into.pass_started_seconds == 0 ||
        (from.pass_started_seconds > 0 && from.pass_started_seconds < into.pass_started_seconds)) {
        into.pass_started_seconds = from.pass_started_seconds;
    }
    if (into.pauses.size() < from.pauses.size()) into.pauses = from.pauses;
    into.shards.insert(into.shards.end(), from.shards.begin(), from.shards.end());
    into.cached_bytes += from.cached_bytes;
    into.journal_begin = std::max(into.journal_begin, from.journal_begin);
    into.checkpoint_offset = std::min(into.checkpoint_offset, from.checkpoint_offset);
    into.checkpoint_timestamp_seconds =
        std::min(into.checkpoint_timestamp_seconds, from.checkpoint_timestamp_seconds);
    for (std::size_t i = 0; i < into.sources.size() && i < from.sources.size(); ++i) {
        merge(into.sources[i], from.sources[i]);
    }
    for (std::size_t i = 0; i < into.rules.size() && i < from.rules.size(); ++i) {
        merge(into.rules[i], from.rules[i]);
    }
    merge(into.fold_counters, from.fold_counters);
}

/// The source of that name; made where no shard runs here.
api::SourceView& view_of(api::Snapshot& view, const std::string& name) {
    for (api::SourceView& shown : view.sources) {
        if (shown.name == name) return shown;
    }
    view.sources.push_back({});
    view.sources.back().name = name;
    return view.sources.back();
}

}  // namespace

/// What a source's own thread knows of it, over what the shards know.
void Host::add_health(api::Snapshot& view, const Source& source) const {
    api::SourceView* shown = &view_of(view, source.spec.name);
    const runtime::SourceStatus status = source.loop->status();
    const ports::SourceHealth& health = status.health;
    if (shards_.empty()) shown->known = shown->fresh = health.epochs > 0;
    shown->answering = health.answering;
    shown->trouble = health.trouble;
    shown->slot_wal_status = health.slot.wal_status;
    shown->slot_retained_bytes = health.slot.retained_bytes;
    shown->failures = health.failures;
    shown->epochs = health.epochs;
    shown->published = status.published;
}

void Host::add_itself(api::Snapshot& view) const {
    view.version = kVersion;
    view.policy = policy();
    view.exports = settings_.exports;
    view.left_out = left_out();
    view.starting = starting();
    if (settings_.configuration) view.configuration = settings_.configuration->sentence();
}

api::Snapshot Host::snapshot() const {
    api::Snapshot view;
    add_itself(view);
    if (!view.left_out.empty() || !view.starting.empty()) return view;
    view.caught_up = true;
    for (const auto& shard : shards_) {
        if (shard == shards_.front()) {
            view = shard_view(*shard);
        } else {
            merge(view, shard_view(*shard));
        }
    }
    add_itself(view);  // the first shard's view took its place
    view.partitions = settings_.partitions;
    for (const auto& source : sources_) add_health(view, *source);
    if (checks_) {
        for (auto& [name, doubt] : checks_->doubts()) {
            api::SourceView& shown = view_of(view, name);
            shown.answering = false;
            shown.trouble = std::move(doubt);
        }
    }
    view.log_trouble = log_->trouble();
    view.log_bytes = log_bytes_;
    view.state_free_bytes = state_free_bytes_;
    {
        const MutexLock lock(mutex_);
        view.lags = lags_;
    }
    if (dispatcher_) add_executor(view, dispatcher_->stats());
    return view;
}

}  // namespace trueup::apps
