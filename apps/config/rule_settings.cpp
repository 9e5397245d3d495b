// The rules of a policy as the configuration sets them: mode, times and budget of each, and what
// they do to whom.
#include "apps/config/policy_settings.h"
#include "apps/config/words.h"
#include "engine/model/place.h"
#include "policies/shipped.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace trueup::config {

void add_once(std::vector<std::string>& words, const std::string& word) {
    if (!contains(words, word)) words.push_back(word);
}

std::vector<RuleSettings> usual_rules(const PolicyConfig& policy) {
    return policies::usual_settings(policy.text, Mode::kObserve).rules;
}

bool by_absence(const RuleSettings& usual) { return usual.create_window > Millis(0); }

namespace {

/// What the configuration has to know of a rule of the policy.
struct RuleKind {
    bool acts = false;  ///< false: it only reports
    bool deletes_pods = false;
    std::vector<Writes> writes;
    std::vector<std::pair<const policy::Use*, std::string>> executors;  ///< each with a role
    std::string beyond;  ///< the first step that no executor carries out, as `create pods`
    std::string unable;  ///< why it must be off; empty: it need not
};

Writes& writes_to(const std::string& role, RuleKind& kind) {
    for (Writes& each : kind.writes) {
        if (each.role == role) return each;
    }
    kind.writes.emplace_back().role = role;
    return kind.writes.back();
}

void add_step(const policy::Policy& policy, const policy::Step& step, RuleKind& kind) {
    const policy::Role* role = policy::find_role(policy, step.role);
    if (!policy::acts(step.verb) || role == nullptr) return;
    const policy::Use* use = policy::use_of(step.verb, role->kind, policy::way_of(step));
    if (use == nullptr || use->executors.empty()) {
        if (kind.beyond.empty())
            kind.beyond = fmt::format("{} {}", policy::name_of(step.verb), step.role);
        return;
    }
    const bool known =
        std::any_of(kind.executors.begin(), kind.executors.end(), [&](const auto& each) {
            return each.first->executors == use->executors && each.second == step.role;
        });
    if (!known) kind.executors.emplace_back(use, step.role);
    Writes& writes = writes_to(step.role, kind);
    if (std::find(writes.uses.begin(), writes.uses.end(), use) == writes.uses.end()) {
        writes.uses.push_back(use);
    }
    const bool inserts = policy::makes(step.verb);
    for (const policy::Assigned& set : step.sets) {
        add_once(inserts ? writes.inserts : writes.columns, policy::place_of(*role, set.field));
    }
    if (step.object) writes.creates.push_back(&*step.object);
    kind.deletes_pods = kind.deletes_pods || use->action == Action::Kind::kDeletePod;
}

RuleKind kind_of(const policy::Policy& policy, const policy::Rule& rule) {
    RuleKind kind;
    for (const policy::Case& each : rule.cases) {
        for (const policy::Step& step : each.steps) add_step(policy, step, kind);
        kind.acts = kind.acts || each.acts();
        if (!each.past) continue;
        const policy::Role* clock = policy::find_role(policy, each.past->from.role);
        if (clock == nullptr || clock->kind == policy::Kind::kRow) continue;
        kind.unable = fmt::format(
            "no source of {} tells its time, so that what begins at {}.{} is "
            "never over",
            clock->name, clock->name, each.past->from.field);
    }
    return kind;
}

Mode read_mode(Section& rule, const RuleKind& kind, Mode usual) {
    // Whoever writes the section of a rule that is off by itself wants to see what it finds.
    const bool off = !kind.unable.empty() || (usual == Mode::kOff && !rule.present());
    const std::string text = rule.text("mode", off ? "off" : "observe");
    for (const Mode mode : {Mode::kObserve, Mode::kApprove, Mode::kEnforce, Mode::kOff}) {
        if (text != name_of(mode)) continue;
        if (mode != Mode::kOff && !kind.unable.empty()) {
            rule.problem("mode", fmt::format("is '{}', and {}; write off", text, kind.unable));
            return Mode::kOff;
        }
        if (!acts(mode) || (kind.acts && kind.beyond.empty())) return mode;
        rule.problem("mode", kind.acts
                                 ? fmt::format("is '{}', and no executor of this release can {}; "
                                               "write observe or off",
                                               text, kind.beyond)
                                 : fmt::format("is '{}', and this rule only reports; write observe "
                                               "or off",
                                               text));
        return Mode::kObserve;
    }
    rule.problem("mode", fmt::format("is '{}'; write observe, approve, enforce or off", text));
    return Mode::kObserve;
}

/// How to have executors of that kind act on the source, where others may be named already.
std::string acting_on(std::string_view executor, const std::string& source, bool others) {
    if (config::takes_list(executor)) {
        return fmt::format("{}: {{sources: [{}{}]}}", executor, others ? "NAME, " : "", source);
    }
    return others ? fmt::format("{}: [{{source: NAME}}, {{source: {}}}]", executor, source)
                  : fmt::format("{}: {{source: {}}}", executor, source);
}

void check_executors(Section& rule, const RuleKind& kind, Mode mode, const Config& config,
                     const PolicyConfig& policy) {
    for (const auto& [use, role] : kind.executors) {
        const std::string_view executor = use->executors;
        // None: an optional role, or one whose source is wrong, which was noted.
        const std::vector<std::string>& sources = policy.sources_of(role);
        if (policy::makes(use->verb) && sources.size() > 1) {
            const bool row = use->of == policy::Kind::kRow;
            rule.problem("mode",
                         fmt::format("is {}, and {} has several sources: nobody says {}; "
                                     "name one source",
                                     name_of(mode), role,
                                     row ? "into which table it inserts" : "where it creates"));
        }
        for (const std::string& source : sources) {
            if (config.executor(source, executor) != nullptr) continue;
            if (config.source(source)->only_read()) {
                rule.problem("mode", fmt::format("is {}, and '{}' is a query, which can only be "
                                                 "read; write observe or off",
                                                 name_of(mode), source));
                continue;
            }
            const bool others = config.has_executor(executor);
            rule.problem(
                "mode",
                others ? fmt::format("is {}, and executors.{} does not act on '{}'; add "
                                     "it, as in {}",
                                     name_of(mode), executor, source,
                                     acting_on(executor, source, true))
                       : fmt::format("is {}, and executors.{} is missing; write "
                                     "executors: {{{}}}",
                                     name_of(mode), executor, acting_on(executor, source, false)));
        }
    }
}

/// A brake that anybody could loosen in passing is none: its bounds are narrow. `budget`: what it
/// is if nothing else is said.
Budget read_budget(Section section, Budget budget) {
    constexpr std::uint32_t kMost = 1'000;
    constexpr std::uint32_t kPercent = 50;
    constexpr Millis kShortest{60'000};
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

/// The times of a rule. A window is for what is not there.
void read_rule_times(Section& rule, const Config& config, RuleSettings& settings) {
    settings.grace = rule.duration("grace", settings.grace);
    if (by_absence(settings)) {
        settings.create_window = rule.duration("create_window", settings.create_window);
    } else {
        rule.refuse("create_window", "does not exist: this rule does not wait; leave it out");
    }
    if (settings.grace == Millis(0) || settings.grace > config.max_clock_step) return;
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
    settings.mode = read_mode(rule, kind, settings.mode);
    if (acts(settings.mode)) {
        check_executors(rule, kind, settings.mode, config, policy);
    }
    read_rule_times(rule, config, settings);
    read_grace_period(rule, kind, settings);
    // What does not come back goes one by one, however many there are.
    if (!lost_for_good(policy, settings.rule, config).empty())
        settings.budget = {.max = 1, .percent = 0};
    settings.budget = read_budget(rule.section("budget"), settings.budget);
    rule.finish();
    return settings;
}

}  // namespace

void read_rules(Section rules, const core::Plan& plan, const Config& config, PolicyConfig& policy) {
    const std::vector<RuleSettings> usual = usual_rules(policy);
    for (std::size_t i = 0; i < usual.size(); ++i) {
        const policy::Rule& rule = policy.text->rules[i];
        RuleKind kind = kind_of(*policy.text, rule);
        if (!plan.rules[i].unable.empty()) kind.unable = plan.rules[i].unable;
        policy.rules.push_back(read_rule(rules.section(rule.name), kind, usual[i], config, policy));
    }
    rules.finish();
}

std::vector<Writes> writes_of(const policy::Policy& policy, std::string_view rule) {
    for (const policy::Rule& each : policy.rules) {
        if (each.name == rule) return kind_of(policy, each).writes;
    }
    return {};
}

}  // namespace trueup::config
