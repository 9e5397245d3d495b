#include "api/metrics.h"

#include "api/metrics_page.h"
#include "engine/model/command.h"
#include "engine/model/topic.h"

#include <cctype>
#include <utility>

namespace trueup::api {

namespace {

void add_disk(MetricsPage& page, const Snapshot& snapshot) {
    if (snapshot.journal_begin >= kFirstOffset) {
        page.gauge("trueup_journal_first_offset", "The oldest journal offset that retention kept.",
                   static_cast<double>(snapshot.journal_begin.value()));
    }
    if (snapshot.log_bytes >= 0) {
        page.gauge("trueup_log_bytes", "Size of the embedded log on disk, in bytes.",
                   static_cast<double>(snapshot.log_bytes));
    }
}

void add_lags(MetricsPage& page, const std::vector<LagView>& lags) {
    for (const LagView& lag : lags) {
        if (lag.topic == name_of(Topic::kJournal)) {
            page.gauge("trueup_journal_lag_records",
                       "Records of the shard's journal that are not folded yet.",
                       static_cast<double>(lag.records),
                       {{"partition", std::to_string(lag.partition.value())}});
            continue;
        }
        const Labels labels{{"topic", lag.topic},
                            {"partition", std::to_string(lag.partition.value())}};
        page.gauge("trueup_consumer_lag_records",
                   "Records of the partition that are not in the journal yet.",
                   static_cast<double>(lag.records), labels);
    }
}

double flag(bool value) { return value ? 1.0 : 0.0; }

void add_checkpoint(MetricsPage& page, const Snapshot& snapshot) {
    if (snapshot.checkpoint_offset < kFirstOffset) return;
    page.gauge("trueup_checkpoint_offset", "Journal offset of the newest checkpoint.",
               static_cast<double>(snapshot.checkpoint_offset.value()));
    page.gauge("trueup_checkpoint_timestamp_seconds",
               "When the newest checkpoint was made, in seconds since 1970.",
               snapshot.checkpoint_timestamp_seconds);
}

void add_sources(MetricsPage& page, const std::vector<SourceView>& sources) {
    for (const SourceView& source : sources) {
        const Labels labels{{"source", source.name}};
        page.gauge("trueup_source_up", "1 while the source's last request succeeded.",
                   flag(source.answering), labels);
        page.gauge("trueup_source_synced",
                   "1 once a complete snapshot was read; 0: absence cannot be known.",
                   flag(source.known), labels);
        page.gauge("trueup_source_fresh", "1 if the source's lag is below stale_after.",
                   flag(source.fresh), labels);
        page.gauge("trueup_source_quarantined",
                   "1 if the source is in quarantine: nothing destructive is done because of it.",
                   flag(source.quarantine.kind != Quarantine::kNone), labels);
        if (source.lag_seconds >= 0) {
            page.gauge("trueup_source_lag_seconds",
                       "Age of the newest proof that the engine's view of the source is complete, "
                       "in seconds.",
                       source.lag_seconds, labels);
        }
        page.gauge("trueup_source_clock_skew_seconds",
                   "How far the source's clock is ahead of the log's, in seconds.",
                   source.clock_skew_seconds, labels);
        page.gauge("trueup_source_objects", "Objects present in the source.",
                   static_cast<double>(source.objects), labels);
        page.counter("trueup_source_published_total", "Records published for the source.",
                     source.published, labels);
        page.counter("trueup_source_failures_total", "Requests to the source that failed.",
                     source.failures, labels);
        page.counter("trueup_source_snapshots_total", "Complete snapshots read from the source.",
                     source.epochs, labels);
        if (source.slot_wal_status.empty()) continue;
        page.gauge("trueup_source_slot_retained_bytes",
                   "WAL that the PostgreSQL server keeps for the source's slot.",
                   static_cast<double>(source.slot_retained_bytes), labels);
        page.gauge("trueup_source_slot_wal_status",
                   "1 for the slot's current status: reserved, extended, unreserved or lost.", 1.0,
                   {{"source", source.name}, {"status", source.slot_wal_status}});
    }
}

/// What the policy asks to be counted under further names, as dashboards know it (G18).
void add_exports(MetricsPage& page, const policy::Exports& exports, const RuleView& rule) {
    const auto value = [&rule](policy::Metric::On on) {
        switch (on) {
            case policy::Metric::On::kFound:
                return rule.detected;
            case policy::Metric::On::kCommanded:
                return rule.commands;
            case policy::Metric::On::kRepaired:
                return rule.mended;
            case policy::Metric::On::kRetracted:
                return rule.retracted;
        }
        return std::uint64_t{0};
    };
    for (const policy::Metric& metric : exports.metrics) {
        if (metric.rule == rule.rule) page.counter(metric.name, metric.help, value(metric.on));
    }
}

void add_rules(MetricsPage& page, const Snapshot& snapshot) {
    for (const RuleView& rule : snapshot.rules) {
        const Labels labels{{"rule", rule.rule}};
        page.counter("trueup_findings_detected_total", "Findings opened.", rule.detected, labels);
        page.counter("trueup_findings_retracted_total", "Findings that ended without a command.",
                     rule.retracted, labels);
        page.counter("trueup_findings_repaired_total", "Findings that a command repaired.",
                     rule.mended, labels);
        page.counter("trueup_commands_issued_total", "Commands issued.", rule.commands, labels);
        page.gauge("trueup_budget_left_commands",
                   "Commands that the rule may still issue in this window.",
                   static_cast<double>(rule.budget_left), labels);
        add_exports(page, snapshot.exports, rule);
        for (std::size_t kind = 1; kind < rule.outcomes.size(); ++kind) {
            page.counter("trueup_outcomes_total", "Outcomes of commands.", rule.outcomes[kind],
                         {{"rule", rule.rule},
                          {"outcome", std::string(name_of(static_cast<OutcomeKind>(kind)))}});
        }
    }
}

/// False: the count has no name of its own.
bool add_export(MetricsPage& page, const policy::Exports& exports, const TallyView& tally) {
    bool any = false;
    for (const policy::Metric& metric : exports.metrics) {
        if (metric.count != tally.name) continue;
        // The text in force may be another one than the file that names them.
        const std::string& label = metric.label.empty() ? tally.label : metric.label;
        const Labels labels = tally.label.empty() ? Labels{} : Labels{{label, tally.word}};
        page.gauge(metric.name, metric.help, static_cast<double>(tally.value), labels);
        any = true;
    }
    return any;
}

void add_tallies(MetricsPage& page, const Snapshot& snapshot) {
    for (const TallyView& tally : snapshot.tallies) {
        if (add_export(page, snapshot.exports, tally)) continue;
        const auto value = static_cast<double>(tally.value);
        if (tally.name == kUnknownWords) {
            page.gauge("trueup_policy_unknown_words",
                       "Objects with a word in this field that the policy does not list.", value,
                       {{"role", tally.label}, {"field", tally.word}});
            continue;
        }
        Labels labels{{"count", tally.name}};
        if (!tally.label.empty()) labels.emplace_back("value", tally.word);
        page.gauge("trueup_policy_counts", "What the policy counts, by the name of the count.",
                   value, labels);
    }
}

void add_passes(MetricsPage& page, const Snapshot& snapshot) {
    page.counter("reconciliation_passes_total", "Complete passes over all subjects.",
                 snapshot.passes);
    page.histogram("reconciliation_pass_duration_seconds",
                   "Duration of complete passes, in seconds.", snapshot.pass_bounds_ms,
                   snapshot.pass_counts, snapshot.pass_seconds);
    if (snapshot.pass_started_seconds > 0) {
        page.gauge(
            "trueup_reconcile_started_timestamp_seconds",
            "When the reconcile that is under way began, in seconds since 1970; absent: none is.",
            snapshot.pass_started_seconds);
    }
}

void add_http(MetricsPage& page, const HttpView& http) {
    for (std::size_t i = 1; i < http.answered.size(); ++i) {
        page.counter("trueup_http_requests_total", "HTTP requests, by status class.",
                     http.answered[i], {{"code", std::to_string(i + 1) + "xx"}});
    }
    static constexpr std::array<const char*, kRefusals> kWhy{
        "unauthorized", "malformed", "too_large", "deadline", "full", "busy"};
    for (std::size_t i = 0; i < kWhy.size(); ++i) {
        page.counter("trueup_http_refused_total",
                     "HTTP requests and connections that were refused, by reason.", http.refused[i],
                     {{"reason", kWhy[i]}});
    }
    page.gauge("trueup_http_connections", "Open HTTP connections.",
               static_cast<double>(http.connections));
}

/// What all policies of the process have in common.
void add_process(MetricsPage& page, const std::vector<Snapshot>& policies, const HttpView& http) {
    page.gauge("trueup_build_info", "Always 1; the labels describe the build.", 1.0,
               {{"version", policies.front().version}});
    // Their folders are on one disk.
    for (const Snapshot& one : policies) {
        if (one.state_free_bytes < 0) continue;
        page.gauge("trueup_state_free_bytes",
                   "Free space on the disk of the state folder, in bytes.",
                   static_cast<double>(one.state_free_bytes));
        break;
    }
    add_http(page, http);
}

void add_engine(MetricsPage& page, const Snapshot& snapshot) {
    page.gauge("trueup_ready", "1 if /readyz has nothing to say of the policy.",
               flag(snapshot.not_ready().empty()));
    page.gauge("trueup_engine_active_shards", "Shards for which this process is the active engine.",
               static_cast<double>(snapshot.active_shards));
    page.gauge("trueup_emitting",
               "1 if the shards publish findings and commands, 0 if one has stopped.",
               flag(snapshot.refused.empty() && snapshot.left_out.empty()));
    page.gauge("trueup_starting", "1 while the process is starting.",
               flag(!snapshot.starting.empty()));
    page.gauge("trueup_journal_offset", "Journal offset folded last.",
               static_cast<double>(snapshot.journal_offset.value()));
    page.gauge(
        "trueup_journal_time_seconds",
        "Journal time: how long Trueup has been watching since the journal began, in seconds.",
        snapshot.journal_time_seconds);
    page.gauge("trueup_subjects", "Subjects in the projection.",
               static_cast<double>(snapshot.subjects));
    page.gauge("trueup_findings_open", "Open findings.",
               static_cast<double>(snapshot.open_findings));
    page.gauge("trueup_outbox_commands", "Commands that have no outcome yet.",
               static_cast<double>(snapshot.outbox));
}

void add_endings(MetricsPage& page, const Snapshot& snapshot) {
    static constexpr std::array<const char*, 5> kStages{"", "taking", "between", "ordered",
                                                        "halted"};
    for (std::size_t i = 1; i < kStages.size(); ++i) {
        page.gauge("trueup_endings", "Terminations under way, by state.",
                   static_cast<double>(snapshot.endings[i]), {{"state", kStages[i]}});
    }
    page.gauge("trueup_endings_stuck", "Terminations without progress for 15 minutes.",
               static_cast<double>(snapshot.endings_stuck));
}

void add_executor(MetricsPage& page, const Snapshot& snapshot) {
    for (const NamedCount& count : snapshot.executor_counters) {
        page.counter("trueup_executor_events_total", "Events of the executors, by kind.",
                     count.value, {{"kind", count.name}});
    }
    page.gauge("trueup_executor_blocked_commands",
               "Commands that were checked and wait for permission to write.",
               static_cast<double>(snapshot.blocked_commands));
    page.gauge("trueup_executor_partitions", "Partitions assigned to this executor.",
               static_cast<double>(snapshot.executor_partitions));
    page.histogram("trueup_check_to_write_seconds",
                   "Time between an executor's last check and its write, in seconds.",
                   snapshot.check_to_write_bounds_ms, snapshot.check_to_write_counts,
                   snapshot.check_to_write_sum_seconds);
}

void add_policy(MetricsPage& page, const Snapshot& snapshot) {
    add_engine(page, snapshot);
    add_endings(page, snapshot);
    page.gauge("trueup_pauses", "Operators' pauses in force.",
               static_cast<double>(snapshot.pauses.size()));
    page.gauge("trueup_cache_bytes", "Memory of the subject cache, in bytes.",
               static_cast<double>(snapshot.cached_bytes));
    add_checkpoint(page, snapshot);
    add_disk(page, snapshot);
    add_lags(page, snapshot.lags);
    add_sources(page, snapshot.sources);
    add_rules(page, snapshot);
    add_tallies(page, snapshot);
    add_passes(page, snapshot);
    for (const NamedCount& count : snapshot.fold_counters) {
        page.counter("trueup_fold_events_total", "Events of the fold, by kind.", count.value,
                     {{"kind", count.name}});
    }
    add_executor(page, snapshot);
}

}  // namespace

std::string metrics_text(const std::vector<Snapshot>& policies, const HttpView& http) {
    MetricsPage page;
    add_process(page, policies, http);
    for (const Snapshot& snapshot : policies) {
        page.about(snapshot.policy);
        add_policy(page, snapshot);
    }
    return page.text();
}

}  // namespace trueup::api
