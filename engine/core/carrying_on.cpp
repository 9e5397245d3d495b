// What was begun is carried to its end: the next step, once what it rests on has been shown.
#include "engine/core/carrying_on.h"

#include "engine/base/guard.h"
#include "engine/core/awaited.h"
#include "engine/core/brake.h"
#include "engine/core/draft.h"
#include "engine/core/ending.h"
#include "engine/core/endings.h"
#include "engine/core/findings.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

namespace {

constexpr Millis kStuckAfter{900'000};

bool contains(const std::vector<std::string>& ids, const std::string& id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// The next object that a deletion of this source's would take: what left the selector is none of
/// ours.
const Facet* next_of(const Subject& subject, SourceId source) {
    for (const Facet& facet : subject.facets) {
        if (facet.source == source && stays(facet) && !out_of_scope(facet)) return &facet;
    }
    return nullptr;
}

}  // namespace

/// May the object claim the subject still?
Truth CarryingOn::claims(const Facet& object) const {
    return claim_of(*state_.plan, object, meta_.settings);
}

bool CarryingOn::plays(SourceId source) const {
    return source != kNoSource && meta_.settings.sources[source].role != kNoRole;
}

/// Has the source shown everything up to this moment?
bool CarryingOn::proven_past(SourceId id, BrokerTime time) const {
    return core::proven_past(meta_.sources[id], time);
}

/// Waits until it has, and says why that takes so long; kNone: it does not.
Reason CarryingOn::await_proof(SourceId id, BrokerTime time) {
    if (proven_past(id, time)) return Reason::kNone;
    awaited_.wait_for({std::nullopt, id, time});
    const SourceState& source = meta_.sources[id];
    if (unknown_by(source.quarantine)) return Reason::kQuarantine;
    if (!source.known) return Reason::kNotSynced;
    if (source.complete_as_of == BrokerTime{}) return Reason::kAwaitingProgress;
    const bool silent = meta_.broker_now - source.complete_as_of > meta_.settings.stale_after;
    return silent ? Reason::kStale : Reason::kNone;
}

/// Goes as far as is known by now. What is left waits, and its finding says what for.
void CarryingOn::tend_ending(Entry& entry) {
    const Ending& ending = *entry.subject.ending;
    Finding& face = findings_.open(entry, ending.rule, ending.object_id);
    if (face.command) return;  // its outcome comes first
    const Reason why = carry_on(entry, face);
    if (!entry.subject.ending || face.command) return;
    Ending& left = *entry.subject.ending;
    const JournalTime stuck_at = left.passed + kStuckAfter;
    if (meta_.now < stuck_at) {
        awaited_.wait_for({stuck_at, kNoSource, {}});
        if (why != Reason::kNone) findings_.set_waiting(entry, face, why);
        return;
    }
    meta_.stuck += std::exchange(left.stuck, true) ? 0U : 1U;
    findings_.set_waiting(entry, face, Reason::kEndingStuck);
    state_.subjects.mark_dirty(entry);
}

/// kNone: it is over, ordered, or waits for what its finding says already.
Reason CarryingOn::carry_on(Entry& entry, Finding& face) {
    Subject& subject = entry.subject;
    Ending& ending = *subject.ending;
    if (ending.stage == Ending::Stage::kTaking) {
        const Reason why = settle_taking(entry, face);
        if (why != Reason::kNone || !subject.ending) return why;
    }
    const std::span<const PlanStep> steps = endings_.steps_of(ending);
    while (ending.next < steps.size() && passed(subject, steps[ending.next])) {
        endings_.pass_step(ending);
        state_.subjects.mark_dirty(entry);
    }
    if (!steps.empty() && ending.next >= steps.size()) {
        endings_.close_ending(entry, Reason::kDone);
        return Reason::kNone;
    }
    if (superseded(subject)) {
        endings_.close_ending(entry, Reason::kSuperseded);
        return Reason::kNone;
    }
    const bool halted = steps.empty() || !brakes_.goes_on(ending);
    const auto stage = halted ? Ending::Stage::kHalted : Ending::Stage::kBetween;
    if (ending.stage != stage) {
        endings_.enter(ending, stage);
        state_.subjects.mark_dirty(entry);
    }
    if (!halted) return order_step(entry, face, steps[ending.next]);
    if (!steps.empty()) {  // somebody else may do what we must not
        const PlanStep& step = steps[ending.next];
        await_proof(step.verb == policy::Verb::kUpdate ? ending.target_source
                                                       : meta_.settings.source(step.role),
                    ending.settled);
    }
    return !steps.empty() && brakes_.acting(ending.by) ? Reason::kNotEnabled : Reason::kObserved;
}

/// The first deletion failed, was refused or given up: has another executor done it all the same?
Reason CarryingOn::settle_taking(Entry& entry, Finding& face) {
    Subject& subject = entry.subject;
    Ending& ending = *subject.ending;
    const SourceId source = ending.taken_source;
    const bool plays = meta_.settings.sources[source].role != kNoRole;
    if (plays && !proven_past(source, ending.settled)) {
        awaited_.wait_for({std::nullopt, source, ending.settled});
        return face.reason;
    }
    const bool there =
        plays && std::any_of(ending.taken.begin(), ending.taken.end(), [&](const std::string& id) {
            const Facet* facet = shown(subject, source, id);
            return facet != nullptr && stays(*facet);
        });
    if (!there) {
        endings_.pass_step(ending);
        endings_.enter(ending, Ending::Stage::kBetween);
        state_.subjects.mark_dirty(entry);
        return Reason::kNone;
    }
    const BrokerTime over = ending.not_after + meta_.settings.max_broker_skew;
    if (!proven_past(source, over)) {  // until then a command that comes again may take it
        awaited_.wait_for({std::nullopt, source, over});
        return face.reason;
    }
    // Nothing was taken, and nothing will be.
    if (ending.last == OutcomeKind::kRefused) {
        endings_.close_ending(entry, Reason::kRefused);
    } else {
        endings_.forget_ending(entry);
    }
    return Reason::kNone;
}

/// Is this step behind us by what the sources show (E2)?
bool CarryingOn::passed(const Subject& subject, const PlanStep& step) const {
    const Ending& ending = *subject.ending;
    if (step.verb == policy::Verb::kDelete) {
        const SourceId source = meta_.settings.source(step.role);
        if (source == kNoSource) return true;
        return proven_past(source, ending.settled) && next_of(subject, source) == nullptr;
    }
    if (!plays(ending.target_source)) return false;  // nobody says any more what it has
    if (!proven_past(ending.target_source, ending.settled)) return false;
    const Facet* target = shown(subject, ending.target_source, ending.target);
    if (target == nullptr || !target->present()) return true;
    // What left the selector is none of ours, as for a deletion. (A column may be called so, too.)
    if (step.patches() && out_of_scope(*target)) return true;
    return has_values(*state_.plan, meta_.settings, step, subject, *target) || claims(*target).no();
}

/// Is there another object under the name of the one that was taken, or has that one stayed after
/// all? What is left of the list was meant for an instance that is no more.
bool CarryingOn::superseded(const Subject& subject) const {
    const Ending& ending = *subject.ending;
    return std::any_of(subject.facets.begin(), subject.facets.end(), [&](const Facet& facet) {
        if (facet.source != ending.taken_source || !stays(facet)) return false;
        if (!TRUEUP_GUARD("ending_of_what_was_taken")) return false;
        return !contains(ending.taken, facet.object_id) ||
               proven_past(ending.taken_source, ending.settled);
    });
}

Reason CarryingOn::order_step(Entry& entry, Finding& face, const PlanStep& step) {
    Subject& subject = entry.subject;
    const Ending& ending = *subject.ending;
    const bool write = step.verb == policy::Verb::kUpdate;
    const SourceId source = write ? ending.target_source : meta_.settings.source(step.role);
    const Facet* object = write ? shown(subject, source, ending.target) : next_of(subject, source);
    if (write && !plays(source)) return Reason::kNotSynced;
    const bool there = object != nullptr && object->present();
    const Truth claim = write && there ? claims(*object) : Truth::of(true);
    const bool wanted =
        there && !claim.no() &&
        !(write && has_values(*state_.plan, meta_.settings, step, subject, *object));
    if (!wanted) return await_proof(source, ending.settled);  // it may be there all the same
    if (subject.held) return Reason::kHold;
    if (brakes_.paused(ending.by)) return Reason::kPaused;
    if (ending.again > meta_.now) {
        awaited_.wait_for({ending.again, kNoSource, {}});
        return Reason::kNone;
    }
    if (vetoed(*object)) return Reason::kVeto;
    // Its owner may have closed it by a word that we do not know.
    if (!claim.yes()) return claim.why;
    if (write && !values_known(*state_.plan, meta_.settings, step, subject, *object)) {
        return Reason::kIncomplete;
    }
    // A write of ours may not be in view yet.
    for (const auto& [written, time] : subject.own_writes) {
        if (written == source && !proven_past(source, time)) {
            return await_proof(source, time);
        }
    }
    if (meta_.outbox >= meta_.settings.max_outbox) {
        awaited_.wait_for({meta_.now + kOutboxPause, kNoSource, {}});
        return Reason::kOutboxFull;
    }
    endings_.enter(*subject.ending, Ending::Stage::kOrdered);
    CommandDraft draft = draft_of(subject, step, *object);
    give_time(meta_.settings, ending.by, draft);
    findings_.issue(entry, face, std::move(draft), meta_.settings.command_ttl);
    return Reason::kNone;
}

CommandDraft CarryingOn::draft_of(const Subject& subject, const PlanStep& step,
                                  const Facet& object) const {
    const Ending& ending = *subject.ending;
    const PlanRole& role = state_.plan->roles[step.role];
    const std::string& source = meta_.sources[object.source].name;
    CommandDraft draft;
    if (step.verb == policy::Verb::kUpdate) {
        draft.target = written_to(role, source, object, std::string(subject.name()));
        draft.action.kind = update_by(role, step);
        draft.action.sets =
            assignments(*state_.plan, meta_.settings, step, subject, bound_to(step.role, object));
        draft.read_set = still_says(source, object, role.claim);
    } else {
        draft = deletion(role, source, object);
        draft.action.grace_seconds = step.grace_period;
    }
    if (ending.taken.size() != 1) return draft;
    const Predicate nobody_else{Predicate::Kind::kNoneBut, meta_.sources[ending.taken_source].name,
                                ending.taken.front(), "name", std::string(subject.name())};
    draft.read_set.insert(draft.read_set.begin(), nobody_else);
    return draft;
}

}  // namespace trueup::core
