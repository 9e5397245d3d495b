// What holds an act: a mode, an operator, a window, a budget, a source in doubt, an approval that
// there is not.
#include "engine/core/brake.h"

#include "engine/base/guard.h"
#include "engine/core/budget.h"
#include "engine/core/ending.h"
#include "engine/core/row.h"
#include "engine/core/windows.h"

#include <algorithm>

namespace trueup::core {

/// May the rule have anything done as it is set?
bool Brakes::acting(RuleNumber rule) const { return acts(meta_.settings.rules[rule.value()].mode); }

/// Is the finding's command not to be said again: does its rule not act any more, or did an
/// operator say stop?
bool Brakes::stopped(const Subject& subject, const Finding& finding) const {
    const RuleNumber rule = ends(subject, finding) ? subject.ending->by : finding.rule;
    if (!acting(rule) && TRUEUP_GUARD("mode_stops_commands")) return true;
    // Executors refuse it, too.
    const bool former = finding.command->issued < meta_.enabling[rule.value()].turned;
    if (former && TRUEUP_GUARD("former_texts_stop")) return true;
    return (subject.held && TRUEUP_GUARD("operator_hold")) ||
           (paused(rule) && TRUEUP_GUARD("pause"));
}

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
    if (const Reason why = unapproved(subject, finding, verdict); why != Reason::kNone) {
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

/// Was the rule done twice already with this object, or with those in whose place it came? Then
/// somebody else may do the opposite each time.
bool Brakes::recurs(const Subject& subject, const Finding& finding) const {
    const bool may = state_.plan->rules[finding.rule.value()].may_recur;
    if (!subject.aftermath || may || !TRUEUP_GUARD("recurring_asks")) return false;
    const std::vector<Mended>& mended = subject.aftermath->mended;
    return std::count_if(mended.begin(), mended.end(), [&](const Mended& before) {
               const std::vector<std::string>& there = before.beside;
               return before.rule == finding.rule &&
                      std::find(there.begin(), there.end(), finding.object_id) == there.end();
           }) > 1;
}

/// Was another command approved than this one, or none? Under one finding that is another question.
bool Brakes::moved(const Finding& finding, const Hash128& proposal) const {
    return finding.proposal != proposal && TRUEUP_GUARD("approval_of_this_command");
}

/// What an approval is needed for that there is not: kNone where exactly this command was approved,
/// or none is needed.
Reason Brakes::unapproved(const Subject& subject, const Finding& finding,
                          const Verdict& verdict) const {
    const bool asks = verdict.reason != Reason::kNone;
    const bool by_mode = meta_.settings.rules[finding.rule.value()].mode == Mode::kApprove;
    const bool unlooked = !by_mode && !enabled(finding.rule);
    const bool again = recurs(subject, finding);
    if (!asks && !by_mode && !unlooked && !again) return Reason::kNone;
    // The approval was for all of it. Where nobody needed one before, each command asks.
    if (finding.steps > 0 && !unlooked) return Reason::kNone;
    const bool other = finding.proposal.none() || moved(finding, hash_of(*verdict.command));
    if (finding.approved && !other) return Reason::kNone;
    // The rarest first: whoever approves all that waits for another reason has not seen this one.
    if (again) return Reason::kRecurring;
    return asks ? verdict.reason : unlooked ? Reason::kNotEnabled : Reason::kApproval;
}

/// The budget has room, and nobody has waited for it longer.
bool Brakes::has_turn(RuleNumber rule, const Finding& finding) const {
    const Budget& budget = meta_.settings.rules[rule.value()].budget;
    const bool spent = left_of(budget, meta_.rules[rule.value()].spending, meta_) == 0;
    if (spent && TRUEUP_GUARD("paced_budget")) return false;
    const std::optional<JournalTime> next = state_.waits.next_turn(rule);
    return !next || *next >= finding.since;
}

/// May the rule that carries it on do so?
bool Brakes::goes_on(const Ending& ending) const {
    return acting(ending.by) && (!withdrawn(ending) || !TRUEUP_GUARD("disabled_ending_halts"));
}

bool Brakes::enabled(RuleNumber rule) const {
    if (!TRUEUP_GUARD("not_enabled_asks")) return true;
    return meta_.enabling[rule.value()].has(state_.plan->rules[rule.value()].text);
}

/// Was what carries the ending on enabled at some time since it began, and is not any more? One
/// that was approved while nobody had enabled its rule goes on.
bool Brakes::withdrawn(const Ending& ending) const {
    const Enabling& enabling = meta_.enabling[ending.by.value()];
    return !enabling.has(state_.plan->rules[ending.by.value()].text) &&
           enabling.left >= ending.since;
}

/// Is there a source on whose word nothing may be taken away?
bool Brakes::in_doubt() const {
    for (SourceId id = 0; id < meta_.source_count(); ++id) {
        if (meta_.settings.sources[id].role != kNoRole && doubted(meta_.sources[id])) return true;
    }
    return false;
}

bool Brakes::paused(RuleNumber rule) const {
    return std::any_of(meta_.pauses.begin(), meta_.pauses.end(), [&](const Pause& pause) {
        return pause.rule == kEveryRule || pause.rule == rule;
    });
}

}  // namespace trueup::core
