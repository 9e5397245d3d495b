// The names of a policy file for dashboards and log readers: metrics and events.
#include "apps/config/policy_reader.h"
#include "apps/config/words.h"
#include "engine/base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::config {

namespace {

/// Those that the process has itself, or may come to have.
bool is_taken_metric(std::string_view name) {
    return name.starts_with("trueup_") || name.starts_with("reconciliation_");
}

bool is_taken_event(std::string_view name) {
    // Of an event's own members, too: a name with `on: reconcile` becomes one.
    constexpr std::array<std::string_view, 12> kOwn{
        "started",  "request", "command_ended", "reconciliation_pass_completed",
        "stopping", "stopped", "policy",        "duration_seconds",
        "event",    "time",    "level",         "message"};
    return std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end();
}

/// Which a rule's findings are about: what the last step writes, or else what `when` names first.
bool finds_pods(const policy::Policy& policy, const std::string& name) {
    for (const policy::Rule& rule : policy.rules) {
        if (rule.name != name || rule.cases.empty()) continue;
        const policy::Case& found = rule.cases.front();
        std::string role = found.steps.empty() ? std::string() : found.steps.back().role;
        if (role.empty() && !found.when.empty()) role = found.when.front().role;
        const policy::Role* about = policy::find_role(policy, role);
        return about != nullptr && about->kind == policy::Kind::kPod;
    }
    return false;
}

template <typename Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
    std::vector<std::string> names;
    names.reserve(all.size());
    for (const Named& one : all) names.push_back(one.name);
    return names;
}

}  // namespace

void PolicyReader::read_exports(const Tree& tree) {
    for (const Tree* metric : named(tree, "metrics")) read_metric(*metric);
    for (const Tree* event : named(tree, "events")) read_event(*event);
}

/// Is it one of these? Else that is noted.
void PolicyReader::check_known(Section& at, std::string_view key, std::string_view what,
                               const std::vector<std::string>& known) {
    const std::string name = at.text(key);
    if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) return;
    at.problem(key, fmt::format("is '{}', which is not a {}; {}", name, what,
                                known.empty() ? "there is none" : did_you_mean(name, known)));
}

/// The place of what `on` says among these words; 0 where it is none of them, which is noted.
std::size_t PolicyReader::read_on(Section& at, const std::vector<std::string>& words) {
    const std::string on = at.text("on");
    const auto found = std::find(words.begin(), words.end(), on);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    at.problem("on",
               fmt::format("{}; write {}", on.empty() ? "is missing" : fmt::format("is '{}'", on),
                           enumerate(words, "or")));
    return 0;
}

/// `{rule: RULE, on: found}`, or `{count: COUNT, label: NAME}`.
void PolicyReader::read_metric(const Tree& tree) {
    policy::Metric metric;
    metric.name = tree.key;
    Section at = section(tree, "metrics." + metric.name);
    if (!at.present()) return;
    metric.rule = at.text("rule");
    metric.count = at.text("count");
    metric.label = at.text("label");
    metric.help = at.text("help");
    if (is_taken_metric(metric.name)) {
        terms_.flaw(tree.line, fmt::format("{} is a name of Trueup's own metrics; write one that "
                                           "does not begin with trueup_ or reconciliation_",
                                           at.path()));
    }
    if (metric.rule.empty() == metric.count.empty()) {
        at.text("on");
        terms_.flaw(tree.line,
                    fmt::format("{} is of {}; write {{rule: RULE, on: found}} or "
                                "{{count: COUNT}}",
                                at.path(), metric.rule.empty() ? "nothing" : "two things"));
    } else if (metric.count.empty()) {
        check_known(at, "rule", "rule", names_of(policy_.rules));
        metric.on = static_cast<policy::Metric::On>(
            read_on(at, {"found", "commanded", "repaired", "retracted"}));
        if (at.has("label")) at.problem("label", "is only for a count by a field; leave it out");
    } else {
        read_counted_metric(at, metric);
    }
    const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    if (std::any_of(metric.help.begin(), metric.help.end(), is_control)) {
        at.problem("help", "has a line break or a tab; write one line");
    }
    if (metric.help.empty()) {
        metric.help = metric.count.empty() ? "Findings of the rule " + metric.rule + "."
                                           : "The count " + metric.count + " of the policy.";
    }
    at.finish();
    exports_.metrics.push_back(std::move(metric));
}

void PolicyReader::read_counted_metric(Section& at, policy::Metric& metric) {
    check_known(at, "count", "count", names_of(policy_.counts));
    const auto count =
        std::find_if(policy_.counts.begin(), policy_.counts.end(),
                     [&](const policy::Count& one) { return one.name == metric.count; });
    if (count == policy_.counts.end()) return;
    if (metric.label.empty()) metric.label = count->by;
    const bool wrong =
        !metric.label.empty() && (!is_word(metric.label) || metric.label == "policy");
    if (wrong) {
        at.problem("label", fmt::format("is '{}'; write lower-case letters, digits and _, starting "
                                        "with a letter, and not policy, which every metric has",
                                        metric.label));
    } else if (!metric.label.empty() && count->by.empty()) {
        at.problem("label", fmt::format("tells nothing apart: {} has one number; leave it out",
                                        metric.count));
    }
}

/// `{rule: RULE, on: found}`.
void PolicyReader::read_event(const Tree& tree) {
    policy::Event event;
    event.name = tree.key;
    Section at = section(tree, "events." + event.name);
    if (!at.present()) return;
    at.require("rule", "rule: RULE");
    event.rule = at.text("rule");
    check_known(at, "rule", "rule", names_of(policy_.rules));
    event.of_pods = finds_pods(policy_, event.rule);
    event.on = static_cast<policy::Event::On>(read_on(at, {"found", "done", "reconcile"}));
    if (is_taken_event(event.name)) {
        terms_.flaw(tree.line,
                    fmt::format("{} is a name of Trueup's own; write another one", at.path()));
    }
    at.finish();
    exports_.events.push_back(std::move(event));
}

}  // namespace trueup::config
