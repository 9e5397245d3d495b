#include "engine/core/evaluate.h"

#include "engine/base/guard.h"
#include "engine/core/draft.h"
#include "engine/core/row_time.h"
#include "engine/core/sides.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

namespace trueup::core {

namespace {

using policy::Quantifier;
using policy::Verb;

using Found = std::array<const Seen*, kMostRoles>;  ///< by role
using Patterns = std::span<const PlanPattern>;

Decision abstain(Reason why, Wait wait = {}) {
    Decision decision;
    decision.kind = Verdict::Kind::kAbstain;
    decision.reason = why;
    decision.wait = wait;
    return decision;
}
Decision waiting(Reason why, const Facet& about, Wait wait = {}) {
    Decision decision = abstain(why, wait);
    decision.kind = Verdict::Kind::kWaiting;
    decision.about = &about;
    return decision;
}
bool makes(Verb verb) { return verb == Verb::kCreate || verb == Verb::kInsert; }
/// What a verdict without a command says of `about`.
Decision as_said(const Verdict& verdict, const Facet& about) {
    Decision decision;
    decision.kind = verdict.kind;
    decision.reason = verdict.reason;
    decision.wait = verdict.wait;
    if (verdict.kind == Verdict::Kind::kWaiting) decision.about = &about;
    return decision;
}

/// Which of two unknown things is told: a side that is not known first, then two claims.
Truth first_told(const Truth& a, const Truth& b) {
    const auto rank = [](const Truth& each) {
        if (each.is != Truth::Is::kUnknown) return 3;
        if (each.why == Reason::kNotSynced) return 0;
        return each.why == Reason::kDuplicateClaim ? 1 : 2;
    };
    return rank(b) < rank(a) ? b : a;
}

class Evaluation {
  public:
    explicit Evaluation(const Judgement& on) : on_(on), rule_(on.rule()), facts_(on.facts.seen) {}

    Decision run() {
        if (on_.subject.ending && TRUEUP_GUARD("ending_stands_alone")) {
            return abstain(Reason::kEnding);
        }
        if (on_.subject.reference() && !rule_.keyless) return {};
        if (rule_.owner.role != kNoRole && !asked_for()) return {};
        Wait until;  // of a case that is healthy until its deadline
        for (const PlanCase& each : rule_.cases) {
            // Of an object without a key only its own role is asked.
            if (!on_.subject.reference() && !on_.facts.fit(each.mask)) continue;
            Decision decision = each.duplicates ? duplicates() : judge(each);
            if (decision.kind != Verdict::Kind::kHealthy) {
                if (decision.wait == Wait{}) decision.wait = until;
                return decision;
            }
            if (until == Wait{}) until = decision.wait;
        }
        Decision healthy;
        healthy.wait = until;
        return healthy;
    }

  private:
    const PlanRole& role(Role number) const { return on_.plan.roles[number]; }

    bool goes(const Seen& object) const {
        return role(object.role).kubernetes() && deleting(*object.facet);
    }
    bool ours(const Seen& object) const { return core::ours(role(object.role), *object.facet); }

    // ---------------------------------------------------------------- conditions

    Truth holds(const PlanNode& node, const Seen& object, const Found& bound) const {
        return truth_of(node, [&](const PlanNode& leaf) {
            switch (leaf.kind) {
                case PlanNode::Kind::kJoin:
                    return join(role(object.role).joins[leaf.index], object, bound);
                case PlanNode::Kind::kNamed:
                    return named(on_.plan.conditions[leaf.index], object);
                default:
                    break;
            }
            const PlanRole& of = role(object.role);
            // What its key is made of does not say which one it is, whatever it says.
            const bool keyless = on_.subject.reference() && !of.reference &&
                                 of.fields[of.tests[leaf.index].field].in_key;
            return keyless ? Truth::of(!leaf.negated) : object.test(leaf.index);
        });
    }

    Truth join(const PlanJoin& join, const Seen& object, const Found& bound) const {
        const Seen* other = join.other.role == object.role ? &object : bound[join.other.role];
        if (other == nullptr) return Truth::unknown(Reason::kIncomplete);
        return compared(on_.plan, join, object, *other);
    }

    Truth named(const PlanCondition& condition, const Seen& about) const {
        Found bound{};
        bound[condition.about] = &about;
        return truth_of(condition, [&](const PlanPattern& pattern) {
            return pattern.role == condition.about ? holds(pattern.condition, about, bound)
                                                   : alone(pattern, bound);
        });
    }

    // ---------------------------------------------------------------- patterns

    struct Objects {
        std::vector<Seen> looked_up;  ///< of a reference
        std::vector<const Seen*> all;
        std::vector<SourceId> sources;  ///< that must prove what is said of them
        bool known = true;
    };

    Objects objects_of(const PlanPattern& pattern, const Found& bound) const {
        Objects found;
        const PlanRole& of = role(pattern.role);
        found.sources = sources_of(pattern, bound);
        for (const SourceId source : found.sources) {
            const bool known = on_.references.sources[source].known;
            // Unknown is not absent: without a complete epoch of the present owner nothing is
            // proven.
            found.known = found.known && (known || !TRUEUP_GUARD("absence_needs_proof"));
        }
        if (!of.reference) {
            for (const Seen& seen : facts_) {
                if (seen.role == pattern.role) found.all.push_back(&seen);
            }
            return found;
        }
        const std::optional<std::string_view> name = looked_up(pattern, bound);
        if (!name) {
            found.known = false;
            return found;
        }
        for (const SourceId source : found.sources) {
            for (const Facet& facet : on_.references.about(source, *name).facets) {
                if (facet.source == source && facet.present()) {
                    found.looked_up.push_back(look_at(on_.plan, facet, on_.settings, nullptr));
                }
            }
        }
        for (const Seen& seen : found.looked_up) found.all.push_back(&seen);
        return found;
    }

    std::optional<std::string_view> looked_up(const PlanPattern& pattern,
                                              const Found& bound) const {
        if (!pattern.named_literal.empty()) return pattern.named_literal;
        const Seen* by = bound[pattern.named.role];
        if (by == nullptr) return std::nullopt;
        const PlanValue name = value_of(role(by->role), pattern.named.field, *by);
        if (name.kind == PlanValue::Kind::kUnsent) return std::nullopt;
        return name.text;
    }

    /// `in: F`: that of its scope. Which one that is may not be known: then all must prove it.
    std::vector<SourceId> sources_of(const PlanPattern& pattern, const Found& bound) const {
        const std::vector<SourceId>& all = role(pattern.role).sources;
        const std::optional<std::string_view> scope = scope_of(pattern, bound);
        if (!scope) return all;
        std::vector<SourceId> some;
        for (const SourceId source : all) {
            if (on_.settings.sources[source].scope == *scope) some.push_back(source);
        }
        return some;
    }
    std::optional<std::string_view> scope_of(const PlanPattern& pattern, const Found& bound) const {
        if (pattern.in.role == kNoRole || bound[pattern.in.role] == nullptr) return std::nullopt;
        const Seen& by = *bound[pattern.in.role];
        const PlanValue scope = value_of(role(by.role), pattern.in.field, by);
        if (scope.kind != PlanValue::Kind::kText) return std::nullopt;
        return scope.text;
    }

    /// `in: F`: does anybody look at that scope? One that nobody looks at proves nothing.
    Truth watched(const PlanPattern& pattern, const Found& bound) const {
        if (pattern.in.role == kNoRole) return Truth::of(true);
        if (!scope_of(pattern, bound)) return Truth::unknown(Reason::kIncomplete);
        return Truth::of(!sources_of(pattern, bound).empty());
    }

    Truth wanted(const PlanPattern& pattern, const Seen& object, const Found& bound) const {
        const Truth fits = holds(pattern.condition, object, bound);
        if (pattern.quantifier == Quantifier::kNone) return fits;
        return Truth::of(ours(object)) && fits;
    }

    Truth none(const PlanPattern& pattern, const Found& bound) const {
        const Objects objects = objects_of(pattern, bound);
        if (objects.all.empty()) {
            return objects.known ? Truth::of(true) : Truth::unknown(Reason::kNotSynced);
        }
        Truth sum = Truth::of(true);
        for (const Seen* each : objects.all) sum = sum && wanted(pattern, *each, bound).negated();
        return sum;
    }

    /// A pattern of a named condition: what it binds is asked for by nobody else.
    Truth alone(const PlanPattern& pattern, const Found& bound) const {
        if (pattern.quantifier != Quantifier::kSome) return match_first({&pattern, 1}, bound).truth;
        const Objects objects = objects_of(pattern, bound);
        Truth sum = Truth::of(false);
        if (objects.all.empty() && !objects.known) sum = Truth::unknown(Reason::kNotSynced);
        for (const Seen* each : objects.all) sum = sum || wanted(pattern, *each, bound);
        return watched(pattern, bound) && sum;
    }

    struct Match {
        Truth truth = Truth::of(true);
        Found bound;
    };

    /// All of these patterns, under what is bound before.
    Match match(Patterns patterns, const Found& bound) const {
        if (patterns.empty()) return {Truth::of(true), bound};
        const bool elsewhere = on_.subject.reference() && !shows(patterns.front().role);
        if (elsewhere) return match(patterns.subspan(1), bound);  // only its own is asked
        return match_first(patterns, bound);
    }

    Match match_first(Patterns patterns, const Found& bound) const {
        const PlanPattern& pattern = patterns.front();
        const Truth seen = watched(pattern, bound);
        if (pattern.quantifier == Quantifier::kNone) {
            return also(seen && none(pattern, bound), patterns, bound);
        }
        const Objects objects = objects_of(pattern, bound);
        std::vector<const Seen*> fit;
        for (const Seen* each : objects.all) {
            if (!wanted(pattern, *each, bound).no()) fit.push_back(each);
        }
        if (fit.empty()) {
            const bool proven = !objects.all.empty() || objects.known;
            const Truth nobody = proven ? Truth::of(false) : Truth::unknown(Reason::kNotSynced);
            return also(seen && nobody, patterns, bound);
        }
        const bool surplus = pattern.quantifier == Quantifier::kSurplus;
        if (surplus && fit.size() < 2) return {Truth::of(false), bound};
        if (!seen.yes()) return also(seen, patterns, bound);
        if (surplus) return least_of(patterns, fit, bound);
        if (pattern.quantifier == Quantifier::kSome) return some(patterns, fit, bound);
        return bind(patterns, *fit.front(), bound, single(pattern, objects.all, bound));
    }

    bool shows(Role number) const {
        return std::any_of(facts_.begin(), facts_.end(),
                           [&](const Seen& seen) { return seen.role == number; });
    }

    /// What is looked up lives as long as this judgement.
    const Seen* keep(const Seen* seen) const {
        const bool own = std::any_of(facts_.begin(), facts_.end(),
                                     [&](const Seen& each) { return &each == seen; });
        if (own) return seen;
        kept_.push_back(std::make_unique<Seen>(*seen));
        return kept_.back().get();
    }

    /// The first one is so; and the others.
    Match also(const Truth& truth, Patterns patterns, const Found& bound) const {
        if (truth.no()) return {truth, bound};
        Match rest = match(patterns.subspan(1), bound);
        if (!rest.truth.no()) rest.truth = first_told(truth, rest.truth);
        return rest;
    }

    /// The first one's object is this one, if `alone` is so.
    Match bind(Patterns patterns, const Seen& object, Found bound,
               const Truth& alone = Truth::of(true)) const {
        const Truth truth = alone && wanted(patterns.front(), object, bound);
        bound[patterns.front().role] = keep(&object);
        return also(truth, patterns, bound);
    }

    /// The first by id for which the rest is not false.
    Match some(Patterns patterns, const std::vector<const Seen*>& fit, const Found& bound) const {
        for (const Seen* each : fit) {
            Match match = bind(patterns, *each, bound);
            if (!match.truth.no()) return match;
        }
        return {Truth::of(false), bound};
    }

    /// Is there only one that claims the subject, or matches? Of a role that has several, a second
    /// one that may be none leaves it open.
    Truth single(const PlanPattern& pattern, const std::vector<const Seen*>& all,
                 const Found& bound) const {
        std::size_t may = 0;
        std::size_t is = 0;
        for (const Seen* each : all) {
            const Truth claims =
                wanted(pattern, *each, bound) || holds(role(pattern.role).live, *each, {});
            if (!claims.no()) ++may;
            if (claims.yes()) ++is;
        }
        if (may < 2) return Truth::of(true);
        if (!role(pattern.role).several) return Truth::unknown(Reason::kDuplicateClaim);
        return is > 1 ? Truth::of(false) : Truth::unknown(Reason::kIncomplete);
    }

    /// The least worth one of two or more; what is not known of one is a bad mark.
    Match least_of(Patterns patterns, const std::vector<const Seen*>& fit,
                   const Found& bound) const {
        const PlanPattern& pattern = patterns.front();
        const Seen* least = fit.front();
        std::size_t sure = 0;
        Truth two = Truth::of(true);
        for (const Seen* each : fit) {
            if (better(pattern, *least, *each, bound)) least = each;
            const Truth truth = wanted(pattern, *each, bound);
            if (truth.yes()) ++sure;
            if (two.yes()) two = truth;
        }
        // Where the others may be none at all, it may be the only one.
        if (sure > 1) two = Truth::of(true);
        const bool ranked = std::all_of(
            pattern.keep.begin(), pattern.keep.end(),
            [&](const PlanRanking& rank) { return told(rank.condition, pattern.role, bound); });
        if (!ranked) two = Truth::unknown(Reason::kIncomplete) && two;
        return bind(patterns, *least, bound, two);
    }

    bool better(const PlanPattern& pattern, const Seen& a, const Seen& b,
                const Found& bound) const {
        for (const PlanRanking& rank : pattern.keep) {
            if (rank.latest) {
                const PlanRole& of = role(pattern.role);
                const int order = order_of(of.fields[*rank.latest], value_of(of, *rank.latest, a),
                                           value_of(of, *rank.latest, b));
                if (order != 0) return order > 0;
                continue;
            }
            const bool left = holds(rank.condition, a, bound).yes();
            const bool right = holds(rank.condition, b, bound).yes();
            if (left != right) return left;
        }
        if (a.facet->first_seen != b.facet->first_seen) {
            return a.facet->first_seen > b.facet->first_seen;
        }
        return a.facet->object_id < b.facet->object_id;
    }

    /// Is what the objects are ranked against known?
    bool told(const PlanNode& node, Role number, const Found& bound) const {
        using Kind = PlanValue::Kind;
        if (node.kind == PlanNode::Kind::kJoin) {
            const FieldAt& other = role(number).joins[node.index].other;
            if (other.role == number) return true;
            if (bound[other.role] == nullptr) return false;
            const PlanRole& of = role(other.role);
            const Kind kind = value_of(of, other.field, *bound[other.role]).kind;
            return kind == Kind::kText ||
                   (kind == Kind::kNotThere && !of.fields[other.field].required);
        }
        return std::all_of(node.parts.begin(), node.parts.end(),
                           [&](const PlanNode& part) { return told(part, number, bound); });
    }

    // ---------------------------------------------------------------- stages

    bool asked_for() const {
        const auto& termination = on_.subject.termination;
        if (!termination) return false;
        if (!termination->owners) return true;
        return std::any_of(facts_.begin(), facts_.end(), [&](const Seen& seen) {
            if (seen.role != rule_.owner.role) return false;
            const PlanValue owner = value_of(role(seen.role), rule_.owner.field, seen);
            return owner.kind == PlanValue::Kind::kUnsent || owner.text == termination->by;
        });
    }

    Decision duplicates() const {
        const Facet* last = nullptr;
        const Found nobody{};
        const auto roles = static_cast<Role>(on_.plan.roles.size());
        for (Role number = 0; number < roles; ++number) {
            if (role(number).several || role(number).reference) continue;
            if (!on_.facts.two.has(role(number).claims)) continue;
            std::size_t count = 0;
            for (const Seen& seen : facts_) {
                if (seen.role != number || goes(seen)) continue;
                if (holds(role(number).live, seen, nobody).no()) continue;
                if (++count > 1) last = seen.facet;
            }
        }
        return last == nullptr ? Decision{} : waiting(Reason::kReportOnly, *last);
    }

    Decision judge(const PlanCase& found) const {
        if (rule_.on_request()) return answer(found, judge_alone(found));
        return judge_alone(found);
    }

    Decision judge_alone(const PlanCase& found) const {
        const Match matched = match(found.patterns, {});
        if (matched.truth.no()) return {};
        if (!matched.truth.yes()) return abstain(matched.truth.why);
        const Found& bound = matched.bound;
        const Seen* about = object_of(found, bound);
        if (about == nullptr) return {};
        if (on_.subject.reference()) return without_key(found, bound, *about->facet);
        if (const Truth theirs = owned(bound); !theirs.yes()) {
            return theirs.no() ? Decision{} : abstain(theirs.why);
        }
        if (!told(found, bound)) return abstain(Reason::kIncomplete);
        if (found.past) {
            if (auto early = before(*found.past, bound)) return *early;
        }
        const std::optional<std::size_t> step = next_step(found, bound, *about);
        if (!step) return {};
        const Facet* target = target_of(found, *step, bound);
        if (found.steps.front().verb == Verb::kReport) return report(*about->facet);
        if (vetoed_in(found, bound) || (target != nullptr && vetoed(*target))) {
            return abstain(Reason::kVeto);
        }
        if (auto held = not_yet_by(found, *step, bound, *about)) return *held;
        if (const JournalTime due = next_try(); on_.now < due) {
            return waiting(Reason::kBackoff, *about->facet, {due, kNoSource, {}});
        }
        return act(found, bound, *about, *step);
    }

    /// It is only reported, once it is due; of a deadline that another object has nothing is known.
    Decision without_key(const PlanCase& found, const Found& bound, const Facet& about) const {
        if (found.past) {
            const auto* length = std::get_if<FieldAt>(&found.past->length);
            const bool asked = bound[found.past->from.role] != nullptr &&
                               (length == nullptr || bound[length->role] != nullptr);
            const auto early = asked ? before(*found.past, bound) : std::nullopt;
            if (early) return *early;
        }
        return waiting(Reason::kReportOnly, about);
    }

    /// Is what was bound theirs who asked for it?
    Truth owned(const Found& bound) const {
        const auto& termination = on_.subject.termination;
        if (!rule_.on_request() || !termination || !termination->owners) return Truth::of(true);
        const Seen* object = bound[rule_.owner.role];
        if (object == nullptr) return Truth::unknown(Reason::kIncomplete);
        const PlanValue owner = value_of(role(object->role), rule_.owner.field, *object);
        if (owner.kind == PlanValue::Kind::kUnsent) return Truth::unknown(Reason::kIncomplete);
        return Truth::of(owner.text == termination->by);
    }

    /// A report leans on nobody; what lasts for less than the grace is none.
    Decision report(const Facet& about) const {
        const JournalTime due = first_detected(on_.subject, on_.self, about.object_id, on_.now) +
                                on_.settings.rules[on_.self].grace;
        if (on_.now < due) return waiting(Reason::kGrace, about, {due, kNoSource, {}});
        return waiting(Reason::kReportOnly, about);
    }

    /// What was asked for is answered: as long as nothing can be done, a finding says why.
    Decision answer(const PlanCase& found, Decision decision) const {
        const Seen* asked = nullptr;
        for (const Seen& seen : facts_) {
            if (seen.role != rule_.owner.role) continue;
            if (holds(role(seen.role).live, seen, {}).no()) continue;
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
        const Match others = match(rest, {});
        if (others.truth.no() || (others.truth.yes() && owned(others.bound).no())) return decision;
        return waiting(Reason::kNoObject, *asked->facet);
    }

    /// Is everything known that the steps are made of? Nothing is no text, but it may be read.
    bool told(const PlanCase& found, const Found& bound) const {
        using Kind = PlanValue::Kind;
        const auto kind_of = [&](const FieldAt& field) {
            const Seen* object = bound[field.role];
            return object == nullptr ? Kind::kUnsent
                                     : value_of(role(field.role), field.field, *object).kind;
        };
        return std::all_of(found.texts.begin(), found.texts.end(),
                           [&](const FieldAt& field) { return kind_of(field) == Kind::kText; }) &&
               std::all_of(found.reads.begin(), found.reads.end(), [&](const FieldAt& field) {
                   const Kind kind = kind_of(field);
                   return kind == Kind::kText || kind == Kind::kNotThere;
               });
    }

    /// When the next object may be made, by the ends of those before.
    JournalTime next_try() const {
        if (rule_.backoff.empty() || !on_.subject.ledger) return {};
        std::size_t failures = 0;
        JournalTime latest{};
        for (const Ledger::Entry& entry : on_.subject.ledger->entries) {
            if (entry.end == End::kSucceeded) continue;
            ++failures;
            latest = std::max(latest, entry.at);
        }
        return latest + rule_.backoff[std::min(failures, rule_.backoff.size() - 1)];
    }

    /// What the last step writes, unless one before takes it away; else what `when` names first.
    const Seen* object_of(const PlanCase& found, const Found& bound) const {
        const auto taken = [&](Role number) {
            return std::any_of(found.steps.begin(), found.steps.end() - 1,
                               [&](const PlanStep& step) {
                                   return step.role == number && step.verb == Verb::kDelete;
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

    /// `nullopt` once the source's own clock has passed it; else what to say until then.
    std::optional<Decision> before(const PlanDeadline& past, const Found& bound) const {
        const Seen& object = *bound[past.from.role];
        const PlanValue from = value_of(role(object.role), past.from.field, object);
        const auto* field = std::get_if<FieldAt>(&past.length);
        using Kind = PlanValue::Kind;
        PlanValue length{Kind::kText, {}};
        if (field != nullptr) {
            length = value_of(role(field->role), field->field, *bound[field->role]);
        }
        if (from.kind == Kind::kUnsent || length.kind == Kind::kUnsent) {
            return abstain(Reason::kIncomplete);
        }
        if (from.kind != Kind::kText || length.kind != Kind::kText) return Decision{};
        const std::optional<SourceTime> begins = parse_timestamp(from.text);
        const std::optional<Millis> lasts = field == nullptr
                                                ? std::optional(std::get<Millis>(past.length))
                                                : parse_duration(length.text);
        if (!begins || !lasts) return waiting(Reason::kUnreadable, *object.facet);
        if (*lasts <= Millis{0}) return Decision{};
        const auto early = not_due(on_.subject, on_.references, on_.settings, object.facet->source,
                                   *begins + *lasts);
        return early ? std::optional(as_said(*early, *object.facet)) : std::nullopt;
    }

    std::vector<const Seen*> left(const PlanStep& step) const {
        std::vector<const Seen*> all;
        for (const Seen& seen : facts_) {
            if (seen.role == step.role && !goes(seen) && ours(seen)) all.push_back(&seen);
        }
        return all;
    }

    /// Deletes that nothing is left for are behind us.
    std::optional<std::size_t> next_step(const PlanCase& found, const Found& bound,
                                         const Seen& about) const {
        const Finding* finding = open_finding(on_.subject, on_.self, about.facet->object_id);
        std::size_t done = finding == nullptr ? 0 : finding->steps;
        for (std::size_t i = 0; i < found.steps.size(); ++i) {
            const PlanStep& step = found.steps[i];
            // Before anything was taken everything is judged again behind each step.
            if (step.verb != Verb::kDelete && done > 0 && i + 1 < found.steps.size()) {
                --done;
                continue;
            }
            if (step.verb != Verb::kDelete) return i;
            const std::vector<const Seen*> rest = left(step);
            const bool single = found.steps.size() == 1 && bound[step.role] != nullptr;
            if (single ? std::find(rest.begin(), rest.end(), bound[step.role]) != rest.end()
                       : !rest.empty()) {
                return i;
            }
        }
        return std::nullopt;
    }

    /// On what is bound, or on what a `none` looked past; references excepted.
    bool vetoed_in(const PlanCase& found, const Found& bound) const {
        for (const Seen* object : bound) {
            if (object != nullptr && !role(object->role).reference && vetoed(*object->facet)) {
                return true;
            }
        }
        return std::any_of(
            found.patterns.begin(), found.patterns.end(), [&](const PlanPattern& pattern) {
                if (pattern.quantifier != Quantifier::kNone) return false;
                return std::any_of(facts_.begin(), facts_.end(), [&](const Seen& seen) {
                    return seen.role == pattern.role && vetoed(*seen.facet);
                });
            });
    }

    /// Own write, grace, and who was not heard: its own side first.
    std::optional<Decision> not_yet_by(const PlanCase& found, std::size_t step, const Found& bound,
                                       const Seen& about) const {
        const Facet& object = *about.facet;
        std::vector<Leaning> leanings;
        const auto lean_on = [&](const Leaning& leaning) {
            const bool known =
                std::any_of(leanings.begin(), leanings.end(),
                            [&](const Leaning& each) { return each.source == leaning.source; });
            if (!known) leanings.push_back(leaning);
        };
        BrokerTime last_word{};
        for (const Seen* each : bound) {
            if (each != nullptr && each->facet != &object) {
                last_word = std::max(last_word, each->facet->evidence);
            }
        }
        lean_on({object.source, last_word});
        const BrokerTime since = rule_.since_first_seen ? object.first_seen : object.evidence;
        const Millis window = on_.settings.rules[on_.self].create_window;
        const auto lean = [&](Role number, const std::vector<SourceId>& sources) {
            // A fact that is looked up changes slowly: its source must only be there.
            const bool slow = role(number).reference;
            for (const SourceId source : sources) {
                lean_on(slow ? Leaning{source, {}, Millis{0}} : Leaning{source, since, window});
            }
        };
        for (const PlanPattern& pattern : found.patterns) {
            lean(pattern.role, sources_of(pattern, bound));
        }
        // What named conditions asked on the way, of whichever object.
        for (const PlanPattern& pattern : found.looked_up) {
            lean(pattern.role, role(pattern.role).sources);
        }
        if (found.by_ledger) {
            lean(on_.plan.ledger->objects, role(on_.plan.ledger->objects).sources);
        }
        // A deletion of what `when` does not name is behind us only by what its source shows.
        for (std::size_t i = 0; i <= step; ++i) {
            const PlanStep& each = found.steps[i];
            const auto& asked = found.roles;
            const bool named = std::find(asked.begin(), asked.end(), each.role) != asked.end();
            if (each.verb != Verb::kDelete || named) continue;
            for (const SourceId source : role(each.role).sources) lean_on({source, {}, Millis{0}});
        }
        const auto held =
            not_yet(on_.subject, on_.references, on_.settings, on_.self, on_.now, object, leanings);
        return held ? std::optional(as_said(*held, object)) : std::nullopt;
    }

    /// nullptr: it makes something new.
    const Facet* target_of(const PlanCase& found, std::size_t step, const Found& bound) const {
        const PlanStep& next = found.steps[step];
        if (next.role == kNoRole || makes(next.verb)) return nullptr;
        const Seen* own = bound[next.role];
        const bool single = found.steps.size() == 1 && own != nullptr;
        if (next.verb == Verb::kDelete && !single) return left(next).front()->facet;
        return own == nullptr ? nullptr : own->facet;
    }

    Decision act(const PlanCase& found, const Found& bound, const Seen& about,
                 std::size_t step) const {
        Decision decision;
        decision.kind = Verdict::Kind::kAct;
        decision.about = about.facet;
        decision.matched = &found;
        decision.step = step;
        for (std::size_t i = 0; i < bound.size(); ++i) {
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
        if (ours && next.verb == Verb::kUpdate) return waiting(Reason::kReportOnly, *about.facet);
        for (const TallyId count : found.asks) {
            const bool none = !on_.references.sweeping && on_.references.tallies[count] == 0;
            if (none || !TRUEUP_GUARD("count_asks")) continue;
            decision.reason = Reason::kUncorrelatedRows;
            decision.wait.none_of = count;
            break;
        }
        return decision;
    }

    /// Where a step looks or makes something: the source that the pattern of its role asks.
    SourceId source_for(const PlanCase& found, const PlanStep& step, const Found& bound) const {
        for (const PlanPattern& pattern : found.patterns) {
            if (pattern.role != step.role) continue;
            const std::vector<SourceId> asked = sources_of(pattern, bound);
            if (!asked.empty()) return asked.front();
        }
        const std::vector<SourceId>& all = role(step.role).sources;
        return all.empty() ? kNoSource : all.front();
    }

    const Judgement& on_;
    const PlanRule& rule_;
    const std::vector<Seen>& facts_;
    mutable std::vector<std::unique_ptr<Seen>> kept_;
};

}  // namespace

Decision decide(const Judgement& on) { return Evaluation(on).run(); }

Verdict judge(const Judgement& on) {
    const Decision decision = decide(on);
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
