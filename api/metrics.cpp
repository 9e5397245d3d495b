#include "api/metrics.h"

#include "engine/model/command.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cctype>
#include <limits>
#include <utility>

namespace trueup::api {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<std::pair<std::string, std::string>>;

MetricFamily& family(std::vector<MetricFamily>& page, std::string name, std::string help,
                     MetricType type) {
    for (MetricFamily& known : page) {
        if (known.name == name) return known;
    }
    page.push_back({std::move(name), std::move(help), type, {}});
    return page.back();
}

ClientMetric labelled(const Labels& labels) {
    ClientMetric metric;
    for (const auto& [name, value] : labels) {
        ClientMetric::Label label;
        label.name = name;
        label.value = value;
        metric.label.push_back(label);
    }
    return metric;
}

class Page {
  public:
    void gauge(const std::string& name, const std::string& help, double value,
               const Labels& labels = {}) {
        ClientMetric metric = labelled(labels);
        metric.gauge.value = value;
        family(page_, name, help, MetricType::Gauge).metric.push_back(metric);
    }
    /// A gauge whose name is one of a counter. Its readers know that name, so that the page does
    /// not say "gauge": `promtool check metrics` takes the suffix for a mistake then.
    void misnamed_gauge(const std::string& name, const std::string& help, double value,
                        const Labels& labels) {
        ClientMetric metric = labelled(labels);
        metric.untyped.value = value;
        family(page_, name, help, MetricType::Untyped).metric.push_back(metric);
    }
    void counter(const std::string& name, const std::string& help, std::uint64_t value,
                 const Labels& labels = {}) {
        ClientMetric metric = labelled(labels);
        metric.counter.value = static_cast<double>(value);
        family(page_, name, help, MetricType::Counter).metric.push_back(metric);
    }
    void histogram(const std::string& name, const std::string& help,
                   const std::vector<std::int64_t>& bounds_ms,
                   const std::vector<std::uint64_t>& counts, double sum) {
        ClientMetric metric;
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            total += counts[i];
            ClientMetric::Bucket bucket;
            bucket.cumulative_count = total;
            bucket.upper_bound = i < bounds_ms.size() ? static_cast<double>(bounds_ms[i]) / 1000.0
                                                      : std::numeric_limits<double>::infinity();
            metric.histogram.bucket.push_back(bucket);
        }
        metric.histogram.sample_count = total;
        metric.histogram.sample_sum = sum;
        family(page_, name, help, MetricType::Histogram).metric.push_back(metric);
    }
    std::string text() const { return prometheus::TextSerializer().Serialize(page_); }

  private:
    std::vector<MetricFamily> page_;
};

void add_disk(Page& page, const Snapshot& snapshot) {
    page.gauge("trueup_journal_first_offset",
               "The oldest journal offset that retention has left; -1: not looked at yet.",
               static_cast<double>(snapshot.journal_begin));
    if (snapshot.log_bytes >= 0) {
        page.gauge("trueup_log_bytes", "What the embedded log takes on the disk, in bytes.",
                   static_cast<double>(snapshot.log_bytes));
    }
    if (snapshot.state_free_bytes >= 0) {
        page.gauge("trueup_state_free_bytes",
                   "What is free on the disk of the state folder, in bytes.",
                   static_cast<double>(snapshot.state_free_bytes));
    }
}

double flag(bool value) { return value ? 1.0 : 0.0; }

void add_checkpoint(Page& page, const Snapshot& snapshot) {
    page.gauge("trueup_checkpoint_offset",
               "Journal offset of the newest checkpoint; -1: there is none.",
               static_cast<double>(snapshot.checkpoint_offset));
    page.gauge("trueup_checkpoint_age_seconds",
               "Time since the newest checkpoint was made; -1: there is none.",
               snapshot.checkpoint_age_seconds);
}

void add_sources(Page& page, const std::vector<SourceView>& sources) {
    for (const SourceView& source : sources) {
        const Labels labels{{"source", source.name}};
        page.gauge("trueup_source_answering", "1 while the source's last exchange succeeded.",
                   flag(source.answering), labels);
        page.gauge("trueup_source_known",
                   "1 while a complete epoch says what the source has; 0: absence is unknown.",
                   flag(source.known), labels);
        page.gauge("trueup_source_fresh", "1 while the source's proven progress is young enough.",
                   flag(source.fresh), labels);
        page.gauge("trueup_source_quarantined",
                   "1 while nothing that takes away leans on the source.",
                   flag(source.quarantine.kind != Quarantine::kNone), labels);
        page.gauge("trueup_source_progress_age_seconds",
                   "Time since the source was last proven complete; -1 before that.",
                   source.progress_age_seconds, labels);
        page.gauge("trueup_source_clock_skew_seconds",
                   "How far the source's own clock is ahead of the log's; TTLs are judged within "
                   "max_clock_skew only.",
                   source.clock_skew_seconds, labels);
        page.gauge("trueup_source_objects", "Objects present in the source.",
                   static_cast<double>(source.objects), labels);
        page.counter("trueup_source_published_total", "Records published for the source.",
                     source.published, labels);
        page.counter("trueup_source_failures_total", "Exchanges with the source that failed.",
                     source.failures, labels);
        page.counter("trueup_source_epochs_total", "Complete epochs read from the source.",
                     source.epochs, labels);
        if (source.slot_wal_status.empty()) continue;
        page.gauge("trueup_source_slot_retained_bytes",
                   "WAL that the PostgreSQL server keeps for the source's slot.",
                   static_cast<double>(source.slot_retained_bytes), labels);
        page.gauge("trueup_source_slot_wal_status",
                   "1; the label says reserved, extended, unreserved or lost.", 1.0,
                   {{"source", source.name}, {"status", source.slot_wal_status}});
    }
}

/// The names that dashboards of graph instances know (G18).
void add_known_names(Page& page, const RuleView& rule) {
    const auto counter = [&](std::string_view wanted, const char* name, const char* help,
                             std::uint64_t value) {
        if (rule.rule == wanted) page.counter(name, help, value);
    };
    counter("orphaned_pod", "orphaned_pods_detected_total", "Pods found without a row.",
            rule.detected);
    counter("missing_pod", "missing_pods_detected_total", "Rows found without their pod.",
            rule.detected);
    counter("status_drift", "status_drift_fixed_total",
            "Rows that were marked failed since their pod had Failed.", rule.mended);
    counter("ttl_expired", "ttl_expired_instances_total",
            "Instances that were ended since their TTL was over.", rule.mended);
    counter("inactive", "inactive_instances_terminated_total",
            "Instances that were ended since nobody used them.", rule.mended);
}

void add_rules(Page& page, const std::vector<RuleView>& rules) {
    for (const RuleView& rule : rules) {
        const Labels labels{{"rule", rule.rule}};
        page.counter("trueup_findings_detected_total", "Findings opened.", rule.detected, labels);
        page.counter("trueup_findings_retracted_total", "Findings that went away by themselves.",
                     rule.retracted, labels);
        page.counter("trueup_findings_mended_total", "Findings that a command put right.",
                     rule.mended, labels);
        page.counter("trueup_commands_issued_total", "Commands issued.", rule.commands, labels);
        page.gauge("trueup_budget_left_commands",
                   "Commands that the rule may still issue in this window.",
                   static_cast<double>(rule.budget_left), labels);
        add_known_names(page, rule);
        for (std::size_t kind = 1; kind < rule.outcomes.size(); ++kind) {
            page.counter("trueup_outcomes_total", "Outcomes of commands.", rule.outcomes[kind],
                         {{"rule", rule.rule},
                          {"outcome", std::string(name_of(static_cast<OutcomeKind>(kind)))}});
        }
    }
}

void add_tallies(Page& page, const std::vector<NamedCount>& tallies) {
    constexpr std::string_view kPods = "pods_";
    for (const NamedCount& tally : tallies) {
        const auto value = static_cast<double>(tally.value);
        if (tally.name == "instances_without_pod_name") {
            page.gauge(tally.name, "Rows that name no pod.", value);
        } else if (tally.name.starts_with(kPods)) {
            std::string phase = tally.name.substr(kPods.size());  // `pods_failed` counts Failed
            phase.front() = static_cast<char>(std::toupper(phase.front()));
            page.misnamed_gauge("wrapper_pods_total", "Pods by phase.", value, {{"phase", phase}});
        } else {
            page.gauge("trueup_subjects_counted", "Subjects that the policy counts, by what for.",
                       value, {{"what", tally.name}});
        }
    }
}

void add_passes(Page& page, const Snapshot& snapshot) {
    page.counter("reconciliation_passes_total", "Passes that are complete.", snapshot.passes);
    page.histogram("reconciliation_pass_duration_seconds", "How long passes took.",
                   snapshot.pass_bounds_ms, snapshot.pass_counts, snapshot.pass_seconds);
    page.gauge("trueup_pass_age_seconds", "Age of the pass that is running; 0 when none is.",
               snapshot.pass_age_seconds);
}

void add_http(Page& page, const HttpView& http) {
    for (std::size_t i = 1; i < http.answered.size(); ++i) {
        page.counter("trueup_http_requests_total", "Requests answered over HTTP, by class.",
                     http.answered[i], {{"code", std::to_string(i + 1) + "xx"}});
    }
    static constexpr std::array<const char*, kRefusals> kWhy{
        "unauthorized", "malformed", "too_large", "deadline", "full", "busy"};
    for (std::size_t i = 0; i < kWhy.size(); ++i) {
        page.counter("trueup_http_refused_total",
                     "Requests and connections that HTTP refused, by reason.", http.refused[i],
                     {{"reason", kWhy[i]}});
    }
    page.gauge("trueup_http_connections", "HTTP connections that are open.",
               static_cast<double>(http.connections));
}

}  // namespace

std::string metrics_text(const Snapshot& snapshot, const HttpView& http) {
    Page page;
    page.gauge("trueup_info", "1; the label says which build this is.", 1.0,
               {{"version", snapshot.version}});
    page.gauge("trueup_ready", "1 while /readyz says so.", flag(snapshot.not_ready().empty()));
    page.gauge("trueup_engine_shards_in_turn", "Shards that this process sequences and publishes.",
               static_cast<double>(snapshot.in_turn));
    page.gauge("trueup_emitting", "1 unless the shard refuses to emit.",
               flag(snapshot.refused.empty()));
    page.gauge("trueup_starting", "1 while the start waits for the log, or reads what is kept.",
               flag(!snapshot.starting.empty()));
    page.gauge("trueup_journal_offset", "Journal offset folded last.",
               static_cast<double>(snapshot.journal_offset));
    page.gauge("trueup_journal_time_seconds", "Watched time since the journal's genesis.",
               snapshot.journal_time_seconds);
    page.gauge("trueup_subjects", "Subjects known.", static_cast<double>(snapshot.subjects));
    page.gauge("trueup_findings_open", "Findings that are open.",
               static_cast<double>(snapshot.open_findings));
    page.gauge("trueup_outbox_commands", "Commands without an outcome.",
               static_cast<double>(snapshot.outbox));
    static constexpr std::array<const char*, 5> kStages{"", "taking", "between", "ordered",
                                                        "halted"};
    for (std::size_t i = 1; i < kStages.size(); ++i) {
        page.gauge("trueup_endings", "Endings that are under way, by state.",
                   static_cast<double>(snapshot.endings[i]), {{"state", kStages[i]}});
    }
    page.gauge("trueup_endings_stuck", "Endings that have not gone on for 15 minutes.",
               static_cast<double>(snapshot.endings_stuck));
    page.gauge("trueup_pauses", "Pauses of operators that are in force.",
               static_cast<double>(snapshot.pauses));
    page.gauge("trueup_cache_bytes", "Subjects kept in memory, in bytes.",
               static_cast<double>(snapshot.cached_bytes));
    add_checkpoint(page, snapshot);
    add_disk(page, snapshot);
    add_sources(page, snapshot.sources);
    add_rules(page, snapshot.rules);
    add_tallies(page, snapshot.tallies);
    add_passes(page, snapshot);
    add_http(page, http);
    for (const NamedCount& count : snapshot.fold_counters) {
        page.counter("trueup_fold_events_total", "What the fold met, by kind.", count.value,
                     {{"kind", count.name}});
    }
    for (const NamedCount& count : snapshot.executor_counters) {
        page.counter("trueup_executor_events_total", "What the executors met, by kind.",
                     count.value, {{"kind", count.name}});
    }
    page.gauge("trueup_executor_held_commands",
               "Commands that were checked and wait for the permit to write.",
               static_cast<double>(snapshot.held_commands));
    page.gauge("trueup_executor_partitions", "Partitions whose commands are carried out here.",
               static_cast<double>(snapshot.executor_partitions));
    page.histogram("trueup_check_to_write_seconds",
                   "Time between an executor's last check and its write.",
                   snapshot.check_to_write_bounds_ms, snapshot.check_to_write_counts,
                   snapshot.check_to_write_sum_seconds);
    return page.text();
}

}  // namespace trueup::api
