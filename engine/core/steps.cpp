// What a case that matched is to do now: its first step that is not behind it, and what holds that
// one back.
#include "engine/base/guard.h"
#include "engine/core/decisions.h"
#include "engine/core/evaluation_asked.h"

#include <algorithm>

namespace trueup::core {

namespace {

using policy::Quantifier;

/// When anything but this object was heard of last.
BrokerTime last_word_beside(const Facet& object, std::span<const Seen* const> bound) {
    BrokerTime last_word{};
    for (const Seen* each : bound) {
        if (each != nullptr && each->facet != &object) {
            last_word = std::max(last_word, each->facet->evidence);
        }
    }
    return last_word;
}

}  // namespace

/// When the next object may be made, by the ends of those before.
JournalTime Evaluation::next_try() const {
    if (rule_.backoff.empty() || !on_.subject.ledger) return {};
    std::size_t failures = 0;
    JournalTime latest{};
    for (const Ledger::Entry& entry : on_.subject.ledger->entries) {
        if (entry.end == End::kSucceeded) continue;
        ++failures;
        latest = std::max(latest, entry.at);
    }
    const Millis pause = rule_.backoff[std::min(failures, rule_.backoff.size() - 1)];
    if (failures > 0 && watch_) {
        note_time("after failure " + std::to_string(failures), on_.now - latest, pause);
    }
    return latest + pause;
}

/// Of a role with several sources those in the one where the object lies that is meant: what is
/// dead elsewhere is nobody's business.
Objects Evaluation::left(const PlanStep& step, const Found& bound) const {
    const Seen* meant = role(step.role).sources.size() > 1 ? bound[step.role] : nullptr;
    Objects all;
    for (const Seen& seen : facts_) {
        const bool there = meant == nullptr || seen.facet->source == meant->facet->source;
        if (seen.role == step.role && !goes(seen) && ours(seen) && there) all.push_back(&seen);
    }
    return all;
}

/// Deletes that nothing is left for are behind us.
std::optional<std::size_t> Evaluation::next_step(const PlanCase& found, const Found& bound,
                                                 const Seen& about) const {
    const Finding* finding = open_finding(on_.subject, on_.self, about.facet->object_id);
    std::size_t done = finding == nullptr ? 0 : finding->steps;
    for (std::size_t i = 0; i < found.steps.size(); ++i) {
        const PlanStep& step = found.steps[i];
        // Before anything was taken everything is judged again behind each step.
        if (!policy::removes(step.verb) && done > 0 && i + 1 < found.steps.size()) {
            --done;
            continue;
        }
        if (!policy::removes(step.verb)) return i;
        const Objects rest = left(step, bound);
        const bool single = found.steps.size() == 1 && bound[step.role] != nullptr;
        if (single ? std::find(rest.begin(), rest.end(), bound[step.role]) != rest.end()
                   : !rest.empty()) {
            return i;
        }
        if (watch_) note_done(step);
    }
    return std::nullopt;
}

/// Why nothing is left for a step that takes away.
void Evaluation::note_done(const PlanStep& step) const {
    bool any = false;
    for (const Seen& seen : facts_) {
        if (seen.role != step.role) continue;
        any = true;
        if (goes(seen)) watch_->built_in(*seen.facet, "deleting", "false", false);
        if (!ours(seen)) watch_->built_in(*seen.facet, "in_scope", "true", false);
    }
    if (!any) watch_->nobody(step.role, role(step.role).sources, {}, Truth::of(false));
}

bool Evaluation::vetoes(const Seen& object) const {
    const bool held = object.answers->vetoed;
    if (held && watch_) watch_->built_in(*object.facet, "hold", "no hold on it", false);
    return held;
}

bool Evaluation::vetoes(const Facet& object) const {
    for (const Seen& seen : facts_) {
        if (seen.facet == &object) return vetoes(seen);
    }
    return vetoes(look_at(on_.plan, object, on_.settings, nullptr));
}

/// Would something be taken away, or set in an object, for a row beside which another one may be
/// live? Several rows of a subject may be usual, but what one of them wants gone the other may
/// need. So may objects that have a label in common; those that the step is for are another matter.
bool Evaluation::crowded(const PlanStep& step, const Found& bound, const Facet* target) const {
    if (!step.weighs()) return false;
    const auto all = of_roles(bound);
    return std::any_of(all.begin(), all.end(), [&](const Seen* object) {
        if (object == nullptr || object->facet == target) return false;
        const PlanRole& of = role(object->role);
        const bool labelled = of.label() != nullptr && object->role != step.role;
        if (!(of.kind == policy::Kind::kRow || labelled) || of.reference) return false;
        const auto live = std::count_if(facts_.begin(), facts_.end(), [&](const Seen& seen) {
            return seen.role == object->role && seen.facet != object->facet &&
                   !holds(of.live, seen, {}).no();
        });
        if (watch_ && live > 0) {
            watch_->claims(object->role, static_cast<std::size_t>(live) + 1,
                           "no other that may be live", Truth::of(false));
        }
        return live > 0;
    });
}

/// On what is bound, on what was looked past, or on what conditions and the cases before asked for:
/// of all of that an executor asks once more that nobody has put a hold on it. References excepted.
bool Evaluation::vetoed_in(const PlanCase& found, const Found& bound) const {
    for (const Seen* object : of_roles(bound)) {
        if (object != nullptr && !role(object->role).reference && vetoes(*object)) {
            return true;
        }
    }
    const auto by = [&](const std::vector<PlanPattern>& patterns, const auto& looks_past) {
        return std::any_of(patterns.begin(), patterns.end(), [&](const PlanPattern& pattern) {
            return std::any_of(facts_.begin(), facts_.end(), [&](const Seen& seen) {
                return seen.role == pattern.role && looks_past(pattern, seen) && vetoes(seen);
            });
        });
    };
    const auto beside = [&](const PlanPattern& pattern, const Seen& seen) {
        if (pattern.quantifier == Quantifier::kNone) return true;
        const bool ranks = pattern.quantifier == Quantifier::kSurplus;
        return (ranks && !deleting(*seen.facet)) || elsewhere(bound[pattern.role], seen);
    };
    const auto asked = [&](const PlanPattern& pattern, const Seen& /*seen*/) {
        return !role(pattern.role).reference && bound[pattern.role] == nullptr;
    };
    return by(found.patterns, beside) || by(found.looked_up, asked) || by(found.before, asked);
}

/// Is it in another source than the bound one of its role, where a name may be another's?
bool Evaluation::elsewhere(const Seen* bound, const Seen& seen) const {
    if (bound == nullptr || bound->facet->source == seen.facet->source) return false;
    const PlanRole& of = role(seen.role);
    return !of.reference && !(of.several && of.kubernetes());
}

/// Of several sources each must have been heard past what the others said last: what is gone from
/// one may have been told by another before, and not have come in yet. A table that is filled from
/// elsewhere must have been filled past what anybody said: its rows are from before.
BrokerTime Evaluation::said_beside(SourceId source, Role number,
                                   std::span<const SourceId> sources) const {
    BrokerTime last_word{};
    const bool mirror = role(number).as_of.has_value();
    if (sources.size() < 2 && !mirror) return last_word;
    for (const Facet& facet : on_.subject.facets) {
        const bool beside =
            mirror ? on_.settings.sources[facet.source].role < on_.plan.roles.size()
                   : std::find(sources.begin(), sources.end(), facet.source) != sources.end();
        if (!beside || facet.source == source) continue;
        const bool first = rule_.since_first_seen && facet.present();
        last_word = std::max(last_word, first ? facet.first_seen : facet.evidence);
    }
    return last_word;
}

/// The sources that must have been heard: its own side first.
Leanings Evaluation::leanings_of(const PlanCase& found, std::size_t step, const Found& bound,
                                 const Facet& object) const {
    Leanings leanings;
    const auto lean_on = [&](const Leaning& leaning) {
        const bool known = std::any_of(leanings.begin(), leanings.end(), [&](const Leaning& each) {
            return each.source == leaning.source;
        });
        if (!known) leanings.push_back(leaning);
    };
    const Role own = on_.settings.sources[object.source].role;
    lean_on({object.source, std::max(last_word_beside(object, of_roles(bound)),
                                     said_beside(object.source, own, role(own).sources))});
    const BrokerTime since = rule_.since_first_seen ? object.first_seen : object.evidence;
    const Millis window = on_.settings.rules[on_.self.value()].create_window;
    const auto lean = [&](Role number, std::span<const SourceId> sources) {
        // A fact that is looked up changes slowly: its source must only be there.
        const bool slow = role(number).reference && !role(number).as_of;
        for (const SourceId source : sources) {
            const BrokerTime past = std::max(since, said_beside(source, number, sources));
            lean_on(slow ? Leaning{source, {}, Millis{0}} : Leaning{source, past, window});
        }
    };
    for (const PlanPattern& pattern : found.patterns) {
        if (pattern.in.role == kNoRole) {
            lean(pattern.role, role(pattern.role).sources);
        } else {
            lean(pattern.role, sources_of(pattern, bound));
        }
    }
    // What named conditions asked on the way, of whichever object; and the cases before, which
    // would have been the ones to find something.
    for (const auto* asked : {&found.looked_up, &found.before}) {
        for (const PlanPattern& pattern : *asked) lean(pattern.role, role(pattern.role).sources);
    }
    if (found.by_ledger) {
        lean(on_.plan.ledger->objects, role(on_.plan.ledger->objects).sources);
    }
    // A deletion of what `when` does not name is behind us only by what its source shows.
    for (std::size_t i = 0; i <= step; ++i) {
        const PlanStep& each = found.steps[i];
        const auto& asked = found.roles;
        const bool named = std::find(asked.begin(), asked.end(), each.role) != asked.end();
        if (!policy::removes(each.verb) || named) continue;
        for (const SourceId source : role(each.role).sources) lean_on({source, {}, Millis{0}});
    }
    return leanings;
}

/// Own write, grace, and who was not heard.
std::optional<Decision> Evaluation::not_yet_by(const PlanCase& found, std::size_t step,
                                               const Found& bound, const Seen& about) const {
    const Facet& object = *about.facet;
    const Leanings leanings = leanings_of(found, step, bound, object);
    const auto held = not_yet(on_, object, leanings);
    if (watch_) {
        const JournalTime first = first_detected(on_.subject, on_.self, object.object_id, on_.now);
        watch_->not_yet(held, leanings, on_.now - first);
    }
    return held ? std::optional(as_said(*held, object)) : std::nullopt;
}

/// nullptr: it makes something new.
const Facet* Evaluation::target_of(const PlanCase& found, std::size_t step,
                                   const Found& bound) const {
    const PlanStep& next = found.steps[step];
    if (next.role == kNoRole || makes(next.verb)) return nullptr;
    const Seen* own = bound[next.role];
    const bool single = found.steps.size() == 1 && own != nullptr;
    if (policy::removes(next.verb) && !single) return left(next, bound).front()->facet;
    return own == nullptr ? nullptr : own->facet;
}

Decision Evaluation::act(const PlanCase& found, const Found& bound, const Seen& about,
                         std::size_t step) const {
    Decision decision;
    decision.kind = Verdict::Kind::kAct;
    decision.about = about.facet;
    decision.matched = &found;
    decision.step = step;
    for (std::size_t i = 0; i < on_.plan.roles.size(); ++i) {
        decision.bound[i] = bound[i] == nullptr ? nullptr : bound[i]->facet;
    }
    const PlanStep& next = found.steps[step];
    decision.target = target_of(found, step, bound);
    decision.source =
        decision.target == nullptr ? source_for(found, next, bound) : decision.target->source;
    // What an ending of ours wrote is no failure; whoever puts it away is late, that is all.
    const Aftermath* after = on_.subject.aftermath ? &*on_.subject.aftermath : nullptr;
    const bool ours = after != nullptr && after->ended && decision.target != nullptr &&
                      after->ended->object_id == decision.target->object_id;
    if (ours && policy::sets(next.verb)) {
        note("ending", "an ending of ours wrote it", "somebody else's write");
        return waiting(Reason::kReportOnly, *about.facet);
    }
    for (const TallyId count : found.asks) {
        const bool none = !on_.references.sweeping && on_.references.tallies[count] == 0;
        if (watch_) watch_->tally(count, none);
        if (none || !TRUEUP_GUARD("count_asks")) continue;
        decision.reason = Reason::kUncorrelatedRows;
        decision.wait.none_of = count;
        break;
    }
    return decision;
}

/// Where a step looks or makes something: the source that the pattern of its role asks.
SourceId Evaluation::source_for(const PlanCase& found, const PlanStep& step,
                                const Found& bound) const {
    for (const PlanPattern& pattern : found.patterns) {
        if (pattern.role != step.role) continue;
        const Sources asked = sources_of(pattern, bound);
        if (!asked.empty()) return asked.front();
    }
    const std::vector<SourceId>& all = role(step.role).sources;
    return all.empty() ? kNoSource : all.front();
}

}  // namespace trueup::core
