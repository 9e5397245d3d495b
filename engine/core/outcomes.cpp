// An outcome ends its command, whatever the view says by then.
#include "engine/core/fold_run.h"

#include <algorithm>

namespace trueup::core {

namespace {

constexpr Millis kFirstRetry{1'000};
constexpr Millis kLongestRetry{60'000};
constexpr Millis kAfterFinalFailure{300'000};

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

/// One executor had given up for now, and another one has done it all the same. Which of the
/// subject's objects it was is forgotten by now, so every source of them has to show it.
void FoldRun::late_write(Entry& entry, BrokerTime time) {
    for (const Facet& facet : entry.subject.facets) {
        remember_write(entry.subject, facet.source, time);
    }
    state_.subjects.mark_dirty(entry);
    mark(entry);
}

void FoldRun::take_outcome(const ItemView& item, const Outcome& outcome) {
    Entry* entry = find(outcome.subject);
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
    RuleCounters& counters = meta_.rules[found->rule];
    ++counters.outcomes[static_cast<std::size_t>(outcome.kind)];
    // A verification that found nothing agrees with what is in view; one that found the object
    // knows what the view does not have yet.
    const bool seen = found->command->draft.action.kind == Action::Kind::kVerifyGone &&
                      outcome.kind != OutcomeKind::kRefused;
    for (SourceId id = 0; id < source_count(); ++id) {
        const bool touched = meta_.sources[id].name == found->command->draft.target.source;
        if (touched && !seen && outcome.kind != OutcomeKind::kExpired) {
            remember_write(entry->subject, id, item.append_time);
        }
    }
    --meta_.outbox;
    state_.subjects.mark_dirty(*entry);
    if (outcome.kind == OutcomeKind::kFailed) {
        // Stays open and says why. A final failure is tried again too, but seldom: somebody may
        // have granted the right that was missing.
        Finding& finding = *found;
        finding.state = FindingState::kWaiting;
        finding.reason = outcome.retryable ? Reason::kRetry : Reason::kFailed;
        finding.emit_again =
            meta_.now + (outcome.retryable ? backoff(finding.failures) : kAfterFinalFailure);
        ++finding.failures;
        note_edge(*entry, finding);
        finding.command.reset();  // after the edge, which names the command that just ended
    } else if (const bool done =
                   outcome.kind == OutcomeKind::kDone || outcome.kind == OutcomeKind::kAlreadyDone;
               done && found->more) {
        Finding& finding = *found;
        ++finding.steps;
        finding.more = false;
        finding.emit_again = JournalTime{};
        finding.state = FindingState::kWaiting;
        finding.reason = Reason::kNextStep;
        note_edge(*entry, finding);
        finding.command.reset();
    } else {
        counters.mended += done ? 1U : 0U;
        resolve(*entry, static_cast<std::size_t>(found - findings.begin()),
                reason_of(outcome.kind));
    }
    mark(*entry);
}

}  // namespace trueup::core
