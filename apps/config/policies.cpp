#include "apps/config/reading.h"
#include "apps/config/words.h"
#include "connectors/postgres/correlation.h"
#include "engine/base/suggest.h"
#include "policies/shipped.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace trueup::config {

namespace {

using connectors::postgres::Correlation;

constexpr std::string_view kGraphInstances = "graph-instances";

bool contains(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}
void add_once(std::vector<std::string>& words, const std::string& word) {
    if (!contains(words, word)) words.push_back(word);
}

/// What the configuration has to know of a rule of the policy.
struct RuleKind {
    bool acts = false;  ///< false: it only reports
    bool ends = false;  ///< both deletes and writes, and is off unless it is written down
    bool deletes = false;
    bool deletes_pods = false;
    std::vector<std::string> reads;   ///< columns of rows
    std::vector<std::string> writes;  ///< likewise
    std::string_view executor() const { return deletes ? "delete_pod" : "update_row"; }
};

bool is_row(const policy::Policy& policy, const std::string& role) {
    const policy::Role* found = policy::find_role(policy, role);
    return found != nullptr && found->kind == policy::Kind::kRow;
}

void add_columns(const policy::Policy& policy, const policy::FieldRef& field,
                 std::vector<std::string>& columns) {
    if (is_row(policy, field.role)) add_once(columns, field.field);
}
void add_columns(const policy::Policy& policy, const policy::Condition& condition,
                 const std::string& role, std::vector<std::string>& columns) {
    const bool test = condition.kind == policy::Condition::Kind::kTest;
    if (test && condition.test.op != policy::Op::kIs) {
        add_columns(policy, {role, condition.test.field}, columns);
        add_columns(policy, condition.test.other, columns);
    }
    for (const policy::Condition& part : condition.parts) add_columns(policy, part, role, columns);
}
void add_columns(const policy::Policy& policy, const policy::Text& text,
                 std::vector<std::string>& columns) {
    for (const policy::Piece& piece : text) add_columns(policy, piece.field, columns);
}

void add_case(const policy::Policy& policy, const policy::Case& found, RuleKind& kind) {
    for (const policy::Pattern& pattern : found.when) {
        add_columns(policy, pattern.condition, pattern.role, kind.reads);
    }
    if (found.past) {
        add_columns(policy, found.past->from, kind.reads);
        const auto* length = std::get_if<policy::FieldRef>(&found.past->length);
        if (length != nullptr) add_columns(policy, *length, kind.reads);
    }
    for (const policy::Step& step : found.steps) {
        const policy::Role* role = policy::find_role(policy, step.role);
        const bool deletes = step.verb == policy::Verb::kDelete;
        kind.deletes = kind.deletes || deletes;
        kind.deletes_pods =
            kind.deletes_pods || (deletes && role != nullptr && role->kind == policy::Kind::kPod);
        for (const policy::Assigned& set : step.sets) {
            add_once(kind.writes, set.field);
            if (set.value) add_columns(policy, *set.value, kind.reads);
        }
    }
    kind.acts = kind.acts || found.acts();
}

RuleKind kind_of(const policy::Policy& policy, const policy::Rule& rule) {
    RuleKind kind;
    for (const policy::Case& each : rule.cases) add_case(policy, each, kind);
    if (!rule.requested.empty()) {
        add_columns(policy, policy.requests.at(rule.requested), kind.reads);
    }
    kind.ends = kind.deletes && !kind.writes.empty();
    return kind;
}

std::vector<RuleSettings> usual_rules() {
    return policies::usual_settings(kGraphInstances, Mode::kObserve).rules;
}

/// It waits out a silence: only such a rule has times.
bool by_absence(const RuleSettings& usual) { return usual.create_window > Millis(0); }

Mode read_mode(Section& rule, const RuleKind& kind) {
    // Whoever writes the section of a rule that ends instances wants to see what it finds.
    const bool off = kind.ends && !rule.present();
    const std::string text = rule.text("mode", off ? "off" : "observe");
    for (const Mode mode : {Mode::kObserve, Mode::kApprove, Mode::kEnforce, Mode::kOff}) {
        if (text != name_of(mode)) continue;
        const bool acting = mode == Mode::kApprove || mode == Mode::kEnforce;
        if (kind.acts || !acting) return mode;
        rule.problem(
            "mode", fmt::format("is '{}', and this rule only reports; write observe or off", text));
        return Mode::kObserve;
    }
    rule.problem("mode", fmt::format("is '{}'; write observe, approve, enforce or off", text));
    return Mode::kObserve;
}

/// A rule that ends instances deletes what serves them, where the policy has sources of it.
void check_serving(Section& rule, Mode mode, const Config& config, const PolicyConfig& policy) {
    for (const std::string& source : {policy.services, policy.ingresses}) {
        if (source.empty() || config.executor(source) != nullptr) continue;
        rule.problem("mode",
                     fmt::format("is {1}, and executors.delete_object does not act on '{0}', which "
                                 "the policy names; write executors: {{delete_object: {{sources: "
                                 "[{0}]}}}}",
                                 source, name_of(mode)));
    }
}

void check_executor(Section& rule, const RuleKind& kind, Mode mode, const Config& config,
                    const PolicyConfig& policy) {
    for (const auto& [executor, source] :
         {std::pair{std::string_view("delete_pod"), &policy.pods}, {"update_row", &policy.rows}}) {
        if (executor != kind.executor() && !kind.ends) continue;
        if (!config.has_executor(executor)) {
            rule.problem("mode",
                         fmt::format("is {1}, and executors.{0} is missing; write executors: "
                                     "{{{0}: {{source: NAME}}}}",
                                     executor, name_of(mode)));
        } else if (!source->empty() && config.executor(*source) == nullptr) {
            rule.problem(
                "mode",
                fmt::format("is {1}, and executors.{0} does not act on '{2}'; add it, as in "
                            "{0}: [{{source: NAME}}, {{source: {2}}}]",
                            executor, name_of(mode), *source));
        }
    }
}

/// A brake that anybody could loosen in passing is none: its bounds are narrow.
Budget read_budget(Section section) {
    constexpr std::uint32_t kMost = 1'000;
    constexpr std::uint32_t kPercent = 50;
    constexpr Millis kShortest{60'000};
    Budget budget;
    budget.max = section.count("max", budget.max);
    budget.percent = section.percent("percent", budget.percent, kPercent);
    budget.window = section.duration("window", budget.window);
    if (budget.max == 0 || budget.max > kMost) {
        section.problem("max", fmt::format("is {}; write 1 to {}: the number of commands that the "
                                           "rule may always issue in one window",
                                           budget.max, kMost));
    }
    if (budget.percent > kPercent) {
        section.problem("percent",
                        fmt::format("is {}%; write at most {}%: a rule that acts on more of the "
                                    "world at once is more likely to be wrong than the world",
                                    budget.percent, kPercent));
    }
    if (budget.window < kShortest) {
        section.problem("window",
                        fmt::format("is {}; write 1m or more", duration_text(budget.window)));
    }
    section.finish();
    return budget;
}

/// The times of a rule, where it has them.
void read_rule_times(Section& rule, const Config& config, RuleSettings& settings) {
    const auto read = [&](const char* key, Millis& time, bool has) {
        if (has) {
            time = rule.duration(key, time);
        } else {
            rule.refuse(key, "does not exist: this rule does not wait; leave it out");
        }
    };
    const bool waits = settings.grace > Millis(0);
    read("grace", settings.grace, waits);
    read("create_window", settings.create_window, by_absence(settings));
    if (!waits || settings.grace > config.max_clock_step) return;
    rule.problem(
        "grace",
        fmt::format("{} is not longer than bus.max_clock_step {}, so one step of the clock could "
                    "use it up; write a longer grace or a shorter max_clock_step",
                    duration_text(settings.grace), duration_text(config.max_clock_step)));
}

/// The time that a pod has to end which the rule deletes; nothing: the pod's own.
void read_grace_period(Section& rule, const RuleKind& kind, RuleSettings& settings) {
    constexpr Millis kLongest = std::chrono::hours(24);
    constexpr const char* kKey = "grace_period";
    if (!kind.deletes_pods) {
        rule.refuse(kKey, "does not exist: this rule deletes no pod; leave it out");
        return;
    }
    if (!rule.has(kKey)) return;
    const Millis period = rule.duration(kKey, kLongest);
    const auto whole = std::chrono::floor<std::chrono::seconds>(period);
    if (whole != period || period > kLongest) {
        rule.problem(kKey, fmt::format("is {}; write whole seconds, at most 24h, or leave it out: "
                                       "then each pod's own terminationGracePeriodSeconds applies",
                                       duration_text(period)));
        return;
    }
    settings.grace_period = static_cast<std::uint32_t>(whole.count());
}

RuleSettings read_rule(Section rule, const RuleKind& kind, RuleSettings settings,
                       const Config& config, const PolicyConfig& policy) {
    settings.mode = read_mode(rule, kind);
    if (settings.mode == Mode::kEnforce || settings.mode == Mode::kApprove) {
        check_executor(rule, kind, settings.mode, config, policy);
        if (kind.ends) check_serving(rule, settings.mode, config, policy);
    }
    read_rule_times(rule, config, settings);
    read_grace_period(rule, kind, settings);
    settings.budget = read_budget(rule.section("budget"));
    rule.finish();
    return settings;
}

void read_rules(Section rules, const Config& config, PolicyConfig& policy) {
    const std::vector<RuleSettings> usual = usual_rules();
    for (std::size_t i = 0; i < usual.size(); ++i) {
        const policy::Rule& rule = policy.text->rules[i];
        policy.rules.push_back(read_rule(rules.section(rule.name), kind_of(*policy.text, rule),
                                         usual[i], config, policy));
    }
    rules.finish();
}

/// The columns that `correlate` reads; none when it is wrong, which is noted.
std::vector<std::string> read_correlation(Section& section, PolicyConfig& policy,
                                          Problems& problems) {
    const std::string example = "correlate: \"coalesce(pod_name, 'wrapper-' || url_slug)\"";
    if (!section.require("correlate", example)) return {};
    policy.correlate = section.text("correlate");
    if (policy.correlate.empty()) {
        section.problem("correlate", "is empty; write which pod a row means, as in " + example);
        return {};
    }
    const Result<Correlation> parsed = Correlation::parse(policy.correlate);
    if (!parsed) {
        problems.add(section.line_of("correlate"), parsed.error().what);
        return {};
    }
    for (const std::string& column : parsed->columns()) {
        if (!ports::looks_secret(column)) continue;
        section.problem("correlate", fmt::format("reads '{}', which looks like a secret, and would "
                                                 "be published and kept; use another column",
                                                 column));
    }
    policy::Policy text = *policy.text;
    for (policy::Role& role : text.roles) {
        if (role.name != "rows") continue;
        // What names a pod by itself does so under another expression, too.
        const policy::Key key = parsed->key();
        if (key != role.key) role.also = policy::alone_in(role.key);
        role.key = key;
    }
    policy.text = std::move(text);
    return parsed->columns();
}

/// The columns that the rules read which are not off.
std::vector<std::string> needed_columns(const PolicyConfig& policy) {
    std::vector<std::string> needed;
    for (const policy::Role& role : policy.text->roles) {
        add_columns(*policy.text, role.live, role.name, needed);
    }
    for (std::size_t i = 0; i < policy.rules.size(); ++i) {
        if (policy.rules[i].mode == Mode::kOff) continue;
        for (const std::string& column : kind_of(*policy.text, policy.text->rules[i]).reads) {
            add_once(needed, column);
        }
    }
    return needed;
}

/// Those that the shipped policy makes the key of a row of, whatever `correlate` says.
std::vector<std::string> usual_key() {
    for (const policy::Role& role : policies::shipped(kGraphInstances)->roles) {
        if (role.name == "rows") return policy::fields_of(role.key);
    }
    return {};
}

void complete_columns(const std::vector<std::string>& correlated, const PolicyConfig& policy,
                      Config& config, Problems& problems) {
    for (SourceConfig& source : config.sources) {
        auto* rows = std::get_if<PostgresSource>(&source.world);
        if (rows == nullptr || source.name != policy.rows) continue;
        const std::vector<std::string> needed = needed_columns(policy);
        if (rows->columns.empty()) {
            rows->columns = needed;
            for (const std::string& column : usual_key()) add_once(rows->columns, column);
        }
        std::vector<std::string> used = needed;
        used.insert(used.end(), correlated.begin(), correlated.end());
        const std::vector<std::string> usual = usual_key();
        used.insert(used.end(), usual.begin(), usual.end());
        settle_columns(source, *rows, used, problems);
        for (const std::string& column : needed) {
            if (contains(rows->columns, column)) continue;
            problems.add(source.line,
                         fmt::format("sources.{}.postgres.columns lacks '{}', which {} reads; add "
                                     "it",
                                     source.name, column, kGraphInstances));
        }
        for (const std::string& column : correlated) {
            if (!contains(rows->columns, column)) rows->columns.push_back(column);
        }
    }
}

void read_windows(Section& section, PolicyConfig& policy) {
    for (const std::string& text : section.texts("windows")) {
        if (const std::optional<Window> window = window_of(text)) {
            policy.windows.push_back(*window);
            continue;
        }
        section.problem("windows",
                        fmt::format("has '{}'; write days and hours in UTC, as in 'Mon-Fri "
                                    "08:00-18:00'; split a window over midnight in two",
                                    text));
    }
}

void read_enabled(Section& section, PolicyConfig& policy) {
    for (const std::string& text : section.texts("enabled")) {
        if (const std::optional<Hash128> hash = hash_from_hex(text)) {
            policy.enabled.push_back(*hash);
            continue;
        }
        section.problem("enabled",
                        fmt::format("holds '{}'; write what `trueup policy check --hash` prints: "
                                    "32 hex digits that say what one rule means",
                                    text));
    }
}

void read_times(Section& section, const Config& config, PolicyConfig& policy) {
    policy.stale_after = section.duration("stale_after", policy.stale_after);
    policy.command_ttl = section.duration("command_ttl", policy.command_ttl);
    policy.max_drop_percent = section.percent("max_drop", policy.max_drop_percent);
    policy.reconcile_every = section.duration("reconcile_every", policy.reconcile_every);
    policy.max_clock_skew = section.duration("max_clock_skew", policy.max_clock_skew);
    read_windows(section, policy);
    if (policy.reconcile_every != Millis(0) && policy.reconcile_every < Millis(10'000)) {
        section.problem("reconcile_every", "is shorter than 10s; write 5m, or 0s for none");
    }
    if (policy.max_clock_skew > Millis(300'000)) {
        section.problem(
            "max_clock_skew",
            fmt::format(
                "is {}; write at most 5m: a clock that is further off says nothing about a TTL",
                duration_text(policy.max_clock_skew)));
    }
    if (policy.command_ttl < Millis(1'000)) {
        section.problem("command_ttl", "is shorter than 1s, too short for any executor; write 60s");
    }
    for (const SourceConfig& source : config.sources) {
        if (source.name != policy.pods && source.name != policy.rows) continue;
        if (policy.stale_after > source.idle) continue;
        section.problem(
            "stale_after",
            fmt::format("{} is not longer than heartbeat.idle {} of sources.{}, so the source "
                        "would be stale between two heartbeats; write about three times that",
                        duration_text(policy.stale_after), duration_text(source.idle),
                        source.name));
    }
}

/// `missing_pod and status_drift`: the rules that act.
std::string acting_rules(const PolicyConfig& policy) {
    std::vector<std::string> acting;
    for (const RuleSettings& rule : policy.rules) {
        const bool acts = rule.mode == Mode::kEnforce || rule.mode == Mode::kApprove;
        if (acts) acting.push_back(rule.rule);
    }
    return acting.empty() ? std::string() : enumerate(acting);
}

/// Where the live look before a write asks by the pod's name, a label that names it is no use.
void check_key_label(Section& section, const PolicyConfig& policy, const Config& config) {
    const SourceConfig* source = config.source(policy.pods);
    const KubernetesSource* pods = source == nullptr ? nullptr : source->kubernetes();
    const std::string acting = acting_rules(policy);
    if (pods == nullptr || pods->key_label.empty() || acting.empty()) return;
    section.problem(
        "rules",
        fmt::format(
            "lets {} act, but sources.{}.kubernetes.key_label is set: this release cannot look up "
            "pods by label before a write; write mode: observe, or leave key_label out",
            acting, source->name));
}

/// What is counted over all subjects, each shard counts over its own: a live row that may own any
/// pod holds back the orphans of its shard only.
void check_shards(Section& section, PolicyConfig& policy, const Config& config,
                  const std::vector<std::string>& known) {
    constexpr const char* kBrake = "partitions";
    if (!config.kafka || config.kafka->partitions <= 1) return;
    const std::string acting = acting_rules(policy);
    const bool meant = contains(known, kBrake);
    // Said in vain while all rules observe, so that the way back to `observe` is always open.
    if (!acting.empty() || meant) policy.known.emplace_back(kBrake);
    if (acting.empty() || meant) return;
    section.problem(
        "rules",
        fmt::format("lets {} act, but with bus.kafka.partitions {} counts over all subjects "
                    "(uncorrelated_rows) hold within one shard only; write partitions: 1, or mode: "
                    "observe, or acknowledge: [{}] beside rules if this is intended",
                    acting, config.kafka->partitions, kBrake));
}

/// A brake may be loosened beyond what is safe only by naming it once more.
void check_brakes(Section& section, PolicyConfig& policy, const Config& config) {
    const std::vector<std::string> known = section.texts("acknowledge");
    check_shards(section, policy, config, known);
    check_beside(section, policy, config, known);
    const auto loosened = [&](const char* key, const std::string& brake, const std::string& what) {
        policy.known.push_back(brake);
        if (contains(known, brake)) return;
        section.problem(
            key, fmt::format("relaxes {0}: {1}; add acknowledge: [{0}] if this is intended", brake,
                             what));
    };
    if (policy.max_drop_percent > 90) {
        loosened("max_drop", "max_drop",
                 fmt::format("{}% believes a source that lost nearly everything",
                             policy.max_drop_percent));
    }
    const std::vector<RuleSettings> usual = usual_rules();
    for (std::size_t i = 0; i < policy.rules.size(); ++i) {
        const RuleSettings& rule = policy.rules[i];
        if (rule.grace_period == 0U) {
            loosened("rules", rule.rule + ".grace_period",
                     "with 0s a pod is killed: its name and its volumes are free while its "
                     "processes may still run");
        }
        if (!by_absence(usual[i]) || rule.create_window > Millis(0)) continue;
        loosened("rules", rule.rule + ".create_window",
                 "with 0s a pod that is seen before its row, or a row before its pod, is at risk");
    }
    for (const std::string& name : known) {
        // Of two policies each may say it, though it is asked of one only.
        if (contains(policy.known, name) || name == "shared_objects") continue;
        section.problem("acknowledge",
                        fmt::format("names '{}', which is not relaxed; leave it out", name));
    }
}

PolicyConfig read_policy(Section section, Config& config, Problems& problems) {
    PolicyConfig policy;
    if (section.require("name", "name: graph-instances")) {
        policy.name = section.text("name");
        if (!is_name(policy.name)) {
            section.problem("name", fmt::format("is '{}', which cannot be the first part of a key; "
                                                "write 1 to 63 letters, digits, '-', '_' or '.', a "
                                                "letter or digit first",
                                                policy.name));
        }
    }
    if (section.require("use", "use: graph-instances")) {
        const std::string use = section.text("use");
        if (use != kGraphInstances) {
            section.problem("use", fmt::format("is '{}', and this release has one set of rules; "
                                               "write graph-instances",
                                               use));
        }
    }
    policy.text = policies::shipped(kGraphInstances);
    policy.pods = read_source_name(section, "pods", config, Topic::kChangesPods);
    policy.rows = read_source_name(section, "rows", config, Topic::kChangesRows);
    for (auto [key, name] :
         {std::pair{"services", &policy.services}, std::pair{"ingresses", &policy.ingresses}}) {
        if (!section.has(key)) continue;
        *name =
            check_source_name(section, key, section.text(key), config, Topic::kChangesResources);
    }
    const std::vector<std::string> columns = read_correlation(section, policy, problems);
    read_rules(section.section("rules").called("rules"), config, policy);
    complete_columns(columns, policy, config, problems);
    read_enabled(section, policy);
    read_times(section, config, policy);
    check_key_label(section, policy, config);
    check_brakes(section, policy, config);
    section.finish();
    return policy;
}

/// What nobody would ask it to do: somebody meant another source.
void check_stray_executors(const Config& config, Problems& problems) {
    for (const ExecutorConfig& executor : config.executors) {
        if (executor.kind == "delete_object" || executor.sources.empty()) continue;
        const std::string& source = executor.sources.front();
        const bool pods = executor.kind == "delete_pod";
        const bool used = std::any_of(
            config.policies.begin(), config.policies.end(),
            [&](const PolicyConfig& each) { return source == (pods ? each.pods : each.rows); });
        if (used) continue;
        problems.add(executor.line,
                     fmt::format("executors.{} acts on '{}', which is the {} of no policy; use a "
                                 "source that one has",
                                 executor.kind, source, pods ? "pods" : "rows"));
    }
}

/// A row's key is the policy's expression: without a policy it has none.
void check_stray_sources(const Config& config, Problems& problems) {
    for (const SourceConfig& source : config.sources) {
        const bool used = std::any_of(config.policies.begin(), config.policies.end(),
                                      [&source](const PolicyConfig& policy) {
                                          return policy.rows == source.name || policy.rows.empty();
                                      });
        if (used || source.postgres() == nullptr) continue;
        problems.add(source.line,
                     fmt::format("sources.{} is the rows of no policy, so no correlate says what "
                                 "its rows mean; use it in a policy or leave it out",
                                 source.name));
    }
}

}  // namespace

Writes writes_of(const policy::Policy& policy, std::string_view rule) {
    Writes writes;
    for (const policy::Rule& each : policy.rules) {
        if (each.name != rule) continue;
        const RuleKind kind = kind_of(policy, each);
        writes = {kind.writes, kind.deletes};
    }
    return writes;
}

std::size_t read_policies(Section& root, Config& config, Problems& problems) {
    if (!root.require("policies", "policies: [{name: graph-instances, use: graph-instances, ...}]"))
        return 0;
    std::size_t of_policies = 0;
    std::vector<Section> items = root.items("policies");
    for (Section& item : items) {
        const std::size_t before = problems.count();
        PolicyConfig policy = read_policy(item, config, problems);
        if (problems.count() == before) {
            config.policies.push_back(std::move(policy));
            continue;
        }
        of_policies += problems.count() - before;
        config.left_out.push_back(
            {policy.name.empty() ? item.path() : policy.name, problems.text(before)});
    }
    if (items.empty()) root.problem("policies", "is empty; write [{name: graph-instances, ...}]");
    // What a policy that is left out meant, nobody knows.
    if (!config.left_out.empty() || items.empty()) return of_policies;
    check_stray_executors(config, problems);
    check_stray_sources(config, problems);
    return of_policies;
}

}  // namespace trueup::config
