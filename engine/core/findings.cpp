// Verdicts become findings: the fold compares what the rules say with the findings that are open
// and emits only the edges. A finding whose command is under way stays as it is until the outcome.
#include "engine/core/findings.h"

#include "engine/core/awaited.h"
#include "engine/core/command_id.h"
#include "engine/core/draft.h"
#include "engine/core/edges.h"
#include "engine/core/verdicts.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

namespace {

/// Is a command of this rule without outcome? What it did may be in view before it is reported.
bool under_way(const Subject& subject, RuleNumber rule) {
    return std::any_of(subject.findings.begin(), subject.findings.end(),
                       [&](const Finding& f) { return f.rule == rule && f.command.has_value(); });
}

}  // namespace

/// A dismissal is of what was there. Another object is another question.
void Findings::void_dismissals(Entry& entry) {
    Subject& subject = entry.subject;
    const auto news = [&](const Finding& finding) {
        return finding.dismissed &&
               std::any_of(subject.facets.begin(), subject.facets.end(), [&](const Facet& facet) {
                   const auto& known = finding.dismissed_of;
                   return facet.present() &&
                          std::find(known.begin(), known.end(), facet.object_id) == known.end();
               });
    };
    if (std::erase_if(subject.findings, news) > 0) state_.subjects.mark_dirty(entry);
}

void Verdicts::settle(Entry& entry, RuleNumber rule, Verdict verdict) {
    const bool nothing = verdict.kind == Verdict::Kind::kHealthy && verdict.wait == Wait{};
    if (nothing && entry.subject.findings.empty() && !entry.subject.request) return;
    settle_others(entry, rule, verdict);
    if (verdict.wait != Wait{}) awaited_.wait_for(verdict.wait);
    if (verdict.kind == Verdict::Kind::kHealthy &&
        state_.plan->rules[rule.value()].asked_by(entry.subject.request) &&
        !under_way(entry.subject, rule)) {
        entry.subject.request.reset();  // there is nothing to do any more
        state_.subjects.mark_dirty(entry);
    }
    if (verdict.kind == Verdict::Kind::kHealthy || verdict.kind == Verdict::Kind::kAbstain) return;
    Finding& finding = findings_.open(entry, rule, verdict.object_id);
    if (finding.command || finding.dismissed) return;
    if (verdict.command) give_time(meta_.settings, rule, *verdict.command);
    if (verdict.kind == Verdict::Kind::kWaiting)
        return findings_.set_waiting(entry, finding, verdict.reason);
    if (may_act(entry, finding, verdict)) act(entry, finding, verdict);
}

/// What the verdict means for the rule's findings about other objects, or about none.
void Verdicts::settle_others(Entry& entry, RuleNumber rule, const Verdict& verdict) {
    const bool names_one =
        verdict.kind == Verdict::Kind::kWaiting || verdict.kind == Verdict::Kind::kAct;
    std::vector<Finding>& findings = entry.subject.findings;
    for (std::size_t i = findings.size(); i > 0; --i) {
        Finding& finding = findings[i - 1];
        if (finding.rule != rule || finding.command) continue;
        if (names_one && finding.object_id == verdict.object_id) continue;
        if (verdict.kind == Verdict::Kind::kAbstain) {
            // Something else came in between: what was approved was approved without it.
            finding.approved = false;
            if (!finding.dismissed) findings_.set_waiting(entry, finding, verdict.reason);
        } else if (finding.dismissed) {
            findings.erase(findings.begin() + static_cast<std::ptrdiff_t>(i - 1));
            state_.subjects.mark_dirty(entry);
        } else {
            ++meta_.rules[rule.value()].retracted;
            findings_.resolve(entry, i - 1, Reason::kRetracted);
        }
    }
}

Finding& Findings::open(Entry& entry, RuleNumber rule, std::string_view object_id) {
    std::vector<Finding>& findings = entry.subject.findings;
    const auto place = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) {
        return f.rule > rule || (f.rule == rule && f.object_id >= object_id);
    });
    if (place != findings.end() && place->rule == rule && place->object_id == object_id) {
        return *place;
    }
    Finding fresh;
    fresh.id = make_finding_id(meta_, record_.offset, index_);
    fresh.rule = rule;
    fresh.object_id = object_id;
    fresh.since = meta_.now;
    ++meta_.rules[rule.value()].detected;
    ++meta_.open_findings;
    state_.subjects.mark_dirty(entry);
    return *findings.insert(place, std::move(fresh));
}

void Findings::set_waiting(Entry& entry, Finding& finding, Reason reason) {
    const bool fresh = finding.state == FindingState::kUnspecified;
    if (!fresh && finding.reason == reason && finding.state != FindingState::kCommanded) return;
    // Backing off after a failure is the better explanation until it is over.
    if (finding.emit_again > meta_.now && !fresh) return;
    finding.state = state_of(reason);
    finding.reason = reason;
    note_edge(entry, finding);
}

void Findings::resolve(Entry& entry, std::size_t index, Reason reason) {
    std::vector<Finding>& findings = entry.subject.findings;
    Finding& finding = findings[index];
    finding.state = FindingState::kResolved;
    finding.reason = reason;
    note_edge(entry, finding);
    findings.erase(findings.begin() + static_cast<std::ptrdiff_t>(index));
    --meta_.open_findings;
}

void Findings::note_edge(Entry& entry, Finding& finding) {
    const bool opened = finding.last_change < kFirstOffset;
    finding.last_change = record_.offset;
    const PlanRule& rule = state_.plan->rules[finding.rule.value()];
    FindingEdge& edge = report_.findings.add();
    fill_edge(meta_, rule, entry.subject, finding, edge);
    edge.opened = opened;
    edge.index = index_++;
    edge.append_time = record_.append_time;
    state_.subjects.mark_dirty(entry);
}

}  // namespace trueup::core
