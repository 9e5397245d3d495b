// What a verdict proposes becomes a command: whether anything holds it (a mode, an operator, a
// window, an approval that there is not, a budget), and its order in the name of the finding.
#include "engine/base/guard.h"
#include "engine/base/rfc3339.h"
#include "engine/core/awaited.h"
#include "engine/core/brake.h"
#include "engine/core/budget.h"
#include "engine/core/command_id.h"
#include "engine/core/edges.h"
#include "engine/core/ending.h"
#include "engine/core/endings.h"
#include "engine/core/findings.h"
#include "engine/core/marks.h"
#include "engine/core/row.h"
#include "engine/core/verdicts.h"
#include "engine/core/windows.h"

#include <algorithm>

namespace trueup::core {

/// What holds the command that the verdict proposes, if anything does. Changes nothing.
Brake Brakes::brake_on(const Subject& subject, const Finding& finding,
                       const Verdict& verdict) const {
    if (subject.held && TRUEUP_GUARD("operator_hold")) return {Stage::kHold, Reason::kHold, {}};
    const Mode mode = meta_.settings.rules[finding.rule.value()].mode;
    if (mode == Mode::kObserve) return {Stage::kMode, Reason::kObserved, {}};
    if (paused(finding.rule) && TRUEUP_GUARD("pause")) return {Stage::kPause, Reason::kPaused, {}};
    const std::optional<Millis> opens = opens_in(meta_.settings.windows, meta_.broker_now);
    if ((!opens || *opens > Millis{0}) && TRUEUP_GUARD("windows")) {
        const Wait wait = opens ? Wait{meta_.now + *opens, kNoSource, {}} : Wait{};
        return {Stage::kWindow, Reason::kWindow, wait};
    }
    if (!verdict.harmless && in_doubt()) return {Stage::kDoubt, Reason::kQuarantine, {}};
    if (refused_before(subject, finding)) return {Stage::kRefused, Reason::kRefused, {}};
    if (const Reason why = unapproved(finding, verdict); why != Reason::kNone) {
        return {Stage::kApproval, why, {}};
    }
    // Backing off after a failure, which the finding names by itself.
    if (finding.emit_again > meta_.now) return {Stage::kRetry, finding.reason, {}};
    if (const std::optional<Wait> wait = busy(subject, finding, verdict)) {
        return {Stage::kBusy, Reason::kBusy, *wait};
    }
    if (meta_.outbox >= meta_.settings.max_outbox) {
        return {Stage::kOutbox, Reason::kOutboxFull, {meta_.now + kOutboxPause, kNoSource, {}}};
    }
    if (verdict.harmless || has_turn(finding.rule, finding)) return {};
    Wait turn;
    turn.turn = Turn{finding.rule, finding.since};
    return {Stage::kBudget, Reason::kBudget, turn};
}

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

/// Has a live look refused this before, without any news since? It would refuse again.
bool Brakes::refused_before(const Subject& subject, const Finding& finding) const {
    if (!subject.aftermath || !TRUEUP_GUARD("refusal_waits_for_news")) return false;
    const auto& refusals = subject.aftermath->refusals;
    return std::any_of(refusals.begin(), refusals.end(), [&](const Refusal& refusal) {
        return refusal.rule == finding.rule && refusal.object_id == finding.object_id;
    });
}

/// Is another command under way that this one must not meet: on the same object, or, where what
/// begins now is more than one command, in the whole subject? Then it says until when, if that is
/// known.
std::optional<Wait> Brakes::busy(const Subject& subject, const Finding& finding,
                                 const Verdict& verdict) const {
    if (!TRUEUP_GUARD("one_command_per_object")) return std::nullopt;
    if (subject.aftermath && subject.aftermath->quiet_until >= meta_.broker_now) {
        const Millis left = subject.aftermath->quiet_until + Millis{1} - meta_.broker_now;
        return Wait{meta_.now + left, kNoSource, {}};
    }
    const bool begins = verdict.more && !state_.plan->rules[finding.rule.value()].ending.empty();
    const Target& target = verdict.command->target;
    const bool meets =
        std::any_of(subject.findings.begin(), subject.findings.end(), [&](const Finding& other) {
            if (!other.command) return false;
            const Target& taken = other.command->draft.target;
            return begins || (taken.source == target.source && taken.object_id == target.object_id);
        });
    return meets ? std::optional(Wait{}) : std::nullopt;
}

/// Was another command approved than this one, or none? Under one finding that is another question.
bool Brakes::moved(const Finding& finding, const Hash128& proposal) const {
    return finding.proposal != proposal && TRUEUP_GUARD("approval_of_this_command");
}

/// What an approval is needed for that there is not: kNone where exactly this command was approved,
/// or none is needed.
Reason Brakes::unapproved(const Finding& finding, const Verdict& verdict) const {
    const bool asks = verdict.reason != Reason::kNone;
    const bool by_mode = meta_.settings.rules[finding.rule.value()].mode == Mode::kApprove;
    const bool unlooked = !by_mode && !enabled(finding.rule);
    if (!asks && !by_mode && !unlooked) return Reason::kNone;
    // The approval was for all of it. Where nobody needed one before, each command asks.
    if (finding.steps > 0 && !unlooked) return Reason::kNone;
    const bool other = finding.proposal.none() || moved(finding, hash_of(*verdict.command));
    if (finding.approved && !other) return Reason::kNone;
    return asks ? verdict.reason : unlooked ? Reason::kNotEnabled : Reason::kApproval;
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
    const bool asked_already = finding.state != FindingState::kUnspecified && finding.reason == why;
    findings_.set_waiting(entry, finding, why);
    if (other && asked_already) findings_.note_edge(entry, finding);
}

/// The budget has room, and nobody has waited for it longer.
bool Brakes::has_turn(RuleNumber rule, const Finding& finding) const {
    const Budget& budget = meta_.settings.rules[rule.value()].budget;
    const bool spent = left_of(budget, meta_.rules[rule.value()].spending, meta_) == 0;
    if (spent && TRUEUP_GUARD("paced_budget")) return false;
    const std::optional<JournalTime> next = state_.waits.next_turn(rule);
    return !next || *next >= finding.since;
}

void Verdicts::act(Entry& entry, Finding& finding, Verdict& verdict) {
    finding.more = verdict.more;
    finding.approved = false;  // spent
    finding.proposal = {};
    if (!verdict.harmless) {
        spend(meta_.settings.rules[finding.rule.value()].budget, meta_,
              meta_.rules[finding.rule.value()].spending);
    }
    if (verdict.more && !state_.plan->rules[finding.rule.value()].ending.empty()) {
        endings_.begin_ending(entry, finding, *verdict.command);
    }
    // Executors follow the windows by the expiry: none of them acts after the window has closed.
    const Millis lasts =
        std::min(meta_.settings.command_ttl, closes_in(meta_.settings.windows, meta_.broker_now));
    findings_.issue(entry, finding, std::move(*verdict.command), lasts);
    if (entry.subject.ending) marks_.count(entry);
}

/// Orders it, in the name of the finding.
void Findings::issue(Entry& entry, Finding& finding, CommandDraft draft, Millis lasts) {
    const bool ends_it = ends(entry.subject, finding);
    const RuleNumber rule = ends_it ? entry.subject.ending->by : finding.rule;
    Command command;
    command.id = make_command_id(meta_, record_.offset, index_);
    command.policy = meta_.settings.policy;
    command.rule = state_.plan->rules[rule.value()].name;
    command.finding_id = finding.id;
    command.subject = entry.subject.key;
    command.draft = std::move(draft);
    command.issued = meta_.broker_now;
    for (Assignment& set : command.draft.action.sets) {
        if (set.now) set.value = rfc3339(to_millis(command.issued));
    }
    command.not_after = meta_.broker_now + lasts;
    put_evidence(entry.subject, command.evidence);
    finding.command = command;
    finding.state = FindingState::kCommanded;
    finding.reason = Reason::kNone;
    finding.emit_again = meta_.now + meta_.settings.emit_again;
    ++meta_.rules[finding.rule.value()].commands;
    ++meta_.outbox;
    note_edge(entry, finding);
    ++index_;
    report_.commands.push_back(std::move(command));
}

}  // namespace trueup::core
