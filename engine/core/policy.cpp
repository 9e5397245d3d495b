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

std::string_view why(Reason reason) {
    switch (reason) {
        case Reason::kUnproven:
            return "a side is unknown until its source has listed everything";
        case Reason::kGrace:
            return "waiting out the grace";
        case Reason::kUnseen:
            return "the other side must prove itself past this moment first";
        case Reason::kStale:
            return "a source is silent";
        case Reason::kOwnWrite:
            return "our own last write is not in view yet";
        case Reason::kUncorrelatedRows:
            return "live rows without a pod and pods without a row may be each other's";
        case Reason::kDuplicateClaim:
            return "two live objects claim it";
        case Reason::kVeto:
            return "somebody put a hold on it";
        case Reason::kObserved:
            return "would act; the rule only observes";
        case Reason::kOutboxFull:
            return "too many commands are under way";
        case Reason::kRetry:
            return "the last try failed; it will be repeated";
        case Reason::kIncomplete:
            return "a value that the rule needs was not sent";
        case Reason::kQuarantine:
            return "a source lost suspiciously much at once";
        case Reason::kBudget:
            return "the rule has done enough for now; it waits its turn";
        case Reason::kUnreadable:
            return "a value that the rule needs cannot be read";
        case Reason::kClockSkew:
            return "the source's clock is too far off";
        case Reason::kApproval:
            return "waits for an approval";
        case Reason::kPaused:
            return "an operator paused it";
        case Reason::kWindow:
            return "waits for its window";
        case Reason::kHold:
            return "an operator holds it";
        case Reason::kNextStep:
            return "one part is done, the rest follows";
        case Reason::kOwnersChoice:
            return "reported; what to do is left to the owner";
        case Reason::kBackoff:
            return "waits before the next try";
        case Reason::kTransition:
            return "it is changing its state";
        case Reason::kEnding:
            return "another rule is ending it";
        case Reason::kEndingStuck:
            return "its ending has not gone on for 15 minutes";
        case Reason::kBusy:
            return "another command on the same object is under way";
        case Reason::kNoObject:
            return "waits until there is something to end";
        case Reason::kSuperseded:
            return "left half done: another object came under its name";
        case Reason::kDismissed:
            return "dismissed by an operator";
        case Reason::kDone:
            return "put right";
        case Reason::kAlreadyDone:
            return "was right already";
        case Reason::kRetracted:
            return "went away by itself";
        case Reason::kRefused:
            return "refused: the world had moved on";
        case Reason::kFailed:
            return "the executor could not do it";
        case Reason::kExpired:
            return "no executor took it in time";
        case Reason::kNone:
            break;
    }
    return "";
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
    edge.since = finding.since;
    edge.journal_id = meta.journal_id;
    edge.shard = meta.shard;
    edge.offset = finding.last_change;
    edge.command_id = finding.command ? std::optional(finding.command->id) : std::nullopt;
    explain(rule, subject, finding, meta.now, edge.sentence);
    put_evidence(subject, edge.evidence);
}

}  // namespace trueup::core
