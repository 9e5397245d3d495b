#include "engine/core/evaluate.h"

#include "engine/base/guard.h"
#include "engine/core/draft.h"
#include "engine/core/row_time.h"
#include "engine/core/sides.h"
#include "engine/core/witness.h"

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
/// Whatever else it waits for, it is judged again when the other one is due. A wait has room for
/// one source: a deadline by the clock of another one comes to its turn with the next judgement.
void bring_forward(Wait& wait, const Wait& other) {
    if (other.due && (!wait.due || *other.due < *wait.due)) wait.due = other.due;
    const bool sooner = wait.source == other.source && other.beyond < wait.beyond;
    if (wait.source != kNoSource && !sooner) return;
    wait.source = other.source;
    wait.beyond = other.beyond;
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
    /// `witness` is told what is asked on the way, and changes nothing; nullptr: nobody looks.
    explicit Evaluation(const Judgement& on, Witness* witness = nullptr)
        : on_(on), rule_(on.rule()), facts_(on.facts.seen), watch_(witness) {}

    Decision run() {
        watch_.at(Stage::kAsked);
        if (on_.subject.ending && TRUEUP_GUARD("ending_stands_alone")) {
            note("ending", "another rule is ending the subject", "no ending");
            return ended(abstain(Reason::kEnding));
        }
        if (on_.subject.reference() && !rule_.keyless) {
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

  private:
    struct Objects {
        std::vector<Seen> looked_up;  ///< of a reference
        std::vector<const Seen*> all;
        std::vector<SourceId> sources;  ///< that must prove what is said of them
        std::string_view named;         ///< what a reference was looked up by
        bool known = true;
        bool asked = true;  ///< false: what to look up is not known
    };

    // ---------------------------------------------------------------- what a witness is told

    void note(std::string_view name, std::string_view value, std::string_view asked) const {
        if (watch_) watch_->kept(name, std::string(value), std::string(asked), false);
    }
    void note(const FieldAt& field, std::string_view asked, const Found& bound,
              const Truth& truth) const {
        if (!watch_) return;
        const Seen* object = bound[field.role];
        if (object == nullptr) return watch_->unbound(field, std::string(asked));
        watch_->field(*object, field.field, std::string(asked), truth);
    }
    void note_time(std::string_view name, Millis lasted, Millis of) const {
        if (watch_) watch_->time(name, words_of(lasted), words_of(of), of - lasted);
    }
    /// What was found of one object of a pattern; of one that nothing is asked of, that it is
    /// there.
    void say_of(const Seen& object, std::size_t from, const Truth& truth, bool unwanted) const {
        if (!watch_) return;
        watch_.say(from, truth);
        if (watch_.mark() > from && !(unwanted && !truth.yes())) return;
        watch_->object(object, unwanted ? "none" : "there", truth);
    }
    void begin(const PlanCase& each) const {
        if (!watch_) return;
        const bool several = rule_.cases.size() > 1;
        watch_->begin_case(several ? static_cast<std::size_t>(&each - rule_.cases.data()) + 1 : 0);
    }
    /// By which pattern a case is false that the bits of its conditions rule out.
    void show(const PlanCase& each) const {
        begin(each);
        if (each.duplicates) {
            duplicates();
        } else {
            judge_alone(each);
        }
        ended({});
    }
    Decision ended(Decision decision) const {
        if (watch_) watch_->end(decision);
        return decision;
    }

    const PlanRole& role(Role number) const { return on_.plan.roles[number]; }

    bool goes(const Seen& object) const {
        return role(object.role).kubernetes() && deleting(*object.facet);
    }
    bool ours(const Seen& object) const { return core::ours(role(object.role), *object.facet); }

    // ---------------------------------------------------------------- conditions

    Truth holds(const PlanNode& node, const Seen& object, const Found& bound) const {
        const auto leaf = [&](const PlanNode& asked) {
            switch (asked.kind) {
                case PlanNode::Kind::kJoin:
                    return join(asked, object, bound);
                case PlanNode::Kind::kNamed:
                    return named(on_.plan.conditions[asked.index], object);
                default:
                    return test(asked, object);
            }
        };
        return truth_of(node, leaf, watch_);
    }

    Truth test(const PlanNode& asked, const Seen& object) const {
        const PlanRole& of = role(object.role);
        const PlanTest& test = of.tests[asked.index];
        // What its key is made of does not say which one it is, whatever it says.
        const bool keyless =
            on_.subject.reference() && !of.reference && of.fields[test.field].in_key;
        if (keyless) return Truth::of(!asked.negated);
        const Truth truth = object.test(asked.index);
        if (watch_) watch_->test(object, test, asked.negated, truth);
        return truth;
    }

    Truth join(const PlanNode& asked, const Seen& object, const Found& bound) const {
        const PlanJoin& join = role(object.role).joins[asked.index];
        const Seen* other = join.other.role == object.role ? &object : bound[join.other.role];
        const Truth truth = other == nullptr ? Truth::unknown(Reason::kIncomplete)
                                             : compared(on_.plan, join, object, *other);
        if (watch_) watch_->join(object, join, asked.negated, other, truth);
        return truth;
    }

    Truth named(const PlanCondition& condition, const Seen& about) const {
        Found bound{};
        bound[condition.about] = &about;
        const auto fits = [&](const PlanPattern& pattern) {
            return pattern.role == condition.about ? holds(pattern.condition, about, bound)
                                                   : alone(pattern, bound);
        };
        return truth_of(condition, fits, watch_);
    }

    // ---------------------------------------------------------------- patterns

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
            found.known = found.asked = false;
            return found;
        }
        found.named = *name;
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
        const PlanValue name = by == nullptr ? PlanValue{PlanValue::Kind::kUnsent, {}}
                                             : value_of(role(by->role), pattern.named.field, *by);
        if (name.kind == PlanValue::Kind::kUnsent) {
            note(pattern.named, "a name to look up", bound, Truth::unknown(Reason::kIncomplete));
            return std::nullopt;
        }
        if (watch_) watch_->beside(*by, pattern.named.field, "the name that is looked up");
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
        const Truth truth = scope_of(pattern, bound)
                                ? Truth::of(!sources_of(pattern, bound).empty())
                                : Truth::unknown(Reason::kIncomplete);
        note(pattern.in, "a scope that a source looks at", bound, truth);
        return truth;
    }

    Truth wanted(const PlanPattern& pattern, const Seen& object, const Found& bound) const {
        const std::size_t from = watch_.mark();
        const Truth fits = holds(pattern.condition, object, bound);
        if (pattern.quantifier == Quantifier::kNone || ours(object)) return fits;
        watch_.forget(from);
        if (watch_) watch_->built_in(*object.facet, "in_scope", "true", false);
        return Truth::of(false);
    }

    /// Of a pattern whose role shows nothing.
    Truth nobody(const PlanPattern& pattern, const Objects& objects, bool none) const {
        const Truth truth = objects.known ? Truth::of(none) : Truth::unknown(Reason::kNotSynced);
        if (watch_ && objects.asked) {
            watch_->nobody(pattern.role, objects.sources, objects.named, truth);
        }
        return truth;
    }

    Truth none(const PlanPattern& pattern, const Found& bound) const {
        const Objects objects = objects_of(pattern, bound);
        if (objects.all.empty()) return nobody(pattern, objects, true);
        const std::size_t from = watch_.mark();
        Truth sum = Truth::of(true);
        for (const Seen* each : objects.all) {
            const std::size_t own = watch_.mark();
            const Truth one = wanted(pattern, *each, bound).negated();
            say_of(*each, own, one, true);
            sum = sum && one;
        }
        watch_.keep(from, sum);
        return sum;
    }

    /// A pattern of a named condition: what it binds is asked for by nobody else.
    Truth alone(const PlanPattern& pattern, const Found& bound) const {
        if (pattern.quantifier != Quantifier::kSome) return one_of(pattern, bound).truth;
        const std::size_t from = watch_.mark();
        const Truth seen = watched(pattern, bound);
        const std::size_t behind = watch_.mark();
        const Objects objects = objects_of(pattern, bound);
        const std::size_t first = watch_.mark();
        Truth sum = Truth::of(false);
        if (objects.all.empty()) sum = nobody(pattern, objects, false);
        for (const Seen* each : objects.all) {
            const std::size_t own = watch_.mark();
            const Truth truth = wanted(pattern, *each, bound);
            say_of(*each, own, truth, false);
            sum = sum || truth;
        }
        watch_.keep(first, sum);
        return both(from, seen, behind, sum);
    }

    /// `a`, of which facts are told from `from` on, and `b`, of which those from `behind` on are.
    Truth both(std::size_t from, const Truth& a, std::size_t behind, const Truth& b) const {
        const Truth sum = a && b;
        watch_.say(behind, b);
        watch_.keep(from, sum);
        return sum;
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
        if (pattern.quantifier == Quantifier::kSome) return some(patterns, bound);
        const One one = one_of(pattern, bound);
        Found with = bound;
        if (one.object != nullptr) with[pattern.role] = one.object;
        return also(one.truth, patterns, with);
    }

    /// What a pattern comes to by itself, and what it binds; nullptr: nothing.
    struct One {
        Truth truth;
        const Seen* object = nullptr;
    };

    One one_of(const PlanPattern& pattern, const Found& bound) const {
        const std::size_t from = watch_.mark();
        const Truth seen = watched(pattern, bound);
        const std::size_t behind = watch_.mark();
        if (pattern.quantifier == Quantifier::kNone) {
            return {both(from, seen, behind, none(pattern, bound))};
        }
        const Objects objects = objects_of(pattern, bound);
        const std::size_t first = watch_.mark();
        const std::vector<const Seen*> fit = fit_of(pattern, objects, bound);
        if (fit.empty()) return {both(from, seen, behind, nobody_fits(pattern, objects))};
        const bool surplus = pattern.quantifier == Quantifier::kSurplus;
        if (surplus && fit.size() < 2) {
            const Truth truth = Truth::of(false);
            if (watch_) watch_->claims(pattern.role, fit.size(), "2 or more", truth);
            watch_.keep(from, truth);
            return {truth};
        }
        if (!seen.yes()) {
            watch_.forget(behind);
            return {seen};
        }
        if (surplus) return least_of(pattern, fit, bound, first);
        watch_.forget(first);
        const Truth alone = single(pattern, objects.all, bound);
        return bind(pattern, *fit.front(), bound, first, alone);
    }

    /// Those that are not known to be other.
    std::vector<const Seen*> fit_of(const PlanPattern& pattern, const Objects& objects,
                                    const Found& bound) const {
        std::vector<const Seen*> fit;
        for (const Seen* each : objects.all) {
            const std::size_t own = watch_.mark();
            const Truth truth = wanted(pattern, *each, bound);
            say_of(*each, own, truth, false);
            if (!truth.no()) fit.push_back(each);
        }
        return fit;
    }
    Truth nobody_fits(const PlanPattern& pattern, const Objects& objects) const {
        return objects.all.empty() ? nobody(pattern, objects, false) : Truth::of(false);
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
        if (watch_) watch_->pattern(patterns.front(), truth);
        if (truth.no()) return {truth, bound};
        Match rest = match(patterns.subspan(1), bound);
        if (!rest.truth.no()) rest.truth = first_told(truth, rest.truth);
        return rest;
    }

    /// The pattern's object is this one, if `alone` is so. Facts about that are told from `from`
    /// on.
    One bind(const PlanPattern& pattern, const Seen& object, const Found& bound, std::size_t from,
             const Truth& alone) const {
        const std::size_t own = watch_.mark();
        const Truth fits = wanted(pattern, object, bound);
        say_of(object, own, fits, false);
        const Truth truth = alone && fits;
        watch_.keep(from, truth);
        return {truth, keep(&object)};
    }

    /// The first by id for which the rest is not false.
    Match some(Patterns patterns, const Found& bound) const {
        const PlanPattern& pattern = patterns.front();
        const std::size_t from = watch_.mark();
        const Truth seen = watched(pattern, bound);
        const std::size_t behind = watch_.mark();
        const Objects objects = objects_of(pattern, bound);
        const std::size_t first = watch_.mark();
        const std::vector<const Seen*> fit = fit_of(pattern, objects, bound);
        if (fit.empty()) {
            return also(both(from, seen, behind, nobody_fits(pattern, objects)), patterns, bound);
        }
        if (!seen.yes()) {
            watch_.forget(behind);
            return also(seen, patterns, bound);
        }
        watch_.forget(first);  // of those that fit it is told as they are bound
        const std::size_t before = watch_ ? watch_->patterns() : 0;
        for (const Seen* each : fit) {
            const std::size_t tried = watch_ ? watch_->patterns() : 0;
            const One one = bind(pattern, *each, bound, watch_.mark(), Truth::of(true));
            Found with = bound;
            with[pattern.role] = one.object;
            Match match = also(one.truth, patterns, with);
            if (match.truth.no()) continue;
            if (watch_) watch_->forget_patterns(before, tried);
            return match;
        }
        return {Truth::of(false), bound};
    }

    /// Is there only one that claims the subject, or matches? Of a role that has several, a second
    /// one that may be none leaves it open.
    Truth single(const PlanPattern& pattern, const std::vector<const Seen*>& all,
                 const Found& bound) const {
        if (all.size() < 2) return Truth::of(true);
        const std::size_t from = watch_.mark();
        std::vector<const Seen*> may;
        std::vector<const Seen*> is;
        for (const Seen* each : all) {
            const std::size_t own = watch_.mark();
            const Truth claims =
                wanted(pattern, *each, bound) || holds(role(pattern.role).live, *each, {});
            watch_.keep(own, claims);
            if (!claims.no()) may.push_back(each);
            if (claims.yes()) is.push_back(each);
        }
        if (may.size() < 2) {
            watch_.forget(from);
            return Truth::of(true);
        }
        if (!role(pattern.role).several) {
            return several(pattern, may, Truth::unknown(Reason::kDuplicateClaim), from);
        }
        if (is.size() > 1) return several(pattern, is, Truth::of(false), from);
        // Each that may be none would have to be told.
        const Truth open = Truth::unknown(Reason::kIncomplete);
        watch_.keep(from, open);
        return open;
    }
    /// More than one of them: that says it, whatever they are.
    Truth several(const PlanPattern& pattern, const std::vector<const Seen*>& claim,
                  const Truth& truth, std::size_t from) const {
        watch_.forget(from);
        if (!watch_) return truth;
        watch_->claims(pattern.role, claim.size(), "1", truth);
        for (const Seen* each : claim) watch_->object(*each, "the only one", truth);
        return truth;
    }

    /// The least worth one of two or more; what is not known of one is a bad mark. Of those that
    /// fit facts are told from `from` on.
    One least_of(const PlanPattern& pattern, const std::vector<const Seen*>& fit,
                 const Found& bound, std::size_t from) const {
        const Seen* least = fit.front();
        std::size_t sure = 0;
        Truth two = Truth::of(true);
        const std::size_t asked = watch_.mark();
        for (const Seen* each : fit) {
            if (better(pattern, *least, *each, bound)) least = each;
            const Truth truth = wanted(pattern, *each, bound);
            if (truth.yes()) ++sure;
            if (two.yes()) two = truth;
        }
        watch_.forget(asked);
        // Where the others may be none at all, it may be the only one.
        if (sure > 1) two = Truth::of(true);
        if (two.yes()) {
            watch_.forget(from);
        } else {
            watch_.keep(from, two);
        }
        const bool ranked = std::all_of(
            pattern.keep.begin(), pattern.keep.end(),
            [&](const PlanRanking& rank) { return told(rank.condition, pattern.role, bound); });
        if (!ranked) two = Truth::unknown(Reason::kIncomplete) && two;
        two = rankable(pattern, fit) && two;
        return bind(pattern, *least, bound, from, two);
    }

    /// Is it known of each when it is of, or how much? What has no such value ranks below all, and
    /// a text that ranks as low cannot be read.
    Truth rankable(const PlanPattern& pattern, const std::vector<const Seen*>& fit) const {
        Truth all = Truth::of(true);
        for (const PlanRanking& rank : pattern.keep) {
            if (!rank.latest) continue;
            const PlanField& field = role(pattern.role).fields[*rank.latest];
            for (const Seen* each : fit) {
                const PlanValue value = value_of(role(pattern.role), *rank.latest, *each);
                const bool text = value.kind == PlanValue::Kind::kText;
                Truth one = Truth::of(true);
                if (value.kind == PlanValue::Kind::kUnsent) {
                    one = Truth::unknown(Reason::kIncomplete);
                } else if (text && order_of(field, value, PlanValue{}) == 0) {
                    one = Truth::unknown(Reason::kUnreadable);
                }
                if (one.yes()) continue;
                if (watch_) watch_->field(*each, *rank.latest, std::string(kRanked), one);
                all = all && one;
            }
        }
        return all;
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

    static constexpr std::string_view kRanked = "what they are ranked against";

    /// Is what the objects are ranked against known?
    bool told(const PlanNode& node, Role number, const Found& bound) const {
        using Kind = PlanValue::Kind;
        if (node.kind == PlanNode::Kind::kJoin) {
            const FieldAt& other = role(number).joins[node.index].other;
            if (other.role == number) return true;
            if (bound[other.role] == nullptr) {
                note(other, kRanked, bound, Truth::unknown(Reason::kIncomplete));
                return false;
            }
            const PlanRole& of = role(other.role);
            const Kind kind = value_of(of, other.field, *bound[other.role]).kind;
            const bool fine = kind == Kind::kText ||
                              (kind == Kind::kNotThere && !of.fields[other.field].required);
            if (!fine) note(other, kRanked, bound, Truth::unknown(Reason::kIncomplete));
            return fine;
        }
        return std::all_of(node.parts.begin(), node.parts.end(),
                           [&](const PlanNode& part) { return told(part, number, bound); });
    }

    // ---------------------------------------------------------------- stages

    bool asked_for() const {
        const auto& termination = on_.subject.termination;
        if (!termination) {
            note("request", "nobody asked for it", "a request");
            return false;
        }
        if (!termination->owners) return true;
        if (watch_) note("request", termination->by + " asked for it", "a request of its owner");
        return std::any_of(facts_.begin(), facts_.end(), [&](const Seen& seen) {
            if (seen.role != rule_.owner.role) return false;
            const PlanValue owner = value_of(role(seen.role), rule_.owner.field, seen);
            const bool theirs =
                owner.kind == PlanValue::Kind::kUnsent || owner.text == termination->by;
            if (watch_) {
                watch_->field(seen, rule_.owner.field, termination->by, Truth::of(theirs));
            }
            return theirs;
        });
    }

    Decision duplicates() const {
        const Facet* last = nullptr;
        watch_.at(Stage::kPattern);
        const auto roles = static_cast<Role>(on_.plan.roles.size());
        for (Role number = 0; number < roles; ++number) {
            if (role(number).several || role(number).reference) continue;
            if (!on_.facts.two.has(role(number).claims) && !watch_) continue;
            if (const Facet* one = second_of(number)) last = one;
        }
        if (watch_ && watch_.mark() == 0) {
            note("roles", "none of which a subject has only one", "a role without several: true");
        }
        return last == nullptr ? Decision{} : reported(*last);
    }

    /// The last of two or more that claim the subject; nullptr: there is one at most.
    const Facet* second_of(Role number) const {
        if (role(number).sources.empty()) return nullptr;
        const Facet* last = nullptr;
        std::size_t count = 0;
        for (const Seen& seen : facts_) {
            if (seen.role != number || goes(seen)) continue;
            const std::size_t from = watch_.mark();
            const Truth claims = holds(role(number).live, seen, {});
            say_of(seen, from, claims, false);
            if (claims.no()) continue;
            if (++count > 1) last = seen.facet;
        }
        if (watch_) watch_->claims(number, count, "2 or more", Truth::of(count > 1));
        return last;
    }

    Decision judge(const PlanCase& found) const {
        if (rule_.on_request()) return answer(found, judge_alone(found));
        return judge_alone(found);
    }

    Decision judge_alone(const PlanCase& found) const {
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
        if (found.steps.front().verb == Verb::kReport) return report(*about->facet);
        watch_.at(Stage::kVeto);
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

    Decision reported(const Facet& about) const {
        watch_.at(Stage::kSteps);
        note("step", "report", "a step that does something");
        return waiting(Reason::kReportOnly, about);
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
        return reported(about);
    }

    /// Is what was bound theirs who asked for it?
    Truth owned(const Found& bound) const {
        const auto& termination = on_.subject.termination;
        if (!rule_.on_request() || !termination || !termination->owners) return Truth::of(true);
        const Seen* object = bound[rule_.owner.role];
        const PlanValue owner = object == nullptr
                                    ? PlanValue{PlanValue::Kind::kUnsent, {}}
                                    : value_of(role(object->role), rule_.owner.field, *object);
        const Truth truth = owner.kind == PlanValue::Kind::kUnsent
                                ? Truth::unknown(Reason::kIncomplete)
                                : Truth::of(owner.text == termination->by);
        watch_.at(Stage::kAsked);
        note(rule_.owner, termination->by, bound, truth);
        return truth;
    }

    /// A report leans on nobody; what lasts for less than the grace is none.
    Decision report(const Facet& about) const {
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
    Decision answer(const PlanCase& found, Decision decision) const {
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
    bool told(const PlanCase& found, const Found& bound) const {
        using Kind = PlanValue::Kind;
        const auto fine = [&](const FieldAt& field, bool may_lack) {
            const Seen* object = bound[field.role];
            const Kind kind = object == nullptr
                                  ? Kind::kUnsent
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
                           [&](const FieldAt& field) { return fine(field, true); });
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
        const Millis pause = rule_.backoff[std::min(failures, rule_.backoff.size() - 1)];
        if (failures > 0 && watch_) {
            note_time("after failure " + std::to_string(failures), on_.now - latest, pause);
        }
        return latest + pause;
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
        const std::optional<SourceTime> begins =
            time_in(role(object.role).fields[past.from.field], from.text);
        const std::optional<Millis> lasts = field == nullptr
                                                ? std::optional(std::get<Millis>(past.length))
                                                : parse_duration(length.text);
        if (watch_) note_deadline(past, bound, readable(from, begins.has_value()), length, lasts);
        if (from.kind == Kind::kUnsent || length.kind == Kind::kUnsent) {
            return abstain(Reason::kIncomplete);
        }
        if (from.kind != Kind::kText || length.kind != Kind::kText) return Decision{};
        if (!begins || !lasts) return waiting(Reason::kUnreadable, *object.facet);
        if (*lasts <= Millis{0}) return Decision{};
        const auto early = not_due(on_.subject, on_.references, on_.settings, object.facet->source,
                                   *begins + *lasts);
        if (watch_) note_clock(early, object.facet->source, *begins + *lasts);
        return early ? std::optional(as_said(*early, *object.facet)) : std::nullopt;
    }

    void note_deadline(const PlanDeadline& past, const Found& bound, const Truth& begins,
                       const PlanValue& length, const std::optional<Millis>& lasts) const {
        watch_.at(Stage::kDeadline);
        note(past.from, "the time that the deadline counts from", bound, begins);
        const auto* field = std::get_if<FieldAt>(&past.length);
        if (field == nullptr) return;
        const bool never = lasts && *lasts <= Millis{0};
        note(*field, "how long it lasts", bound,
             never ? Truth::of(false) : readable(length, lasts.has_value()));
    }

    /// Is there a value, and can it be read?
    static Truth readable(const PlanValue& value, bool read) {
        if (value.kind == PlanValue::Kind::kUnsent) return Truth::unknown(Reason::kIncomplete);
        if (value.kind != PlanValue::Kind::kText) return Truth::of(false);
        return read ? Truth::of(true) : Truth::unknown(Reason::kUnreadable);
    }

    void note_clock(const std::optional<Verdict>& early, SourceId source,
                    SourceTime deadline) const {
        const bool told =
            !early || early->kind == Verdict::Kind::kHealthy || early->reason == Reason::kClockSkew;
        if (told) return watch_->clock(source, deadline, !early);
        watch_.forget(0);
        watch_->source(early->reason, early->wait);
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
            if (watch_) note_done(step);
        }
        return std::nullopt;
    }

    /// Why nothing is left for a step that takes away.
    void note_done(const PlanStep& step) const {
        bool any = false;
        for (const Seen& seen : facts_) {
            if (seen.role != step.role) continue;
            any = true;
            if (goes(seen)) watch_->built_in(*seen.facet, "deleting", "false", false);
            if (!ours(seen)) watch_->built_in(*seen.facet, "in_scope", "true", false);
        }
        if (!any) watch_->nobody(step.role, role(step.role).sources, {}, Truth::of(false));
    }

    bool vetoes(const Facet& object) const {
        const bool vetoed = core::vetoed(object);
        if (vetoed && watch_) watch_->built_in(object, "hold", "no hold on it", false);
        return vetoed;
    }

    /// On what is bound, or on what a `none` looked past; references excepted.
    bool vetoed_in(const PlanCase& found, const Found& bound) const {
        for (const Seen* object : bound) {
            if (object != nullptr && !role(object->role).reference && vetoes(*object->facet)) {
                return true;
            }
        }
        return std::any_of(
            found.patterns.begin(), found.patterns.end(), [&](const PlanPattern& pattern) {
                if (pattern.quantifier != Quantifier::kNone) return false;
                return std::any_of(facts_.begin(), facts_.end(), [&](const Seen& seen) {
                    return seen.role == pattern.role && vetoes(*seen.facet);
                });
            });
    }

    /// When anything but this object was heard of last.
    static BrokerTime last_word_beside(const Facet& object, const Found& bound) {
        BrokerTime last_word{};
        for (const Seen* each : bound) {
            if (each != nullptr && each->facet != &object) {
                last_word = std::max(last_word, each->facet->evidence);
            }
        }
        return last_word;
    }

    /// The sources that must have been heard: its own side first.
    std::vector<Leaning> leanings_of(const PlanCase& found, std::size_t step, const Found& bound,
                                     const Facet& object) const {
        std::vector<Leaning> leanings;
        const auto lean_on = [&](const Leaning& leaning) {
            const bool known =
                std::any_of(leanings.begin(), leanings.end(),
                            [&](const Leaning& each) { return each.source == leaning.source; });
            if (!known) leanings.push_back(leaning);
        };
        lean_on({object.source, last_word_beside(object, bound)});
        const BrokerTime since = rule_.since_first_seen ? object.first_seen : object.evidence;
        const Millis window = on_.settings.rules[on_.self.value()].create_window;
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
        return leanings;
    }

    /// Own write, grace, and who was not heard.
    std::optional<Decision> not_yet_by(const PlanCase& found, std::size_t step, const Found& bound,
                                       const Seen& about) const {
        const Facet& object = *about.facet;
        const std::vector<Leaning> leanings = leanings_of(found, step, bound, object);
        const auto held =
            not_yet(on_.subject, on_.references, on_.settings, on_.self, on_.now, object, leanings);
        if (watch_) {
            const JournalTime first =
                first_detected(on_.subject, on_.self, object.object_id, on_.now);
            watch_->not_yet(held, leanings, on_.now - first);
        }
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
        if (ours && next.verb == Verb::kUpdate) {
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
    const Watch watch_;
    mutable std::vector<std::unique_ptr<Seen>> kept_;
};

}  // namespace

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
