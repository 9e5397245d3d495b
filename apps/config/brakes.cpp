// What holds the rules of a policy back, and what may be loosened of that: objects that no executor
// would find again, several partitions, and limits beyond what is safe.
#include "apps/config/policy_settings.h"
#include "apps/config/reading.h"
#include "apps/config/words.h"
#include "engine/base/suggest.h"
#include "policies/shipped.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace trueup::config {

namespace {

/// What is counted over all subjects, each shard counts over its own: a live row that may own any
/// pod holds back the orphans of its shard only.
void check_shards(Section& section, const PolicyConfig& policy, const Config& config) {
    if (!config.kafka || config.kafka->partitions <= 1) return;
    std::vector<std::string> acting;
    std::vector<std::string> counts;
    for (std::size_t i = 0; i < policy.rules.size(); ++i) {
        if (!acts(policy.rules[i].mode)) continue;
        for (const policy::Case& each : policy.text->rules[i].cases) {
            if (!each.ask_while.empty()) add_once(acting, policy.rules[i].rule);
            for (const std::string& count : each.ask_while) add_once(counts, count);
        }
    }
    if (acting.empty()) return;
    section.problem(
        "rules",
        fmt::format("lets {} act, which asks while a count over all subjects is not 0 ({}), and "
                    "with bus.kafka.partitions {} each shard counts for itself; write partitions: "
                    "1, or mode: observe, or take ask_while out of a policy of your own",
                    enumerate(acting), enumerate(counts), config.kafka->partitions));
}

/// The rules that act and mention the role.
std::vector<std::string> acting_on(const PolicyConfig& policy, const core::Plan& plan, Role role) {
    std::vector<std::string> rules;
    for (std::size_t i = 0; i < policy.rules.size(); ++i) {
        const auto& roles = plan.rules[i].roles;
        if (acts(policy.rules[i].mode) &&
            std::find(roles.begin(), roles.end(), role) != roles.end()) {
            rules.push_back(policy.rules[i].rule);
        }
    }
    return rules;
}

/// What a list of steps leaves is done to what has the name of what is gone. By a label there may
/// be several, of which the first step takes one.
void check_ends_by_name(Section& section, const PolicyConfig& policy, const core::Plan& plan,
                        const policy::Role& role, const std::vector<std::string>& acting) {
    const Role number = policies::role_number(*policy.text, role.name);
    std::vector<std::string> ending;
    for (const std::string& name : acting) {
        const std::vector<core::PlanStep>& steps = plan.rules[plan.rule(name).value()].ending;
        const bool ends = std::any_of(steps.begin(), steps.end(), [&](const core::PlanStep& step) {
            return step.role == number;
        });
        if (ends) ending.push_back(name);
    }
    if (ending.empty()) return;
    section.problem(
        "rules", fmt::format("lets {} act, with a list of steps of which one is for {}, which are "
                             "known by a label: this release carries out lists on what is known "
                             "by its name; write mode: observe, or one step",
                             enumerate(ending), role.name));
}

/// The live look before a write asks by the key that the policy says.
void check_label(Section& section, const PolicyConfig& policy, const core::Plan& plan,
                 const SourceConfig& source, const policy::Role& role) {
    const std::string label = key_label_of(policy, source);
    const std::string& own = source.kubernetes()->key_label;
    if (!own.empty() && own != label) {
        section.problem("roles", fmt::format("knows {} by the label {}, but sources.{}.kubernetes."
                                             "key_label is {}; leave key_label out",
                                             role.name, label, source.name, own));
    }
    const std::vector<std::string> acting =
        acting_on(policy, plan, policies::role_number(*policy.text, role.name));
    if (label.empty() || acting.empty()) return;
    check_ends_by_name(section, policy, plan, role, acting);
    if (own.empty() || !policy::is_name(role.key)) return;
    section.problem(
        "rules",
        fmt::format(
            "lets {} act, but {} are known by the label {} in the configuration and by their "
            "name in the policy, which is what is looked up before a write; write mode: "
            "observe, or key: label.{} in the policy instead of sources.{}.kubernetes."
            "key_label",
            enumerate(acting), role.name, label, label, source.name));
}

/// Every object that a rule which acts looks at is looked up once more before each of its writes,
/// by its name and where its source looks.
void check_spaces(Section& section, const PolicyConfig& policy, const core::Plan& plan,
                  const SourceConfig& source, const policy::Role& role) {
    const ports::Resource& resource = source.kubernetes()->resource;
    if (resource.cluster_scoped || !resource.name_space.empty()) return;
    const Role number = policies::role_number(*policy.text, role.name);
    const std::vector<std::string> acting = acting_on(policy, plan, number);
    if (acting.empty()) return;
    section.problem("rules",
                    fmt::format("lets {} act, but sources.{} has all namespaces, and a name of {} "
                                "says nothing of the namespace that is meant; write mode: observe, "
                                "or a source for each namespace, as in roles: {{{}: [one, two]}}; "
                                "of objects that lie in no namespace write cluster_scoped: true",
                                enumerate(acting), source.name, role.name, role.name));
}

/// The sources of objects that the rule deletes; `patched`: or sets fields of.
std::vector<const SourceConfig*> deleted_by(const PolicyConfig& policy, std::string_view rule,
                                            const Config& config, bool patched = false) {
    std::vector<const SourceConfig*> all;
    for (const Writes& writes : writes_of(*policy.text, rule)) {
        const bool written = writes.removes() || (patched && writes.patches());
        for (const std::string& name : policy.sources_of(writes.role)) {
            const SourceConfig* source = config.source(name);
            if (written && source != nullptr && source->kubernetes() != nullptr) {
                all.push_back(source);
            }
        }
    }
    return all;
}

/// The resource that a rule which acts deletes, or sets fields of, because of a `none`, from a
/// source without a selector; empty: none.
std::string unselected(const PolicyConfig& policy, const RuleSettings& rule,
                       const policy::Rule& text, const Config& config) {
    if (!acts(rule.mode)) return {};
    const bool none = std::any_of(text.cases.begin(), text.cases.end(),
                                  [](const policy::Case& one) { return one.rests_on_none(); });
    if (!none) return {};
    for (const SourceConfig* source : deleted_by(policy, rule.rule, config, true)) {
        // Of pods an empty selector is no configuration at all.
        const KubernetesSource& objects = *source->kubernetes();
        if (source->topic() == Topic::kChangesResources && objects.selector.empty()) {
            return objects.resource.plural;
        }
    }
    return {};
}

}  // namespace

std::string lost_for_good(const PolicyConfig& policy, std::string_view rule, const Config& config) {
    for (const SourceConfig* source : deleted_by(policy, rule, config)) {
        const std::string& plural = source->kubernetes()->resource.plural;
        if (source->kubernetes()->irreversible) return plural;
        for (const char* each :
             {"namespaces", "persistentvolumeclaims", "persistentvolumes",
              "customresourcedefinitions", "volumesnapshots", "secrets", "kafkatopics"}) {
            if (plural == each) return plural;
        }
    }
    return {};
}

void check_reach(Section& section, const core::Plan& plan, const PolicyConfig& policy,
                 const Config& config) {
    for (const SourceConfig& source : config.sources) {
        const policy::Role* role = policy.role_of(source.name);
        if (role == nullptr || source.kubernetes() == nullptr) continue;
        check_label(section, policy, plan, source, *role);
        check_spaces(section, policy, plan, source, *role);
    }
}

namespace {

using Loosened =
    std::function<void(const char* key, const std::string& brake, const std::string& what)>;

void check_brakes_of(const RuleSettings& rule, const RuleSettings& usual, const policy::Rule& text,
                     const PolicyConfig& policy, const Config& config, const Loosened& loosened) {
    const std::string what = lost_for_good(policy, rule.rule, config);
    if (rule.mode == Mode::kEnforce && !what.empty()) {
        loosened("rules", rule.rule + ".irreversible",
                 fmt::format("what is in {} does not come back; mode: approve asks somebody each "
                             "time",
                             what));
    }
    if (const std::string all = unselected(policy, rule, text, config); !all.empty()) {
        loosened("rules", rule.rule + ".no_selector",
                 fmt::format("it {} {} because of what is not there, and their source selects "
                             "nothing, so that every one of the namespace is a candidate",
                             deleted_by(policy, rule.rule, config).empty() ? "updates" : "deletes",
                             all));
    }
    if (rule.grace_period == 0U) {
        loosened("rules", rule.rule + ".grace_period",
                 "with 0s a pod is killed: its name and its volumes are free while its processes "
                 "may still run");
    }
    const bool changes =
        std::any_of(text.cases.begin(), text.cases.end(),
                    [](const policy::Case& each) { return each.takes_away() || each.writes(); });
    if (changes && usual.grace > Millis(0) && rule.grace == Millis(0)) {
        loosened("rules", rule.rule + ".grace",
                 "with 0s it acts on what is wrong for a moment only");
    }
    if (!by_absence(usual) || rule.create_window > Millis(0)) return;
    loosened("rules", rule.rule + ".create_window",
             "with 0s a pod that is seen before its row, or a row before its pod, is at risk");
}

}  // namespace

void check_brakes(Section& section, PolicyConfig& policy, const Config& config) {
    policy.acknowledged = section.texts("acknowledge");
    std::vector<std::string> known = policy.acknowledged;  // and what rules say of themselves
    for (const policy::Rule& rule : policy.text->rules) {
        if (!rule.acknowledges(policy::kIrreversible)) continue;
        known.push_back(fmt::format("{}.{}", rule.name, policy::kIrreversible));
    }
    check_shards(section, policy, config);
    const Loosened loosened = [&](const char* key, const std::string& brake,
                                  const std::string& what) {
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
    const std::vector<RuleSettings> usual = usual_rules(policy);
    for (std::size_t i = 0; i < policy.rules.size(); ++i) {
        check_brakes_of(policy.rules[i], usual[i], policy.text->rules[i], policy, config, loosened);
    }
    for (const std::string& name : policy.acknowledged) {
        // Of other policies nothing is known here.
        if (contains(policy.known, name) || name.starts_with(kSharedObjects)) continue;
        section.problem("acknowledge",
                        fmt::format("names '{}', which is not relaxed; leave it out", name));
    }
}

}  // namespace trueup::config
