#include "engine/core/edges.h"

#include "engine/core/ending.h"

#include <algorithm>
#include <array>
#include <functional>

namespace trueup::core {

namespace {

/// What a finding waits for, or how it ended, in a few words; by the reason's number.
constexpr std::array<std::string_view, 40> kWhy{
    "",
    "a side is unknown until its source has listed everything",
    "waiting out the grace",
    "the other side is not known to be complete up to this moment yet",
    "a source is silent",
    "our own last write is not visible in the source yet",
    "waits until what the policy counts is 0, or for an approval",
    "two live objects claim it",
    "it has a veto",
    "would act; the rule only observes",
    "too many commands are under way",
    "the last attempt failed; it will be repeated",
    "a value that the rule needs was not sent",
    "a source is in quarantine",
    "the rule has used its budget for now; it waits its turn",
    "a value that the rule needs cannot be parsed",
    "the source's clock is too far off",
    "waits for an approval",
    "an operator paused it",
    "waits for its window",
    "repaired",
    "was already in the wanted state",
    "went away by itself",
    "refused: the world has changed since",
    "the executor could not do it",
    "no executor took it in time",
    "dismissed by an operator",
    "an operator holds it",
    "one step is done, the rest follows",
    "only reported; the owner decides",
    "waits before the next attempt",
    "it is changing its state",
    "another rule is ending it",
    "its termination has made no progress for 15 minutes",
    "another command on the same object is under way",
    "waits until there is something to terminate",
    "left half done: another object took its name",
    "the rule is not enabled as it is; waits for that, or for an approval",
    "a field that the rule needs says a word that the policy does not list",
    "the rule did the same here twice within a day, and it came again; waits for an approval",
};

std::string_view why(Reason reason) {
    const auto number = static_cast<std::size_t>(reason);
    return number < kWhy.size() ? kWhy[number] : "";
}

}  // namespace

void explain(const PlanRule& rule, const Subject& subject, const Finding& finding, JournalTime now,
             std::string& text) {
    text = subject.name();
    text += ": ";
    text += rule.finds;
    if (finding.state == FindingState::kCommanded && finding.command) {
        text += "; ";
        text += name_of(finding.command->draft.action.kind);
        text += " ordered";
    } else if (finding.reason == Reason::kUncorrelatedRows && !finding.count.empty()) {
        text += "; waits until ";
        text += finding.count;
        text += " is 0, or for an approval";
    } else if (const std::string_view reason = why(finding.reason); !reason.empty()) {
        text += "; ";
        text += reason;
    }
    if (ends(subject, finding) && !rule.ending.empty()) {
        text += "; " + std::to_string(subject.ending->next) + " of " +
                std::to_string(rule.ending.size()) + " steps done";
    }
    const auto lasted = std::chrono::duration_cast<std::chrono::seconds>(now - finding.since);
    if (lasted.count() > 0) text += " (for " + std::to_string(lasted.count()) + " s)";
}

void put_evidence(const Subject& subject, std::vector<Offset>& offsets) {
    offsets.clear();
    for (const Facet& facet : subject.facets) offsets.push_back(facet.offset);
    // Few they are, and often they ascend.
    const bool ascend =
        std::adjacent_find(offsets.begin(), offsets.end(), std::greater_equal<>()) == offsets.end();
    if (ascend) return;
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
}

void fill_edge(const Meta& meta, const Plan& plan, const Subject& subject, const Finding& finding,
               FindingEdge& edge) {
    const PlanRule& rule = plan.rules[finding.rule.value()];
    edge.id = finding.id;
    edge.policy = meta.settings.policy;
    edge.rule = rule.name;
    edge.subject = subject.key;
    edge.object_id = finding.object_id;
    edge.state = finding.state;
    edge.reason = finding.reason;
    edge.count_reason.clear();
    if (finding.reason == Reason::kUncorrelatedRows) {
        edge.count_reason = plan.count_reason(plan.tally(finding.count));
    }
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
