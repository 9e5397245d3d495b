// An ending from its birth to its end: the stages that it enters, the steps that it passes, and
// what its commands came to.
#include "engine/core/endings.h"

#include "engine/core/aftermaths.h"
#include "engine/core/edges.h"
#include "engine/core/ending.h"
#include "engine/core/findings.h"
#include "engine/core/marks.h"
#include "engine/core/outcomes.h"

#include <utility>

namespace trueup::core {

std::span<const PlanStep> Endings::steps_of(const Ending& ending) const {
    const PlanRule& rule = state_.plan->rules[ending.by.value()];
    if (rule.ending_hash != ending.steps) return {};
    return rule.ending;
}

void Endings::enter(Ending& ending, Ending::Stage stage) {
    --meta_.endings[static_cast<std::size_t>(ending.stage)];
    ending.stage = stage;
    ++meta_.endings[static_cast<std::size_t>(stage)];
}

void Endings::pass_step(Ending& ending) {
    ++ending.next;
    ending.passed = meta_.now;
    ending.failures = 0;
    ending.again = {};
    meta_.stuck -= std::exchange(ending.stuck, false) ? 1U : 0U;
}

/// The finding's command is the first deletion of a list: from here on it is carried to its end.
void Endings::begin_ending(Entry& entry, const Finding& finding, const CommandDraft& draft) {
    Subject& subject = entry.subject;
    const PlanRule& rule = state_.plan->rules[finding.rule.value()];
    Ending ending;
    ending.rule = ending.by = finding.rule;
    ending.steps = rule.ending_hash;
    ending.next = static_cast<std::uint32_t>(step_of(rule, meta_.settings, meta_, draft));
    ending.object_id = finding.object_id;
    ending.taken_source = source_of(meta_, draft);
    for (const Facet& facet : subject.facets) {
        if (facet.source == ending.taken_source && facet.present()) {
            ending.taken.push_back(facet.object_id);
        }
    }
    for (const PlanStep& step : rule.ending) {
        if (!policy::sets(step.verb)) continue;
        const Facet* target = shown_by(subject, meta_.settings, step.role, finding.object_id);
        ending.target_source =
            target == nullptr ? meta_.settings.source(step.role) : target->source;
        ending.target = finding.object_id;
    }
    ending.since = ending.passed = meta_.now;
    ++meta_.endings[static_cast<std::size_t>(ending.stage)];
    subject.ending = std::move(ending);
}

/// Takes the ending out of the subject; the rules judge it again.
void Endings::forget_ending(Entry& entry) {
    Ending& ending = *entry.subject.ending;
    --meta_.endings[static_cast<std::size_t>(ending.stage)];
    meta_.stuck -= ending.stuck ? 1U : 0U;
    entry.subject.ending.reset();
    state_.subjects.mark_dirty(entry);
    marks_.count(entry);
}

/// The ending is over, and so is its finding.
void Endings::close_ending(Entry& entry, Reason reason) {
    Subject& subject = entry.subject;
    const Ending& ending = *subject.ending;
    if (reason == Reason::kDone) {
        ++meta_.rules[ending.rule.value()].mended;
        aftermaths_.aftermath_of(entry).ended = Ended{ending.rule, ending.target};
    }
    if (reason == Reason::kDone || reason == Reason::kSuperseded) {
        // Also where something else came before it was over: who makes it anew may be quick.
        aftermaths_.note_mended(entry, ending.rule, ending.object_id, nullptr);
        subject.request.reset();  // it was asked of what has ended, and not of what came instead
    }
    const Finding& face = findings_.open(entry, ending.rule, ending.object_id);
    findings_.resolve(entry, static_cast<std::size_t>(&face - subject.findings.data()), reason);
    forget_ending(entry);
}

/// What came of the command that the ending had under way, or that it was given up.
void Endings::settle_step(Entry& entry, Finding& face, OutcomeKind kind, bool retryable,
                          BrokerTime time) {
    Ending& ending = *entry.subject.ending;
    const bool done = kind == OutcomeKind::kDone || kind == OutcomeKind::kAlreadyDone;
    const bool taking = ending.stage == Ending::Stage::kTaking;
    const bool wrote = updates(face.command->draft.action.kind);
    ending.last = kind;
    ending.settled = time;
    ending.not_after = face.command->not_after;
    if (done && (taking || wrote)) pass_step(ending);
    if (done && wrote && ending.next == steps_of(ending).size()) {
        return close_ending(entry, Reason::kDone);
    }
    const bool for_now = kind == OutcomeKind::kFailed && retryable;
    face.emit_again = {};
    face.reason = for_now ? Reason::kRetry : done ? Reason::kNextStep : reason_of(kind);
    face.state = state_of(face.reason);
    findings_.note_edge(entry, face);
    face.command.reset();         // after the edge, which names the command that just ended
    if (taking && !done) return;  // another executor may have done it: its source will show
    enter(ending, Ending::Stage::kBetween);
    if (done) return;
    const bool for_good = kind == OutcomeKind::kFailed && !retryable;
    ending.again = meta_.now + (for_good ? kAfterFinalFailure : backoff(ending.failures));
    ++ending.failures;
}

/// No other rule acts on a subject that is being ended, or says anything of it.
void Endings::stand_back(Entry& entry) {
    for (Finding& finding : entry.subject.findings) {
        if (ends(entry.subject, finding) || finding.command) continue;
        finding.approved = false;
        if (!finding.dismissed) findings_.set_waiting(entry, finding, Reason::kEnding);
    }
}

}  // namespace trueup::core
