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

}  // namespace

Role CarryingOn::role_of(SourceId source) const {
    return source == kNoSource ? kNoRole : meta_.settings.sources[source].role;
}

/// Of what the first step took away; kNoRole: the rule means another list by now.
Role CarryingOn::role_taken(const Ending& ending) const {
    const Role role = role_of(ending.taken_source);
    const std::span<const PlanStep> steps = endings_.steps_of(ending);
    return role != kNoRole || steps.empty() ? role : steps.front().role;
}

/// The next object that a deletion of this role's would take: what left the selector is none of
/// ours. Of the role of which something was taken it is one in the same source.
const Facet* CarryingOn::next_of(const Subject& subject, Role role) const {
    const Ending& ending = *subject.ending;
    const bool same = role == role_taken(ending);
    for (const Facet& facet : subject.facets) {
        const bool its = same ? facet.source == ending.taken_source : role_of(facet.source) == role;
        if (its && stays(facet) && !out_of_scope(facet)) return &facet;
    }
    return nullptr;
}

/// May the object claim the subject still?
Truth CarryingOn::claims(const Facet& object) const {
    return claim_of(*state_.plan, object, meta_.settings);
}

bool CarryingOn::plays(SourceId source) const { return role_of(source) != kNoRole; }

/// Has the source shown everything up to this moment?
bool CarryingOn::proven_past(SourceId id, BrokerTime time) const {
    return core::proven_past(meta_.sources[id], time);
}

/// Waits until it has, and says why that takes so long; kNone: it does not.
Reason CarryingOn::await_proof(SourceId id, BrokerTime time) {
    if (proven_past(id, time)) return Reason::kNone;
    awaited_.wait_for({std::nullopt, id, time});
    const SourceState& source = meta_.sources[id];
    if (source.misread || unknown_by(source.quarantine)) return Reason::kQuarantine;
    if (!source.known) return Reason::kNotSynced;
    if (source.complete_as_of == BrokerTime{}) return Reason::kAwaitingProgress;
    const bool silent = meta_.broker_now - source.complete_as_of > meta_.settings.stale_after;
    return silent ? Reason::kStale : Reason::kNone;
}

/// Of a role with several sources, the first of the others that is silent, or was not heard past
/// the last deletion and past the last word of any of them: an object that moved may be gone from
/// one, and the other has not told of it yet.
std::optional<Wait> CarryingOn::unheard_beside(const Subject& subject) const {
    const Ending& ending = *subject.ending;
    const Role role = role_taken(ending);
    if (role == kNoRole) return std::nullopt;
    for (const SourceId source : state_.plan->roles[role].sources) {
        if (source == ending.taken_source) continue;
        BrokerTime past = std::max(ending.settled, meta_.broker_now - meta_.settings.stale_after);
        for (const Facet& facet : subject.facets) {
            const bool other = facet.source != source && role_of(facet.source) == role;
            if (other) past = std::max(past, facet.evidence);
        }
        if (!proven_past(source, past)) return Wait{std::nullopt, source, past};
    }
    return std::nullopt;
}

/// The first source of the role that has not; kNoSource: each one has.
SourceId CarryingOn::behind(Role role, BrokerTime time) const {
    if (role == kNoRole) return kNoSource;
    for (const SourceId source : state_.plan->roles[role].sources) {
        if (!proven_past(source, time)) return source;
    }
    return kNoSource;
}

/// One source after the other.
Reason CarryingOn::await_proof_of(Role role, BrokerTime time) {
    const SourceId source = behind(role, time);
    return source == kNoSource ? Reason::kNone : await_proof(source, time);
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
    if (const auto late = unheard_beside(subject)) {
        if (!superseded(subject)) return await_proof(late->source, late->beyond);
        endings_.close_ending(entry, Reason::kSuperseded);
        return Reason::kNone;
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
        if (policy::sets(step.verb)) {
            await_proof(ending.target_source, ending.settled);
        } else {
            await_proof_of(step.role, ending.settled);
        }
    }
    return !steps.empty() && brakes_.acting(ending.by) ? Reason::kNotEnabled : Reason::kObserved;
}

/// The first deletion failed, was refused or given up: has another executor done it all the same?
Reason CarryingOn::settle_taking(Entry& entry, Finding& face) {
    Subject& subject = entry.subject;
    Ending& ending = *subject.ending;
    const SourceId source = ending.taken_source;
    const bool plays = role_of(source) != kNoRole;
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
    if (policy::removes(step.verb)) {
        const bool same = step.role == role_taken(ending);
        const bool heard =
            same ? !plays(ending.taken_source) || proven_past(ending.taken_source, ending.settled)
                 : behind(step.role, ending.settled) == kNoSource;
        return heard && next_of(subject, step.role) == nullptr;
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
    const Role role = role_taken(ending);
    return std::any_of(subject.facets.begin(), subject.facets.end(), [&](const Facet& facet) {
        const bool same = facet.source == ending.taken_source;
        // In another source it is another one, unless it is dead, as what lay there before may be.
        const bool other = !same && role != kNoRole && role_of(facet.source) == role;
        if (!(same || other) || !stays(facet)) return false;
        if (!TRUEUP_GUARD("ending_of_what_was_taken")) return false;
        if (other) return !claims(facet).no();
        return !contains(ending.taken, facet.object_id) ||
               proven_past(ending.taken_source, ending.settled);
    });
}

Reason CarryingOn::order_step(Entry& entry, Finding& face, const PlanStep& step) {
    Subject& subject = entry.subject;
    const Ending& ending = *subject.ending;
    const bool write = policy::sets(step.verb);
    const Facet* object =
        write ? shown(subject, ending.target_source, ending.target) : next_of(subject, step.role);
    if (write && !plays(ending.target_source)) return Reason::kNotSynced;
    const bool there = object != nullptr && object->present();
    const Truth claim = write && there ? claims(*object) : Truth::of(true);
    const bool wanted =
        there && !claim.no() &&
        !(write && has_values(*state_.plan, meta_.settings, step, subject, *object));
    if (!wanted) {  // it may be there all the same
        return write ? await_proof(ending.target_source, ending.settled)
                     : await_proof_of(step.role, ending.settled);
    }
    if (subject.held) return Reason::kHold;
    if (brakes_.paused(ending.by)) return Reason::kPaused;
    if (ending.again > meta_.now) {
        awaited_.wait_for({ending.again, kNoSource, {}});
        return Reason::kNone;
    }
    if (vetoed(*object) || vetoed_elsewhere(subject)) return Reason::kVeto;
    // Its owner may have closed it by a word that we do not know.
    if (!claim.yes()) return claim.why;
    if (write && !values_known(*state_.plan, meta_.settings, step, subject, *object)) {
        return Reason::kIncomplete;
    }
    // A write of ours may not be in view yet.
    for (const auto& [written, time] : subject.own_writes) {
        if (written == object->source && !proven_past(written, time)) {
            return await_proof(written, time);
        }
    }
    if (meta_.sources[object->source].misread) return await_proof(object->source, meta_.broker_now);
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
    const PlanRole& role = state_.plan->roles[step.role];
    const std::string& source = meta_.sources[object.source].name;
    CommandDraft draft;
    if (policy::sets(step.verb)) {
        draft.target = written_to(role, source, object, std::string(subject.name()));
        draft.action.kind = action_by(role, step);
        draft.action.sets =
            assignments(*state_.plan, meta_.settings, step, subject, bound_to(step.role, object));
        draft.read_set = still_says(source, object, role.claim);
    } else {
        draft = removal(role, step, source, object);
        if (auto said = still_labelled(role, source, object, std::string(subject.name()))) {
            draft.read_set.push_back(*std::move(said));
        }
    }
    if (const Ending& ending = *subject.ending; ending.taken.size() == 1) {
        const Predicate nobody_else{Predicate::Kind::kNoneBut,
                                    meta_.sources[ending.taken_source].name, ending.taken.front(),
                                    "name", std::string(subject.name())};
        draft.read_set.insert(draft.read_set.begin(), nobody_else);
    }
    look_elsewhere(subject, draft);
    return draft;
}

/// Has somebody put a hold on what is dead in another source of what was taken? A command rests on
/// that, too.
bool CarryingOn::vetoed_elsewhere(const Subject& subject) const {
    const Ending& ending = *subject.ending;
    const Role taken = role_taken(ending);
    if (taken == kNoRole) return false;
    return std::any_of(subject.facets.begin(), subject.facets.end(), [&](const Facet& facet) {
        return facet.source != ending.taken_source && role_of(facet.source) == taken &&
               facet.present() && vetoed(facet);
    });
}

/// In the other sources of what was taken there is nobody of the name, or what is dead.
void CarryingOn::look_elsewhere(const Subject& subject, CommandDraft& draft) const {
    const Ending& ending = *subject.ending;
    const Role taken = role_taken(ending);
    if (taken == kNoRole) return;
    const PlanRole& role = state_.plan->roles[taken];
    for (const SourceId source : role.sources) {
        if (source == ending.taken_source) continue;
        const std::string& name = meta_.sources[source].name;
        bool any = false;
        for (const Facet& facet : subject.facets) {
            if (facet.source != source || !facet.present()) continue;
            any = true;
            const auto dead = still_says(name, facet, role.claim);
            draft.read_set.insert(draft.read_set.end(), dead.begin(), dead.end());
        }
        if (any) continue;
        draft.read_set.push_back(
            {Predicate::Kind::kNone, name, {}, "name", std::string(subject.name())});
    }
}

}  // namespace trueup::core
