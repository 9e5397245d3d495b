// Verdicts become findings: the fold compares what the rules say with the findings that are open
// and emits only the edges. A finding whose command is under way stays as it is until the outcome.
// What a verdict proposes becomes a command where nothing holds it.
#include "engine/core/verdicts.h"

#include "engine/core/awaited.h"
#include "engine/core/brake.h"
#include "engine/core/budget.h"
#include "engine/core/draft.h"
#include "engine/core/endings.h"
#include "engine/core/findings.h"
#include "engine/core/marks.h"
#include "engine/core/row.h"
#include "engine/core/windows.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

namespace {

bool names_one(const Verdict& verdict) {
    return verdict.kind == Verdict::Kind::kWaiting || verdict.kind == Verdict::Kind::kAct;
}

/// Would the rule act now on another object than the one that it was asked about?
bool of_another(const StandingRequest& request, const Verdict& verdict) {
    return names_one(verdict) && !request.target.empty() && verdict.object_id != request.target;
}

}  // namespace

/// Does nothing hold the command that the verdict proposes? If something does, the finding says
/// what.
bool Verdicts::may_act(Entry& entry, Finding& finding, const Verdict& verdict) {
    const Brake brake = brakes_.brake_on(entry.subject, finding, verdict);
    if (brake.stage == Stage::kAct) return true;
    if (brake.stage == Stage::kRetry) return false;
    if (!brake.wait.empty()) awaited_.wait_for(brake.wait);
    if (brake.stage == Stage::kApproval) {
        ask_approval(entry, finding, verdict, brake.reason);
    } else {
        findings_.set_waiting(entry, finding, brake.reason);
    }
    return false;
}

/// Keeps what is proposed, so that an approval is of that.
void Verdicts::ask_approval(Entry& entry, Finding& finding, const Verdict& verdict, Reason why) {
    const Hash128 proposal = hash_of(*verdict.command);
    const bool other = brakes_.moved(finding, proposal);
    if (other || finding.proposal.none()) {
        finding.proposal = proposal;
        finding.approved = false;
        state_.subjects.mark_dirty(entry);
    }
    const TallyId waits_for =
        why == Reason::kUncorrelatedRows ? verdict.wait.none_of : TallyId{kNoTally};
    const std::string_view count =
        waits_for == kNoTally ? std::string_view() : state_.plan->tallies[waits_for].name;
    const bool asked_already = finding.state != FindingState::kUnspecified &&
                               finding.reason == why && finding.count == count;
    findings_.set_waiting(entry, finding, why, count);
    if (other && asked_already) findings_.note_edge(entry, finding);
}

void Verdicts::act(Entry& entry, Finding& finding, Verdict& verdict) {
    finding.more = verdict.more;
    finding.approved = false;  // spent
    finding.proposal = {};
    if (!verdict.harmless) {
        spend(meta_.settings.rules[finding.rule.value()].budget, meta_,
              meta_.rules[finding.rule.value()].spending);
    }
    const PlanRule& rule = state_.plan->rules[finding.rule.value()];
    auto& request = entry.subject.request;
    if (rule.asked_by(request) && request->target.empty()) request->target = finding.object_id;
    if (verdict.more && !rule.ending.empty()) {
        endings_.begin_ending(entry, finding, *verdict.command);
    }
    // Executors follow the windows by the expiry: none of them acts after the window has closed.
    const Millis lasts =
        std::min(meta_.settings.command_ttl, closes_in(meta_.settings.windows, meta_.broker_now));
    findings_.issue(entry, finding, std::move(*verdict.command), lasts);
    if (entry.subject.ending) marks_.count(entry);
}

void Verdicts::settle(Entry& entry, RuleNumber rule, Verdict verdict) {
    const bool nothing = verdict.kind == Verdict::Kind::kHealthy && verdict.wait == Wait{};
    if (nothing && entry.subject.findings.empty() && !entry.subject.request) return;
    auto& request = entry.subject.request;
    const bool asked = state_.plan->rules[rule.value()].asked_by(request);
    // What it did may be in view before it is reported: nothing more is done before that.
    if (asked && under_way(entry.subject, rule)) return;
    if (asked && of_another(*request, verdict)) verdict = Verdict::healthy();
    if (asked && verdict.kind == Verdict::Kind::kHealthy) let_go(entry, rule);
    settle_others(entry, rule, verdict);
    if (verdict.wait != Wait{}) awaited_.wait_for(verdict.wait);
    if (verdict.kind == Verdict::Kind::kHealthy || verdict.kind == Verdict::Kind::kAbstain) return;
    Finding& finding = findings_.open(entry, rule, verdict.object_id);
    findings_.note_found(entry, finding, true);
    if (finding.command || finding.dismissed) return;
    if (verdict.command) give_time(meta_.settings, rule, *verdict.command);
    if (verdict.kind == Verdict::Kind::kWaiting)
        return findings_.set_waiting(entry, finding, verdict.reason);
    if (may_act(entry, finding, verdict)) act(entry, finding, verdict);
}

/// There is nothing to do any more. Whoever asked is told so, also where it came to no finding yet:
/// the finding that is opened here is retracted with the others.
void Verdicts::let_go(Entry& entry, RuleNumber rule) {
    findings_.open_of_request(entry, rule);
    entry.subject.request.reset();
    state_.subjects.mark_dirty(entry);
}

/// What the verdict means for the rule's findings about other objects, or about none.
void Verdicts::settle_others(Entry& entry, RuleNumber rule, const Verdict& verdict) {
    std::vector<Finding>& findings = entry.subject.findings;
    for (std::size_t i = findings.size(); i > 0; --i) {
        Finding& finding = findings[i - 1];
        if (finding.rule != rule) continue;
        if (names_one(verdict) && finding.object_id == verdict.object_id) continue;
        if (finding.command) {
            // Its outcome comes first.
            const bool over = verdict.kind != Verdict::Kind::kAbstain;
            if (over) findings_.note_found(entry, finding, false);
            continue;
        }
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

}  // namespace trueup::core
