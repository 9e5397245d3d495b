// The rules of a policy as the configuration sets them: mode, times and budget of each, and which
// columns they read.
#include "apps/config/policy_settings.h"
#include "apps/config/words.h"
#include "policies/shipped.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace trueup::config {

bool contains(const std::vector<std::string>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}
void add_once(std::vector<std::string>& words, const std::string& word) {
    if (!contains(words, word)) words.push_back(word);
}

std::vector<RuleSettings> usual_rules() {
    return policies::usual_settings(kGraphInstances, Mode::kObserve).rules;
}

bool by_absence(const RuleSettings& usual) { return usual.create_window > Millis(0); }

namespace {

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

}  // namespace

void read_rules(Section rules, const Config& config, PolicyConfig& policy) {
    const std::vector<RuleSettings> usual = usual_rules();
    for (std::size_t i = 0; i < usual.size(); ++i) {
        const policy::Rule& rule = policy.text->rules[i];
        policy.rules.push_back(read_rule(rules.section(rule.name), kind_of(*policy.text, rule),
                                         usual[i], config, policy));
    }
    rules.finish();
}

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

Writes writes_of(const policy::Policy& policy, std::string_view rule) {
    Writes writes;
    for (const policy::Rule& each : policy.rules) {
        if (each.name != rule) continue;
        const RuleKind kind = kind_of(policy, each);
        writes = {kind.writes, kind.deletes};
    }
    return writes;
}

}  // namespace trueup::config
