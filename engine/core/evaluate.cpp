#include "engine/core/evaluate.h"

#include "engine/base/guard.h"
#include "engine/core/decisions.h"
#include "engine/core/draft.h"
#include "engine/core/evaluation_asked.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

namespace {

/// Of what is put into an object that is to be created, in bytes.
constexpr std::size_t kMostPlaced = std::size_t{16} * 1024;

/// Whatever else it waits for, it is judged again when the other one is due. A wait has room for
/// one source: a deadline by the clock of another one comes to its turn with the next judgement.
void bring_forward(Wait& wait, const Wait& other) {
    if (other.due && (!wait.due || *other.due < *wait.due)) wait.due = other.due;
    const bool sooner = wait.source == other.source && other.beyond < wait.beyond;
    if (wait.source != kNoSource && !sooner) return;
    wait.source = other.source;
    wait.beyond = other.beyond;
}

}  // namespace

Decision Evaluation::run() {
    watch_.at(Stage::kAsked);
    if (on_.subject.ending && TRUEUP_GUARD("ending_stands_alone")) {
        note("ending", "another rule is ending the subject", "no ending");
        return ended(abstain(Reason::kEnding));
    }
    if (on_.subject.reference() && (!rule_.keyless || is_looked_up())) {
        note("key", "it cannot be told", "a rule with keyless: report");
        return ended({});
    }
    if (rule_.owner.role != kNoRole && !asked_for()) return ended({});
    Wait until;  // of cases that are healthy until their deadlines: the earliest
    for (const PlanCase& each : rule_.cases) {
        // Of an object without a key only its own role is asked.
        if (!on_.subject.reference() && !on_.facts.fit(each.mask)) {
            if (watch_) show(each);
            continue;
        }
        begin(each);
        Decision decision = ended(each.duplicates ? duplicates() : judge(each));
        if (decision.kind != Verdict::Kind::kHealthy) {
            bring_forward(decision.wait, until);
            return decision;
        }
        bring_forward(until, decision.wait);
    }
    Decision healthy;
    healthy.wait = until;
    return healthy;
}

/// Does it stand there to be looked up by others?
bool Evaluation::is_looked_up() const {
    return std::all_of(facts_.begin(), facts_.end(),
                       [&](const Seen& seen) { return role(seen.role).reference; });
}

/// By which pattern a case is false that the bits of its conditions rule out.
void Evaluation::show(const PlanCase& each) const {
    begin(each);
    if (each.duplicates) {
        duplicates();
    } else {
        judge_alone(each);
    }
    ended({});
}

bool Evaluation::asked_for() const {
    const auto& request = on_.subject.request;
    if (!rule_.asked_by(request)) {
        note("request", "nobody asked for it", "a request");
        return false;
    }
    if (!request->owners) return true;
    if (watch_) note("request", request->by + " asked for it", "a request of its owner");
    if (!shows(rule_.owner.role) && !all_known(rule_.owner.role)) return true;  // it may be theirs
    return std::any_of(facts_.begin(), facts_.end(), [&](const Seen& seen) {
        if (seen.role != rule_.owner.role) return false;
        const PlanValue owner = value_of(role(seen.role), rule_.owner.field, seen);
        const bool theirs = owner.kind == PlanValue::Kind::kUnsent || owner.text == request->by;
        if (watch_) {
            watch_->field(seen, rule_.owner.field, request->by, Truth::of(theirs));
        }
        return theirs;
    });
}

/// Has each source of the role listed everything?
bool Evaluation::all_known(Role number) const {
    const std::vector<SourceId>& sources = role(number).sources;
    return std::all_of(sources.begin(), sources.end(),
                       [&](SourceId source) { return on_.references.sources[source].known; });
}

Decision Evaluation::duplicates() const {
    const Facet* last = nullptr;
    watch_.at(Stage::kPattern);
    const auto roles = static_cast<Role>(on_.plan.roles.size());
    for (Role number = 0; number < roles; ++number) {
        if (role(number).several || role(number).reference) continue;
        if (!on_.facts.word.two.has(role(number).claims) && !watch_) continue;
        if (const Facet* one = second_of(number)) last = one;
    }
    // Which role has none besides decides nothing once another one has two.
    if (last != nullptr) watch_.leave_out(0, Truth::of(false));
    if (watch_ && watch_.mark() == 0) {
        note("roles", "none of which a subject has only one", "a role without several: true");
    }
    return last == nullptr ? Decision{} : reported(*last);
}

/// The last of two or more that claim the subject; nullptr: there is one at most.
const Facet* Evaluation::second_of(Role number) const {
    if (role(number).sources.empty()) return nullptr;
    const Facet* last = nullptr;
    std::size_t count = 0;
    const std::size_t first = watch_.mark();
    for (const Seen& seen : facts_) {
        if (seen.role != number || goes(seen)) continue;
        const std::size_t from = watch_.mark();
        const Truth claims = holds(role(number).live, seen, {});
        say_of(seen, from, claims, false);
        if (claims.no()) continue;
        if (++count > 1) last = seen.facet;
    }
    // One object more or less would not have: not those that are there, nor those that are not.
    watch_.leave_out(first, Truth::of(count < 2));
    if (watch_) watch_->claims(number, count, "2 or more", Truth::of(count > 1));
    return last;
}

Decision Evaluation::judge(const PlanCase& found) const {
    if (rule_.on_request()) return answer(found, judge_alone(found));
    return judge_alone(found);
}

Decision Evaluation::judge_alone(const PlanCase& found) const {
    const Match matched = match(found.patterns, {});
    if (watch_) watch_->matched(matched.truth);
    if (matched.truth.no()) return {};
    if (!matched.truth.yes()) return abstain(matched.truth.why);
    const Found& bound = matched.bound;
    const Seen* about = object_of(found, bound);
    if (about == nullptr) {
        watch_.at(Stage::kPattern);
        note("object", "none that the rule is about", "one to be reported");
        return {};
    }
    if (on_.subject.reference()) return without_key(found, bound, *about->facet);
    if (const Truth theirs = owned(bound); !theirs.yes()) {
        return theirs.no() ? Decision{} : abstain(theirs.why);
    }
    watch_.at(Stage::kKnown);
    if (!told(found, bound)) return abstain(Reason::kIncomplete);
    if (found.past) {
        if (auto early = before(*found.past, bound)) return *early;
    }
    watch_.at(Stage::kSteps);
    const std::optional<std::size_t> step = next_step(found, bound, *about);
    if (!step) return {};
    const Facet* target = target_of(found, *step, bound);
    if (!policy::acts(found.steps.front().verb)) return report(*about->facet);
    watch_.at(Stage::kVeto);
    if (crowded(found.steps[*step], bound, target)) return abstain(Reason::kDuplicateClaim);
    if (vetoed_in(found, bound) || (target != nullptr && vetoes(*target))) {
        return abstain(Reason::kVeto);
    }
    if (auto held = not_yet_by(found, *step, bound, *about)) return *held;
    watch_.at(Stage::kBackoff);
    if (const JournalTime due = next_try(); on_.now < due) {
        return waiting(Reason::kBackoff, *about->facet, {due, kNoSource, {}});
    }
    watch_.at(Stage::kCount);
    return act(found, bound, *about, *step);
}

Decision Evaluation::reported(const Facet& about) const {
    watch_.at(Stage::kSteps);
    note("step", "report", "a step that does something");
    return waiting(Reason::kReportOnly, about);
}

/// Is what was bound theirs who asked for it?
Truth Evaluation::owned(const Found& bound) const {
    const auto& request = on_.subject.request;
    if (!rule_.asked_by(request) || !request->owners) return Truth::of(true);
    const Seen* object = bound[rule_.owner.role];
    const PlanValue owner = object == nullptr
                                ? PlanValue{PlanValue::Kind::kUnsent, {}}
                                : value_of(role(object->role), rule_.owner.field, *object);
    const Truth truth = owner.kind == PlanValue::Kind::kUnsent
                            ? Truth::unknown(Reason::kIncomplete)
                            : Truth::of(owner.text == request->by);
    watch_.at(Stage::kAsked);
    note(rule_.owner, request->by, bound, truth);
    return truth;
}

/// A report leans on nobody; what lasts for less than the grace is none.
Decision Evaluation::report(const Facet& about) const {
    const JournalTime due = first_detected(on_.subject, on_.self, about.object_id, on_.now) +
                            on_.settings.rules[on_.self.value()].grace;
    if (on_.now < due) {
        watch_.at(Stage::kGrace);
        const Millis grace = on_.settings.rules[on_.self.value()].grace;
        note_time("grace", grace - (due - on_.now), grace);
        return waiting(Reason::kGrace, about, {due, kNoSource, {}});
    }
    return reported(about);
}

/// What was asked for is answered: as long as nothing can be done, a finding says why.
Decision Evaluation::answer(const PlanCase& found, Decision decision) const {
    const Evaluation unseen(on_);
    const Seen* asked = nullptr;
    for (const Seen& seen : facts_) {
        if (seen.role != rule_.owner.role) continue;
        if (unseen.holds(role(seen.role).live, seen, {}).no()) continue;
        if (asked == nullptr) asked = &seen;
    }
    if (asked == nullptr) return decision;
    if (decision.kind == Verdict::Kind::kAbstain) {
        return waiting(decision.reason, *asked->facet, decision.wait);
    }
    if (decision.kind != Verdict::Kind::kHealthy || decision.wait != Wait{}) return decision;
    const Role taken = found.steps.front().role;
    if (taken == kNoRole || shows(taken)) return decision;
    // It is not there: would the rule go on if it was?
    std::vector<PlanPattern> rest = found.patterns;
    std::erase_if(rest, [&](const PlanPattern& pattern) { return pattern.role == taken; });
    const Match others = unseen.match(rest, {});
    if (others.truth.no() || (others.truth.yes() && unseen.owned(others.bound).no())) {
        return decision;
    }
    return waiting(Reason::kNoObject, *asked->facet);
}

/// Is everything known that the steps are made of? Nothing is no text, but it may be read.
bool Evaluation::told(const PlanCase& found, const Found& bound) const {
    using Kind = PlanValue::Kind;
    const auto fine = [&](const FieldAt& field, bool may_lack) {
        const Seen* object = bound[field.role];
        const Kind kind = object == nullptr ? Kind::kUnsent
                                            : value_of(role(field.role), field.field, *object).kind;
        const bool known = kind == Kind::kText || (may_lack && kind == Kind::kNotThere);
        if (!known) {
            note(field, "what a step is made of", bound, Truth::unknown(Reason::kIncomplete));
        }
        return known;
    };
    return std::all_of(found.texts.begin(), found.texts.end(),
                       [&](const FieldAt& field) { return fine(field, false); }) &&
           std::all_of(found.reads.begin(), found.reads.end(),
                       [&](const FieldAt& field) { return fine(field, true); }) &&
           std::all_of(found.steps.begin(), found.steps.end(),
                       [&](const PlanStep& step) { return fits(step, bound); });
}

/// Whatever rows say, a command stays small enough for the log, and JSON.
bool Evaluation::fits(const PlanStep& step, const Found& bound) const {
    std::size_t placed = 0;
    if (!step.whole) return true;
    for (const PlanAssigned& set : step.sets) {
        for (const PlanPiece& piece : *set.value) {
            if (piece.field.role == kNoRole) {
                if (piece.kind == policy::Piece::Kind::kSubject) placed += on_.subject.key.size();
                if (placed > kMostPlaced) return false;
                continue;
            }
            const PlanRole& of = role(piece.field.role);
            const std::string_view text =
                value_of(of, piece.field.field, *bound[piece.field.role]).text;
            placed += text.size();
            const bool bare = piece.spelling == PlanPiece::Spelling::kBare;
            const bool odd = bare && unreadable(of.fields[piece.field.field], text);
            if (!odd && placed <= kMostPlaced) continue;
            note(piece.field, odd ? "a number or a boolean" : "at most 16 KiB for an object", bound,
                 Truth::unknown(Reason::kUnreadable));
            return false;
        }
    }
    return true;
}

/// What the last step writes, unless one before takes it away; else what `when` names first.
const Seen* Evaluation::object_of(const PlanCase& found, const Found& bound) const {
    const auto taken = [&](Role number) {
        return std::any_of(found.steps.begin(), found.steps.end() - 1, [&](const PlanStep& step) {
            return step.role == number && policy::removes(step.verb);
        });
    };
    const PlanStep& last = found.steps.back();
    if (last.role != kNoRole && bound[last.role] != nullptr && !makes(last.verb) &&
        !taken(last.role)) {
        return bound[last.role];
    }
    for (const Role number : found.roles) {
        if (bound[number] != nullptr && !taken(number)) return bound[number];
    }
    return nullptr;
}

Decision decide(const Judgement& on, Witness* witness) { return Evaluation(on, witness).run(); }

Verdict judge(const Judgement& on) { return verdict_of(on, decide(on)); }

Verdict verdict_of(const Judgement& on, const Decision& decision) {
    Verdict verdict;
    verdict.kind = decision.kind;
    verdict.reason = decision.reason;
    verdict.wait = decision.wait;
    if (decision.about != nullptr) verdict.object_id = decision.about->object_id;
    if (decision.kind != Verdict::Kind::kAct) return verdict;
    verdict.command = draft_of(on, decision);
    verdict.more = decision.step + 1 < decision.matched->steps.size();
    verdict.harmless = harmless(decision);
    return verdict;
}

}  // namespace trueup::core
