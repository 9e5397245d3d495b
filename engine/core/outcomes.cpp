// An outcome ends its command, whatever the view says by then; so does time.
#include "engine/core/outcomes.h"

#include "engine/base/guard.h"
#include "engine/core/aftermaths.h"
#include "engine/core/brake.h"
#include "engine/core/ending.h"
#include "engine/core/endings.h"
#include "engine/core/findings.h"
#include "engine/core/marks.h"

#include <algorithm>

namespace trueup::core {

namespace {

constexpr Millis kFirstRetry{1'000};

constexpr Millis kLongestRetry{60'000};

/// Remembers that `source` must prove itself past our own write before this subject is judged on
/// it.
void remember_write(Subject& subject, SourceId source, BrokerTime time) {
    for (auto& [written, last] : subject.own_writes) {
        if (written == source) {
            last = std::max(last, time);
            return;
        }
    }
    subject.own_writes.emplace_back(source, time);
}

}  // namespace

/// May nobody carry this finding's command out any more, so that another one may follow?
bool Outcomes::given_up(const Finding& finding) const {
    return meta_.broker_now > finding.command->not_after + meta_.settings.max_broker_skew;
}

/// Emits commands without an outcome once more, and gives up those that no executor may take now.
void Outcomes::tend_commands(Entry& entry) {
    std::vector<std::size_t> over;
    for (Finding& finding : entry.subject.findings) {
        if (!finding.command) continue;
        Command& command = *finding.command;
        if (given_up(finding)) {
            ++meta_.rules[finding.rule.value()]
                  .outcomes[static_cast<std::size_t>(OutcomeKind::kExpired)];
            --meta_.outbox;
            state_.subjects.mark_dirty(entry);
            if (ends(entry.subject, finding)) {
                endings_.settle_step(entry, finding, OutcomeKind::kExpired, false,
                                     meta_.broker_now);
                continue;
            }
            if (of_a_former(entry.subject, finding)) {
                over.push_back(static_cast<std::size_t>(&finding - entry.subject.findings.data()));
                continue;
            }
            finding.emit_again = JournalTime{};
            findings_.set_waiting(entry, finding, Reason::kExpired);
            finding.command.reset();  // after the edge, which names the command that just ended
        } else if (brakes_.stopped(entry.subject, finding)) {
            continue;
        } else if (meta_.now >= finding.emit_again && TRUEUP_GUARD("outbox_until_outcome")) {
            finding.emit_again = meta_.now + meta_.settings.emit_again;
            ++command.emission;
            findings_.say_again(command);
            state_.subjects.mark_dirty(entry);
        }
    }
    for (auto index = over.rbegin(); index != over.rend(); ++index) {
        ++meta_.rules[entry.subject.findings[*index].rule.value()].retracted;
        findings_.resolve(entry, *index, Reason::kRetracted);
    }
}

Millis backoff(std::uint32_t failures) {
    const std::uint32_t doublings = std::min(failures, 6U);
    return std::min(kFirstRetry * (1U << doublings), kLongestRetry);
}

Reason reason_of(OutcomeKind kind) {
    switch (kind) {
        case OutcomeKind::kDone:
            return Reason::kDone;
        case OutcomeKind::kAlreadyDone:
            return Reason::kAlreadyDone;
        case OutcomeKind::kRefused:
            return Reason::kRefused;
        case OutcomeKind::kFailed:
            return Reason::kFailed;
        case OutcomeKind::kExpired:
            return Reason::kExpired;
        case OutcomeKind::kUnspecified:
            break;
    }
    return Reason::kNone;
}

/// One executor had given up for now, and another one has done it all the same. What it wrote, and
/// whether that was an object that nobody had seen before, is forgotten by now: every source has to
/// show it.
void Outcomes::late_write(Entry& entry, BrokerTime time) {
    for (const PlanRole& role : state_.plan->roles) {
        for (const SourceId source : role.sources) remember_write(entry.subject, source, time);
    }
    state_.subjects.mark_dirty(entry);
    marks_.mark(entry);
}

/// What was written has to be shown by its source.
void Outcomes::note_write(Entry& entry, const Command& command, OutcomeKind kind, BrokerTime time) {
    // A verification that found nothing agrees with what is in view; one that found the object
    // knows what the view does not have yet.
    const bool seen =
        command.draft.action.kind == Action::Kind::kVerifyGone && kind != OutcomeKind::kRefused;
    for (SourceId id = 0; id < meta_.source_count(); ++id) {
        const bool touched = meta_.sources[id].name == command.draft.target.source;
        if (touched && !seen && kind != OutcomeKind::kExpired) {
            remember_write(entry.subject, id, time);
        }
    }
}

void Outcomes::take_outcome(const ItemView& item, const Outcome& outcome) {
    Entry* entry = marks_.find(outcome.subject);
    if (entry == nullptr) {
        ++meta_.counters.unknown_outcomes;
        return;
    }
    std::vector<Finding>& findings = entry->subject.findings;
    const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) {
        return f.command && f.command->id == outcome.command_id;
    });
    if (found == findings.end()) {
        ++meta_.counters.late_outcomes;
        if (outcome.kind == OutcomeKind::kDone) late_write(*entry, item.append_time);
        return;
    }
    RuleCounters& counters = meta_.rules[found->rule.value()];
    ++counters.outcomes[static_cast<std::size_t>(outcome.kind)];
    note_write(*entry, *found->command, outcome.kind, item.append_time);
    --meta_.outbox;
    state_.subjects.mark_dirty(*entry);
    const bool ending = ends(entry->subject, *found);
    // An ending that took nothing yet is judged anew when it is refused, as everything else is.
    if (!ending || entry->subject.ending->stage == Ending::Stage::kTaking) {
        aftermaths_.note_refusal(*entry, *found, outcome);
    }
    if (ending) {
        endings_.settle_step(*entry, *found, outcome.kind, outcome.retryable, item.append_time);
    } else {
        settle_finding(*entry, static_cast<std::size_t>(found - findings.begin()), outcome);
    }
    marks_.mark(*entry);
}

/// Is the object another one than its command was about, under the same id (S17)?
bool Outcomes::of_a_former(const Subject& subject, const Finding& finding) {
    return std::any_of(subject.facets.begin(), subject.facets.end(), [&](const Facet& facet) {
        return facet.present() && facet.object_id == finding.object_id &&
               facet.first_seen > finding.command->issued;
    });
}

/// What was asked for once is done once, whatever comes in the place of what it was done to.
void Outcomes::end_request(Entry& entry, const Finding& finding) {
    const PlanRule& rule = state_.plan->rules[finding.rule.value()];
    if (rule.asked_by(entry.subject.request)) entry.subject.request.reset();
}

void Outcomes::settle_finding(Entry& entry, std::size_t index, const Outcome& outcome) {
    Finding& finding = entry.subject.findings[index];
    const bool done =
        outcome.kind == OutcomeKind::kDone || outcome.kind == OutcomeKind::kAlreadyDone;
    if (outcome.kind == OutcomeKind::kFailed && of_a_former(entry.subject, finding)) {
        ++meta_.rules[finding.rule.value()].retracted;
        findings_.resolve(entry, index, Reason::kRetracted);
    } else if (outcome.kind == OutcomeKind::kFailed) {
        // Stays open and says why.
        finding.reason = outcome.retryable ? Reason::kRetry : Reason::kFailed;
        finding.state = state_of(finding.reason);
        finding.emit_again =
            meta_.now + (outcome.retryable ? backoff(finding.failures) : kAfterFinalFailure);
        ++finding.failures;
        findings_.note_edge(entry, finding);
        finding.command.reset();  // after the edge, which names the command that just ended
    } else if (done && finding.more) {
        ++finding.steps;
        finding.more = false;
        finding.emit_again = JournalTime{};
        finding.reason = Reason::kNextStep;
        finding.state = state_of(finding.reason);
        findings_.note_edge(entry, finding);
        finding.command.reset();
    } else {
        meta_.rules[finding.rule.value()].mended += done ? 1U : 0U;
        // A verification is only a look.
        const bool wrote = finding.command->draft.action.kind != Action::Kind::kVerifyGone;
        if (done && wrote) {
            end_request(entry, finding);
            // Of two executors the one that finds it done may be the first to say so.
            aftermaths_.note_mended(entry, finding.rule, finding.object_id, &*finding.command);
        }
        findings_.resolve(entry, index, reason_of(outcome.kind));
    }
}

}  // namespace trueup::core
