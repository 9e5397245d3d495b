#include "engine/core/policy.h"

#include "engine/base/check.h"
#include "engine/core/ending.h"
#include "engine/core/rules/ec2_workers/policy.h"
#include "engine/core/rules/ephemeral_runners/policy.h"
#include "engine/core/rules/graph_instances/policy.h"
#include "engine/core/rules/processors/policy.h"
#include "engine/core/rules/storage_instances/policy.h"

#include <algorithm>
#include <array>

namespace trueup::core {

const Policy* find_policy(std::string_view name) {
    static constexpr std::array<const Policy*, 5> kPolicies{
        &graph_instances::kPolicy, &ec2_workers::kPolicy, &processors::kPolicy,
        &storage_instances::kPolicy, &ephemeral_runners::kPolicy};
    for (const Policy* policy : kPolicies) {
        if (policy->name == name) return policy;
    }
    return nullptr;
}

std::uint8_t rule_number(const Policy& policy, std::string_view name) {
    const auto rules = static_cast<std::uint8_t>(policy.rules.size());
    for (std::uint8_t rule = 0; rule < rules; ++rule) {
        if (policy.rules[rule].name == name) return rule;
    }
    return kEveryRule;
}

Role role_number(const Policy& policy, std::string_view name) {
    const auto roles = static_cast<Role>(policy.roles.size());
    for (Role role = 0; role < roles; ++role) {
        if (policy.roles[role].name == name) return role;
    }
    return kNoRole;
}

Tally count_nothing(const Subject& /*subject*/, const Settings& /*settings*/) { return {}; }

bool owned_by_nobody(const Subject& /*subject*/, const Settings& /*settings*/,
                     std::string_view /*who*/) {
    return false;
}

Settings usual_settings(std::string_view name, Mode mode) {
    const Policy* policy = find_policy(name);
    TRUEUP_CHECK(policy != nullptr);
    Settings settings;
    settings.policy = settings.use = name;
    const auto roles = static_cast<Role>(policy->roles.size());
    for (Role role = 0; role < roles; ++role) {
        const RoleKind& kind = policy->roles[role];
        if (kind.optional) continue;
        settings.sources.push_back({std::string(kind.name), kind.topic, role, {}});
    }
    for (const Rule& rule : policy->rules) {
        settings.rules.push_back(
            {std::string(rule.name), mode, rule.grace, rule.create_window, Budget{}});
    }
    settings.stale_after = policy->stale_after;
    return settings;
}

RuleSettings& rule_settings(Settings& settings, std::string_view rule) {
    const auto found = std::find_if(settings.rules.begin(), settings.rules.end(),
                                    [&](const RuleSettings& r) { return r.rule == rule; });
    TRUEUP_CHECK(found != settings.rules.end());
    return *found;
}

namespace {

/// What a finding waits for, or how it ended, in a few words; by the reason's number.
constexpr std::array<std::string_view, 37> kWhy{
    "",
    "a side is unknown until its source has listed everything",
    "waiting out the grace",
    "the other side must prove itself past this moment first",
    "a source is silent",
    "our own last write is not in view yet",
    "live rows without a pod and pods without a row may be each other's",
    "two live objects claim it",
    "somebody put a hold on it",
    "would act; the rule only observes",
    "too many commands are under way",
    "the last try failed; it will be repeated",
    "a value that the rule needs was not sent",
    "a source lost suspiciously much at once",
    "the rule has done enough for now; it waits its turn",
    "a value that the rule needs cannot be read",
    "the source's clock is too far off",
    "waits for an approval",
    "an operator paused it",
    "waits for its window",
    "put right",
    "was right already",
    "went away by itself",
    "refused: the world had moved on",
    "the executor could not do it",
    "no executor took it in time",
    "dismissed by an operator",
    "an operator holds it",
    "one part is done, the rest follows",
    "reported; what to do is left to the owner",
    "waits before the next try",
    "it is changing its state",
    "another rule is ending it",
    "its ending has not gone on for 15 minutes",
    "another command on the same object is under way",
    "waits until there is something to end",
    "left half done: another object came under its name",
};

std::string_view why(Reason reason) {
    const auto number = static_cast<std::size_t>(reason);
    return number < kWhy.size() ? kWhy[number] : "";
}

}  // namespace

void explain(const Rule& rule, const Subject& subject, const Finding& finding, JournalTime now,
             std::string& text) {
    text = subject.name();
    text += ": ";
    text += rule.finds;
    if (finding.state == FindingState::kCommanded && finding.command) {
        text += "; ";
        text += name_of(finding.command->draft.action.kind);
        text += " ordered";
    } else if (const std::string_view reason = why(finding.reason); !reason.empty()) {
        text += "; ";
        text += reason;
    }
    if (ends(subject, finding) && !rule.steps.empty()) {
        text += "; " + std::to_string(subject.ending->next) + " of " +
                std::to_string(rule.steps.size()) + " steps done";
    }
    const auto lasted = std::chrono::duration_cast<std::chrono::seconds>(now - finding.since);
    if (lasted.count() > 0) text += " (for " + std::to_string(lasted.count()) + " s)";
}

void put_evidence(const Subject& subject, std::vector<std::int64_t>& offsets) {
    offsets.clear();
    for (const Facet& facet : subject.facets) offsets.push_back(facet.offset);
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
}

void fill_edge(const Meta& meta, const Rule& rule, const Subject& subject, const Finding& finding,
               FindingEdge& edge) {
    edge.id = finding.id;
    edge.policy = meta.settings.policy;
    edge.rule = rule.name;
    edge.subject = subject.key;
    edge.object_id = finding.object_id;
    edge.state = finding.state;
    edge.reason = finding.reason;
    edge.opened = false;
    edge.since = finding.since;
    edge.journal_id = meta.journal_id;
    edge.shard = meta.shard;
    edge.offset = finding.last_change;
    edge.command_id = finding.command ? std::optional(finding.command->id) : std::nullopt;
    explain(rule, subject, finding, meta.now, edge.sentence);
    put_evidence(subject, edge.evidence);
}

}  // namespace trueup::core
