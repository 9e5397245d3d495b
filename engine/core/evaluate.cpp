#include "engine/core/evaluate.h"

#include "engine/base/guard.h"
#include "engine/core/draft.h"
#include "engine/core/row_time.h"
#include "engine/core/sides.h"
#include "engine/core/witness.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

namespace trueup::core {

namespace {

using policy::Op;
using policy::Quantifier;
using policy::Verb;

using Found = std::array<const Seen*, kMostRoles>;  ///< by role

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
        : on_(on), rule_(on.rule()), facts_(on.facts.seen), witness_(witness) {}

    Decision run() {
        if (witness_ != nullptr) witness_->at(Stage::kAsked);
        if (on_.subject.ending && TRUEUP_GUARD("ending_stands_alone")) {
            note("ending", "another rule is ending the subject", "no ending");
            return ended(abstain(Reason::kEnding));
        }
        if (on_.subject.reference() && !rule_.keyless) {
            note("key", "it cannot be told", "a rule with keyless: report");
            return ended({});
        }
        if (rule_.owner.role != kNoRole && !asked_for()) return ended({});
        for (const PlanCase& each : rule_.cases) {
            // Of an object without a key only its own role is asked. Who looks is shown which
            // pattern is false, beside that one is.
            const bool fits = on_.subject.reference() || on_.facts.fit(each.mask);
            if (!fits && witness_ == nullptr) continue;
            begin(each);
            Decision decision = ended(each.duplicates ? duplicates() : judge(each));
            if (decision.kind != Verdict::Kind::kHealthy || decision.wait != Wait{}) {
                return decision;
            }
        }
        return {};
    }

  private:
    struct Objects {
        std::vector<Seen> looked_up;  ///< of a reference
        std::vector<const Seen*> all;
        std::vector<SourceId> sources;  ///< that must prove what is said of them
        std::string_view named;         ///< what a reference was looked up by
        bool known = true;
    };

    // ---------------------------------------------------------------- what a witness is told

    std::size_t mark() const { return witness_ == nullptr ? 0 : witness_->mark(); }
    void say(std::size_t from, const Truth& truth) const {
        if (witness_ != nullptr) witness_->say(from, truth);
    }
    void keep(std::size_t from, const Truth& whole) const {
        if (witness_ != nullptr) witness_->keep(from, whole);
    }
    void forget(std::size_t from) const {
        if (witness_ != nullptr) witness_->forget(from);
    }
    void at(Stage stage) const {
        if (witness_ != nullptr) witness_->at(stage);
    }
    void note(std::string_view name, std::string_view value, std::string_view asked) const {
        if (witness_ != nullptr) {
            witness_->kept(name, std::string(value), std::string(asked), false);
        }
    }
    void note(const FieldAt& field, std::string_view asked, const Found& bound,
              const Truth& truth) const {
        const Seen* object = bound[field.role];
        if (witness_ == nullptr || object == nullptr) return;
        witness_->field(*object, field.field, std::string(asked), truth);
    }
    void nobody(Role number, const Objects& objects, const Truth& truth) const {
        if (witness_ == nullptr) return;
        witness_->nobody(number, objects.sources, objects.named, truth);
    }
    /// What was found of one object of a pattern; of one that nothing is asked of, that it is
    /// there.
    void say_of(const Seen& object, std::size_t from, const Truth& truth, bool unwanted) const {
        if (witness_ == nullptr) return;
        say(from, truth);
        if (mark() > from && !(unwanted && !truth.yes())) return;
        witness_->object(object, unwanted ? "none" : "there", truth);
    }
    void begin(const PlanCase& each) const {
        if (witness_ == nullptr) return;
        const bool several = rule_.cases.size() > 1;
        witness_->begin_case(several ? static_cast<std::size_t>(&each - rule_.cases.data()) + 1
                                     : 0);
    }
    Decision ended(Decision decision) const {
        if (witness_ != nullptr) witness_->end(decision);
        return decision;
    }

    const PlanRole& role(Role number) const { return on_.plan.roles[number]; }

    bool goes(const Seen& object) const {
        return role(object.role).kubernetes() && deleting(*object.facet);
    }
    bool ours(const Seen& object) const { return core::ours(role(object.role), *object.facet); }

    // ---------------------------------------------------------------- conditions

    Truth holds(const PlanNode& node, const Seen& object, const Found& bound) const {
        switch (node.kind) {
            case PlanNode::Kind::kAll:
            case PlanNode::Kind::kAny: {
                const bool all = node.kind == PlanNode::Kind::kAll;
                const std::size_t from = mark();
                Truth sum = Truth::of(all);
                for (const PlanNode& part : node.parts) {
                    const std::size_t own = mark();
                    const Truth one = holds(part, object, bound);
                    say(own, one);
                    sum = all ? sum && one : sum || one;
                }
                keep(from, sum);
                return sum;
            }
            case PlanNode::Kind::kTest: {
                const PlanRole& of = role(object.role);
                // What its key is made of does not say which one it is, whatever it says.
                const bool keyless = on_.subject.reference() && !of.reference &&
                                     of.fields[of.tests[node.index].field].in_key;
                if (keyless) return Truth::of(true);
                const Truth said = object.test(node.index);
                const Truth truth = node.negated ? said.negated() : said;
                if (witness_ != nullptr) {
                    witness_->test(object, of.tests[node.index], node.negated, truth);
                }
                return truth;
            }
            case PlanNode::Kind::kJoin: {
                const PlanJoin& asked = role(object.role).joins[node.index];
                const Truth said = join(asked, object, bound);
                const Truth truth = node.negated ? said.negated() : said;
                if (witness_ != nullptr) {
                    const Seen* other =
                        asked.other.role == object.role ? &object : bound[asked.other.role];
                    witness_->join(object, asked, node.negated, other, truth);
                }
                return truth;
            }
            case PlanNode::Kind::kNamed:
                break;
        }
        const std::size_t from = mark();
        const Truth said = named(on_.plan.conditions[node.index], object);
        const Truth truth = node.negated ? said.negated() : said;
        say(from, truth);
        return truth;
    }

    Truth join(const PlanJoin& join, const Seen& object, const Found& bound) const {
        const Seen* other = join.other.role == object.role ? &object : bound[join.other.role];
        if (other == nullptr) return Truth::unknown(Reason::kIncomplete);
        const PlanRole& own_role = role(object.role);
        const PlanField& field = own_role.fields[join.field];
        const PlanValue own = value_of(own_role, join.field, object);
        const PlanValue against = value_of(role(other->role), join.other.field, *other);
        using Kind = PlanValue::Kind;
        if (own.kind == Kind::kUnsent || against.kind == Kind::kUnsent ||
            (own.kind == Kind::kNull && !field.null_unequal) || against.kind == Kind::kNull ||
            (own.kind == Kind::kNotThere && field.required) ||
            (against.kind == Kind::kNotThere &&
             role(other->role).fields[join.other.field].required)) {
            return Truth::unknown(Reason::kIncomplete);
        }
        if (join.op == Op::kSame) return Truth::of(own == against);
        return in_time(join.op, field.type, own, against);
    }

    static Truth in_time(Op op, policy::Field::Type type, const PlanValue& own,
                         const PlanValue& against) {
        if (own.kind != PlanValue::Kind::kText || against.kind != PlanValue::Kind::kText) {
            return Truth::of(false);
        }
        if (type == policy::Field::Type::kTimestamp) {
            const auto left = parse_timestamp(own.text);
            const auto right = parse_timestamp(against.text);
            if (!left || !right) return Truth::unknown(Reason::kUnreadable);
            return Truth::of(op == Op::kBefore ? *left < *right : *left > *right);
        }
        const auto left = number_in(own.text);
        const auto right = number_in(against.text);
        if (!left || !right) return Truth::unknown(Reason::kUnreadable);
        return Truth::of(op == Op::kBefore ? *left < *right : *left > *right);
    }

    /// The first line that fits decides; one that may fit ends it as unknown.
    Truth named(const PlanCondition& condition, const Seen& about) const {
        using Then = policy::NamedCondition::Line::Then;
        const std::size_t first = mark();
        for (const PlanCondition::Line& line : condition.lines) {
            Truth fits = Truth::of(true);
            Found bound{};
            bound[condition.about] = &about;
            const std::size_t from = mark();
            for (const PlanPattern& pattern : line.when) {
                const std::size_t own = mark();
                const Truth one = pattern.role == condition.about
                                      ? holds(pattern.condition, about, bound)
                                      : alone(pattern, bound);
                say(own, one);
                fits = fits && one;
            }
            keep(from, fits);
            if (fits.no()) continue;
            const bool unknown = fits.is == Truth::Is::kUnknown;
            // Then the lines before it decide nothing.
            if (unknown || line.then == Then::kUnknown) keep(first, fits);
            if (unknown) return fits;
            if (line.then == Then::kUnknown) return Truth::unknown(Reason::kTransition);
            return Truth::of(line.then == Then::kTrue);
        }
        return Truth::of(false);
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
            found.known = false;
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
        if (by == nullptr) return std::nullopt;
        const PlanValue name = value_of(role(by->role), pattern.named.field, *by);
        const bool told = name.kind != PlanValue::Kind::kUnsent;
        if (!told) {
            note(pattern.named, "a name to look up", bound, Truth::unknown(Reason::kIncomplete));
            return std::nullopt;
        }
        if (witness_ != nullptr) {
            witness_->beside(*by, pattern.named.field, "the name that is looked up");
        }
        return name.text;
    }

    /// `in: F`: that of its scope; a scope that nobody looks at proves nothing.
    std::vector<SourceId> sources_of(const PlanPattern& pattern, const Found& bound) const {
        const std::vector<SourceId>& all = role(pattern.role).sources;
        if (pattern.in.role == kNoRole) return all;
        const Seen* by = bound[pattern.in.role];
        if (by == nullptr) return {};
        const PlanValue scope = value_of(role(by->role), pattern.in.field, *by);
        std::vector<SourceId> some;
        for (const SourceId source : all) {
            if (on_.settings.sources[source].scope == scope.text) some.push_back(source);
        }
        return some;
    }

    /// `in: F`: does anybody look at that scope?
    Truth watched(const PlanPattern& pattern, const Found& bound) const {
        if (pattern.in.role == kNoRole) return Truth::of(true);
        const Seen* by = bound[pattern.in.role];
        if (by == nullptr) return Truth::unknown(Reason::kIncomplete);
        const PlanValue scope = value_of(role(by->role), pattern.in.field, *by);
        const Truth truth = scope.kind != PlanValue::Kind::kText
                                ? Truth::unknown(Reason::kIncomplete)
                                : Truth::of(!sources_of(pattern, bound).empty());
        note(pattern.in, "a scope that a source looks at", bound, truth);
        return truth;
    }

    Truth wanted(const PlanPattern& pattern, const Seen& object, const Found& bound) const {
        const std::size_t from = mark();
        const Truth fits = holds(pattern.condition, object, bound);
        if (pattern.quantifier == Quantifier::kNone || ours(object)) return fits;
        if (witness_ != nullptr) {
            forget(from);
            witness_->built_in(*object.facet, "in_scope", "true", false);
        }
        return Truth::of(false);
    }

    Truth none(const PlanPattern& pattern, const Found& bound) const {
        const Objects objects = objects_of(pattern, bound);
        if (objects.all.empty()) {
            const Truth truth =
                objects.known ? Truth::of(true) : Truth::unknown(Reason::kNotSynced);
            nobody(pattern.role, objects, truth);
            return truth;
        }
        const std::size_t from = mark();
        Truth sum = Truth::of(true);
        for (const Seen* each : objects.all) {
            const std::size_t own = mark();
            const Truth one = wanted(pattern, *each, bound).negated();
            say_of(*each, own, one, true);
            sum = sum && one;
        }
        keep(from, sum);
        return sum;
    }

    /// A pattern of a named condition: what it binds is asked for by nobody else.
    Truth alone(const PlanPattern& pattern, const Found& bound) const {
        if (pattern.quantifier == Quantifier::kNone) return none(pattern, bound);
        const Objects objects = objects_of(pattern, bound);
        if (objects.all.empty()) {
            const Truth truth =
                objects.known ? Truth::of(false) : Truth::unknown(Reason::kNotSynced);
            nobody(pattern.role, objects, truth);
            return truth;
        }
        std::vector<const Seen*> fit;
        const std::size_t from = mark();
        Truth sum = Truth::of(false);
        for (const Seen* each : objects.all) {
            const std::size_t own = mark();
            const Truth truth = wanted(pattern, *each, bound);
            say_of(*each, own, truth, false);
            if (!truth.no()) fit.push_back(each);
            sum = sum || truth;
        }
        keep(from, sum);
        const bool two = pattern.quantifier == Quantifier::kOne && !fit.empty() &&
                         claims(pattern.role, objects.all, fit) > 1;
        if (!two) return sum;
        return role(pattern.role).several ? Truth::of(false)
                                          : Truth::unknown(Reason::kDuplicateClaim);
    }

    struct Match {
        Truth truth = Truth::of(true);
        Found bound;
    };

    /// The patterns from `index` on, under what is bound before.
    Match match(const PlanCase& found, std::size_t index, Found bound) const {
        if (index == found.patterns.size()) return {Truth::of(true), bound};
        const PlanPattern& pattern = found.patterns[index];
        const bool elsewhere = on_.subject.reference() && !shows(pattern.role);
        if (elsewhere) return match(found, index + 1, bound);  // only its own is asked
        const Truth seen = watched(pattern, bound);
        if (pattern.quantifier == Quantifier::kNone) {
            const Truth nobody = seen && none(pattern, bound);
            return also(nobody, found, index, bound);
        }
        if (!seen.yes()) return also(seen, found, index, bound);
        const Objects objects = objects_of(pattern, bound);
        std::vector<const Seen*> fit;
        const std::size_t from = mark();
        for (const Seen* each : objects.all) {
            const std::size_t own = mark();
            const Truth truth = wanted(pattern, *each, bound);
            say_of(*each, own, truth, false);
            if (!truth.no()) fit.push_back(each);
        }
        if (pattern.quantifier == Quantifier::kSurplus) {
            return surplus(found, index, fit, bound, from);
        }
        if (fit.empty()) {
            const bool proven = !objects.all.empty() || objects.known;
            const Truth none = proven ? Truth::of(false) : Truth::unknown(Reason::kNotSynced);
            if (objects.all.empty()) nobody(pattern.role, objects, none);
            return also(none, found, index, bound);
        }
        forget(from);  // of those that fit it is told as they are bound
        if (pattern.quantifier == Quantifier::kSome) return some(found, index, fit, bound);
        if (claims(pattern.role, objects.all, fit) > 1) {
            bound[pattern.role] = kept(fit.front());
            const Truth two = role(pattern.role).several ? Truth::of(false)
                                                         : Truth::unknown(Reason::kDuplicateClaim);
            return also(two, found, index, bound);
        }
        return bind(found, index, *fit.front(), bound);
    }

    bool shows(Role number) const {
        return std::any_of(facts_.begin(), facts_.end(),
                           [&](const Seen& seen) { return seen.role == number; });
    }

    /// What is looked up lives as long as this judgement.
    const Seen* kept(const Seen* seen) const {
        const bool own = std::any_of(facts_.begin(), facts_.end(),
                                     [&](const Seen& each) { return &each == seen; });
        if (own) return seen;
        kept_.push_back(std::make_unique<Seen>(*seen));
        return kept_.back().get();
    }

    Match also(const Truth& truth, const PlanCase& found, std::size_t index, Found bound) const {
        if (witness_ != nullptr) witness_->pattern(found.patterns[index], truth);
        if (truth.no()) return {truth, bound};
        Match rest = match(found, index + 1, bound);
        if (!rest.truth.no()) rest.truth = first_told(truth, rest.truth);
        return rest;
    }

    Match bind(const PlanCase& found, std::size_t index, const Seen& object, Found bound) const {
        const PlanPattern& pattern = found.patterns[index];
        const std::size_t from = mark();
        const Truth truth = wanted(pattern, object, bound);
        say_of(object, from, truth, false);
        bound[pattern.role] = kept(&object);
        return also(truth, found, index, bound);
    }

    /// The first by id for which the rest is not false.
    Match some(const PlanCase& found, std::size_t index, const std::vector<const Seen*>& fit,
               const Found& bound) const {
        const std::size_t before = witness_ == nullptr ? 0 : witness_->patterns();
        for (const Seen* each : fit) {
            const std::size_t tried = witness_ == nullptr ? 0 : witness_->patterns();
            Match match = bind(found, index, *each, bound);
            if (match.truth.no()) continue;
            if (witness_ != nullptr) witness_->forget_patterns(before, tried);
            return match;
        }
        return {Truth::of(false), bound};
    }

    /// All that claim the subject, or match.
    std::size_t claims(Role number, const std::vector<const Seen*>& all,
                       const std::vector<const Seen*>& fit) const {
        std::set<const Seen*> found(fit.begin(), fit.end());
        const Found alone{};
        const std::size_t from = mark();
        for (const Seen* each : all) {
            if (!holds(role(number).live, *each, alone).no()) found.insert(each);
        }
        forget(from);
        if (witness_ != nullptr && found.size() > 1) {
            const Truth truth =
                role(number).several ? Truth::of(false) : Truth::unknown(Reason::kDuplicateClaim);
            witness_->claims(number, found.size(), "1", truth);
            for (const Seen* each : all) {
                if (found.count(each) == 0) continue;
                witness_->object(*each, "the only one", truth);
            }
        }
        return found.size();
    }

    /// The least worth one of two or more; what is not known of one is a bad mark.
    Match surplus(const PlanCase& found, std::size_t index, const std::vector<const Seen*>& fit,
                  Found bound, std::size_t from) const {
        const PlanPattern& pattern = found.patterns[index];
        if (fit.size() < 2) {
            if (witness_ != nullptr) {
                witness_->claims(pattern.role, fit.size(), "2 or more", Truth::of(false));
            }
            return also(Truth::of(false), found, index, bound);
        }
        const auto better = [&](const Seen* a, const Seen* b) {
            for (const PlanRanking& rank : pattern.keep) {
                if (rank.latest) {
                    const PlanValue left = value_of(role(a->role), *rank.latest, *a);
                    const PlanValue right = value_of(role(b->role), *rank.latest, *b);
                    if (left.text != right.text) return left.text > right.text;
                    continue;
                }
                const bool left = holds(rank.condition, *a, bound).yes();
                const bool right = holds(rank.condition, *b, bound).yes();
                if (left != right) return left;
            }
            if (a->facet->first_seen != b->facet->first_seen) {
                return a->facet->first_seen > b->facet->first_seen;
            }
            return a->facet->object_id < b->facet->object_id;
        };
        const Seen* least = fit.front();
        for (const Seen* each : fit) {
            if (better(least, each)) least = each;
        }
        forget(from);
        return bind(found, index, *least, bound);
    }

    // ---------------------------------------------------------------- stages

    bool asked_for() const {
        const auto& termination = on_.subject.termination;
        if (!termination) {
            note("request", "nobody asked for it", "a request");
            return false;
        }
        if (!termination->owners) return true;
        note("request", termination->by + " asked for it", "a request of its owner");
        return std::any_of(facts_.begin(), facts_.end(), [&](const Seen& seen) {
            if (seen.role != rule_.owner.role) return false;
            const PlanValue owner = value_of(role(seen.role), rule_.owner.field, seen);
            const bool theirs =
                owner.kind == PlanValue::Kind::kUnsent || owner.text == termination->by;
            if (witness_ != nullptr) {
                witness_->field(seen, rule_.owner.field, termination->by, Truth::of(theirs));
            }
            return theirs;
        });
    }

    Decision duplicates() const {
        const Facet* last = nullptr;
        const Found alone{};
        at(Stage::kPattern);
        const auto roles = static_cast<Role>(on_.plan.roles.size());
        for (Role number = 0; number < roles; ++number) {
            if (role(number).several || role(number).reference) continue;
            if (role(number).sources.empty()) continue;
            if (!on_.facts.two.has(role(number).claims) && witness_ == nullptr) continue;
            std::size_t count = 0;
            for (const Seen& seen : facts_) {
                if (seen.role != number || goes(seen)) continue;
                const std::size_t from = mark();
                const Truth claims = holds(role(number).live, seen, alone);
                say_of(seen, from, claims, false);
                if (claims.no()) continue;
                if (++count > 1) last = seen.facet;
            }
            if (witness_ != nullptr) {
                witness_->claims(number, count, "2 or more", Truth::of(count > 1));
            }
        }
        return last == nullptr ? Decision{} : reported(*last);
    }

    Decision judge(const PlanCase& found) const {
        if (rule_.on_request()) return answer(found, judge_alone(found));
        return judge_alone(found);
    }

    Decision judge_alone(const PlanCase& found) const {
        const Match matched = match(found, 0, {});
        if (witness_ != nullptr) witness_->matched(matched.truth);
        if (matched.truth.no()) return {};
        if (!matched.truth.yes()) return abstain(matched.truth.why);
        const Found& bound = matched.bound;
        const Seen* about = object_of(found, bound);
        if (about == nullptr) {
            at(Stage::kPattern);
            note("object", "none that the rule is about", "one to be reported");
            return {};
        }
        if (on_.subject.reference()) return reported(*about->facet);
        if (const Truth theirs = owned(bound); !theirs.yes()) {
            return theirs.no() ? Decision{} : abstain(theirs.why);
        }
        at(Stage::kKnown);
        if (!told(found, bound)) return abstain(Reason::kIncomplete);
        if (found.past) {
            at(Stage::kDeadline);
            if (auto early = before(*found.past, bound)) return *early;
        }
        at(Stage::kSteps);
        const std::optional<std::size_t> step = next_step(found, bound, *about);
        if (!step) return {};
        const Facet* target = target_of(found, *step, bound);
        if (found.steps.front().verb == Verb::kReport) return report(*about->facet);
        at(Stage::kVeto);
        if (vetoed_in(found, bound) || (target != nullptr && vetoes(*target))) {
            return abstain(Reason::kVeto);
        }
        if (auto held = not_yet_by(found, *step, bound, *about)) return *held;
        at(Stage::kBackoff);
        if (const JournalTime due = next_try(); on_.now < due) {
            return waiting(Reason::kBackoff, *about->facet, {due, kNoSource, {}});
        }
        at(Stage::kCount);
        return act(found, bound, *about, *step);
    }

    Decision reported(const Facet& about) const {
        at(Stage::kSteps);
        note("step", "report", "a step that does something");
        return waiting(Reason::kReportOnly, about);
    }

    /// Is what was bound theirs who asked for it?
    Truth owned(const Found& bound) const {
        const auto& termination = on_.subject.termination;
        if (!rule_.on_request() || !termination || !termination->owners) return Truth::of(true);
        const Seen* object = bound[rule_.owner.role];
        if (object == nullptr) return Truth::unknown(Reason::kIncomplete);
        const PlanValue owner = value_of(role(object->role), rule_.owner.field, *object);
        const Truth truth = owner.kind == PlanValue::Kind::kUnsent
                                ? Truth::unknown(Reason::kIncomplete)
                                : Truth::of(owner.text == termination->by);
        at(Stage::kAsked);
        note(rule_.owner, termination->by, bound, truth);
        return truth;
    }

    /// A report leans on nobody; what lasts for less than the grace is none.
    Decision report(const Facet& about) const {
        const JournalTime due = first_detected(on_.subject, on_.self, about.object_id, on_.now) +
                                on_.settings.rules[on_.self].grace;
        if (on_.now < due) {
            at(Stage::kGrace);
            const Millis grace = on_.settings.rules[on_.self].grace;
            note_time("grace", grace - (due - on_.now), grace);
            return waiting(Reason::kGrace, about, {due, kNoSource, {}});
        }
        return reported(about);
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
        PlanCase rest = found;
        std::erase_if(rest.patterns,
                      [&](const PlanPattern& pattern) { return pattern.role == taken; });
        const Evaluation unseen(on_);
        const Match others = unseen.match(rest, 0, {});
        if (others.truth.no() || (others.truth.yes() && unseen.owned(others.bound).no()))
            return decision;
        return waiting(Reason::kNoObject, *asked->facet);
    }

    /// Is everything known that the steps are made of? Nothing is no text, but it may be read.
    bool told(const PlanCase& found, const Found& bound) const {
        using Kind = PlanValue::Kind;
        const auto told = [&](const FieldAt& field, bool may_lack) {
            const Seen* object = bound[field.role];
            const Kind kind = object == nullptr
                                  ? Kind::kUnsent
                                  : value_of(role(field.role), field.field, *object).kind;
            const bool fine = kind == Kind::kText || (may_lack && kind == Kind::kNotThere);
            if (!fine) {
                note(field, "what a step is made of", bound, Truth::unknown(Reason::kIncomplete));
            }
            return fine;
        };
        return std::all_of(found.texts.begin(), found.texts.end(),
                           [&](const FieldAt& field) { return told(field, false); }) &&
               std::all_of(found.reads.begin(), found.reads.end(),
                           [&](const FieldAt& field) { return told(field, true); });
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
        if (failures > 0)
            note_time("after failure " + std::to_string(failures), on_.now - latest, pause);
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
        const bool makes = last.verb == Verb::kCreate || last.verb == Verb::kInsert;
        if (last.role != kNoRole && bound[last.role] != nullptr && !makes && !taken(last.role)) {
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
        const std::optional<SourceTime> begins = parse_timestamp(from.text);
        const std::optional<Millis> lasts = field == nullptr
                                                ? std::optional(std::get<Millis>(past.length))
                                                : parse_duration(length.text);
        note(past.from, "the time that the deadline counts from", bound,
             readable(from, begins.has_value()));
        if (field != nullptr) {
            const bool never = lasts && *lasts <= Millis{0};
            note(*field, "how long it lasts", bound,
                 never ? Truth::of(false) : readable(length, lasts.has_value()));
        }
        if (from.kind == Kind::kUnsent || length.kind == Kind::kUnsent) {
            return abstain(Reason::kIncomplete);
        }
        if (from.kind != Kind::kText || length.kind != Kind::kText) return Decision{};
        if (!begins || !lasts) return waiting(Reason::kUnreadable, *object.facet);
        if (*lasts <= Millis{0}) return Decision{};
        const auto early = not_due(on_.subject, on_.references, on_.settings, object.facet->source,
                                   *begins + *lasts);
        if (witness_ != nullptr) note_clock(early, object.facet->source, *begins + *lasts);
        return early ? std::optional(as_said(*early, *object.facet)) : std::nullopt;
    }

    void note_time(std::string_view name, Millis lasted, Millis of) const {
        if (witness_ == nullptr) return;
        witness_->time(name, words_of(lasted), words_of(of), of - lasted);
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
        if (told) return witness_->clock(source, deadline, !early);
        forget(0);
        witness_->source(early->reason, early->wait);
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
            note_done(step);
        }
        return std::nullopt;
    }

    /// Why nothing is left for a step that takes away.
    void note_done(const PlanStep& step) const {
        if (witness_ == nullptr) return;
        bool any = false;
        for (const Seen& seen : facts_) {
            if (seen.role != step.role) continue;
            any = true;
            if (goes(seen)) witness_->built_in(*seen.facet, "deleting", "false", false);
            if (!ours(seen)) witness_->built_in(*seen.facet, "in_scope", "true", false);
        }
        if (!any) witness_->nobody(step.role, role(step.role).sources, {}, Truth::of(false));
    }

    bool vetoes(const Facet& object) const {
        const bool vetoed = core::vetoed(object);
        if (vetoed && witness_ != nullptr) {
            witness_->built_in(object, "hold", "no hold on it", false);
        }
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
        for (const PlanPattern& pattern : found.patterns) {
            const bool reference = role(pattern.role).reference;
            for (const SourceId source : sources_of(pattern, bound)) {
                lean_on(reference ? Leaning{source, BrokerTime{}, Millis{0}}
                                  : Leaning{source, since, window});
            }
        }
        // A deletion of what `when` does not name is behind us only by what its source shows.
        for (std::size_t i = 0; i <= step; ++i) {
            const PlanStep& each = found.steps[i];
            const auto& asked = found.roles;
            const bool named = std::find(asked.begin(), asked.end(), each.role) != asked.end();
            if (each.verb != Verb::kDelete || named) continue;
            for (const SourceId source : role(each.role).sources) lean_on({source, {}, Millis{0}});
        }
        // What named conditions asked on the way; a fact that is looked up changes slowly, and its
        // source must only be there.
        for (const PlanPattern& pattern : found.looked_up) {
            const bool reference = role(pattern.role).reference;
            for (const SourceId source : role(pattern.role).sources) {
                lean_on(reference ? Leaning{source, BrokerTime{}, Millis{0}}
                                  : Leaning{source, since, window});
            }
        }
        if (found.by_ledger) {
            for (const SourceId source : role(on_.plan.ledger->objects).sources) {
                lean_on({source, since, window});
            }
        }
        const auto held =
            not_yet(on_.subject, on_.references, on_.settings, on_.self, on_.now, object, leanings);
        if (witness_ != nullptr) {
            const JournalTime first =
                first_detected(on_.subject, on_.self, object.object_id, on_.now);
            witness_->not_yet(held, leanings, on_.now - first);
        }
        return held ? std::optional(as_said(*held, object)) : std::nullopt;
    }

    /// nullptr: it makes something new.
    const Facet* target_of(const PlanCase& found, std::size_t step, const Found& bound) const {
        const PlanStep& next = found.steps[step];
        if (next.role == kNoRole) return nullptr;
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
            if (witness_ != nullptr) witness_->tally(count, none);
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
    Witness* const witness_;
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
