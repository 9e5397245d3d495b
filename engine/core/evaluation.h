// The inside of one evaluation (core/evaluate.h), split by subject over several source files. Not
// for other users.
//
// What is asked of every object is here, so that it needs no call.
#pragma once

#include "engine/base/few.h"
#include "engine/core/evaluate.h"
#include "engine/core/sides.h"
#include "engine/core/witness.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::core {

using Found = std::array<const Seen*, kMostRoles>;  ///< by role
using Patterns = std::span<const PlanPattern>;
// As a rule there are one or two of each.
using Objects = Few<const Seen*, 6>;
using Sources = Few<SourceId, 4>;
using Leanings = Few<Leaning, 4>;

inline Decision abstain(Reason why, Wait wait = {}) {
    Decision decision;
    decision.kind = Verdict::Kind::kAbstain;
    decision.reason = why;
    decision.wait = wait;
    return decision;
}

inline Decision waiting(Reason why, const Facet& about, Wait wait = {}) {
    Decision decision = abstain(why, wait);
    decision.kind = Verdict::Kind::kWaiting;
    decision.about = &about;
    return decision;
}

inline bool makes(policy::Verb verb) {
    return verb == policy::Verb::kCreate || verb == policy::Verb::kInsert;
}

/// What a verdict without a command says of `about`.
inline Decision as_said(const Verdict& verdict, const Facet& about) {
    Decision decision;
    decision.kind = verdict.kind;
    decision.reason = verdict.reason;
    decision.wait = verdict.wait;
    if (verdict.kind == Verdict::Kind::kWaiting) decision.about = &about;
    return decision;
}

class Evaluation {
  public:
    /// `witness` is told what is asked on the way, and changes nothing; nullptr: nobody looks.
    explicit Evaluation(const Judgement& on, Witness* witness = nullptr)
        : on_(on), rule_(on.rule()), facts_(on.facts.seen), watch_(witness) {}

    Decision run();

  private:
    struct Shown {
        std::vector<Seen> looked_up;  ///< of a reference
        Objects all;
        Sources sources;         ///< that must prove what is said of them
        std::string_view named;  ///< what a reference was looked up by
        bool known = true;
        bool asked = true;  ///< false: what to look up is not known
    };

    struct Match {
        Truth truth = Truth::of(true);
        Found bound;
    };

    /// What a pattern comes to by itself, and what it binds; nullptr: nothing.
    struct One {
        Truth truth;
        const Seen* object = nullptr;
    };

    // evaluate.cpp: a case, stage by stage
    void show(const PlanCase& each) const;
    bool asked_for() const;
    bool all_known(Role number) const;
    Decision duplicates() const;
    const Facet* second_of(Role number) const;
    Decision judge(const PlanCase& found) const;
    Decision judge_alone(const PlanCase& found) const;
    Decision reported(const Facet& about) const;
    Decision without_key(const PlanCase& found, const Found& bound, const Facet& about) const;
    Truth owned(const Found& bound) const;
    Decision report(const Facet& about) const;
    Decision answer(const PlanCase& found, Decision decision) const;
    bool told(const PlanCase& found, const Found& bound) const;
    const Seen* object_of(const PlanCase& found, const Found& bound) const;
    std::optional<Decision> before(const PlanDeadline& past, const Found& bound) const;
    void note_deadline(const PlanDeadline& past, const Found& bound, const Truth& begins,
                       const PlanValue& length, const std::optional<Millis>& lasts) const;
    void note_clock(const std::optional<Verdict>& early, SourceId source,
                    SourceTime deadline) const;

    // patterns.cpp: what a pattern comes to, and what it binds
    Shown objects_of(const PlanPattern& pattern, const Found& bound) const;
    std::optional<std::string_view> looked_up(const PlanPattern& pattern, const Found& bound) const;
    Sources sources_of(const PlanPattern& pattern, const Found& bound) const;
    std::optional<std::string_view> scope_of(const PlanPattern& pattern, const Found& bound) const;
    Truth watched(const PlanPattern& pattern, const Found& bound) const;
    Truth nobody(const PlanPattern& pattern, const Shown& objects, bool none) const;
    Truth none(const PlanPattern& pattern, const Found& bound) const;
    Truth alone(const PlanPattern& pattern, const Found& bound) const;
    std::optional<One> plainly(const PlanPattern& pattern) const;
    Truth both(std::size_t from, const Truth& a, std::size_t behind, const Truth& b) const;
    Match match(Patterns patterns, const Found& bound) const;
    Match match_first(Patterns patterns, const Found& bound) const;
    Match of_others(Patterns patterns, const Found& bound, const One& chosen, const Match& first,
                    std::size_t before) const;
    Truth doubt(const PlanPattern& pattern, const Shown& objects, const Found& bound,
                const One& chosen, const Seen& other) const;
    One one_of(const PlanPattern& pattern, const Found& bound) const;
    Objects fit_of(const PlanPattern& pattern, const Shown& objects, const Found& bound) const;
    Truth nobody_fits(const PlanPattern& pattern, const Shown& objects) const;
    const Seen* keep(const Seen* seen) const;
    Match also(const Truth& truth, Patterns patterns, const Found& bound) const;
    One bind(const PlanPattern& pattern, const Seen& object, const Found& bound, std::size_t from,
             const Truth& alone) const;
    Match some(Patterns patterns, const Found& bound) const;
    Truth single(const PlanPattern& pattern, const Objects& all, const Found& bound) const;
    Truth several(const PlanPattern& pattern, const Objects& claim, const Truth& truth,
                  std::size_t from) const;

    // surplus.cpp: which of two or more is worth least
    One least_of(const PlanPattern& pattern, const Objects& fit, const Found& bound,
                 std::size_t from) const;
    Truth surely_least(const PlanPattern& pattern, const Seen& least, const Objects& fit,
                       const Found& bound, std::size_t from) const;
    Truth below(const PlanPattern& pattern, const Seen& a, const Seen& b, const Found& bound) const;
    Truth ranked(const PlanPattern& pattern, const PlanRanking& rank, const Seen& object,
                 const Found& bound) const;
    static bool seen_before(const Seen& a, const Seen& b);
    bool better(const PlanPattern& pattern, const Seen& a, const Seen& b, const Found& bound) const;

    // steps.cpp: what is to be done now
    JournalTime next_try() const;
    Objects left(const PlanStep& step) const;
    std::optional<std::size_t> next_step(const PlanCase& found, const Found& bound,
                                         const Seen& about) const;
    void note_done(const PlanStep& step) const;
    bool vetoes(const Seen& object) const;
    bool vetoes(const Facet& object) const;
    bool crowded(const PlanStep& step, const Found& bound, const Facet* target) const;
    bool vetoed_in(const PlanCase& found, const Found& bound) const;
    Leanings leanings_of(const PlanCase& found, std::size_t step, const Found& bound,
                         const Facet& object) const;
    std::optional<Decision> not_yet_by(const PlanCase& found, std::size_t step, const Found& bound,
                                       const Seen& about) const;
    const Facet* target_of(const PlanCase& found, std::size_t step, const Found& bound) const;
    Decision act(const PlanCase& found, const Found& bound, const Seen& about,
                 std::size_t step) const;
    SourceId source_for(const PlanCase& found, const PlanStep& step, const Found& bound) const;

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
    Decision ended(Decision decision) const {
        if (watch_) watch_->end(decision);
        return decision;
    }

    // ---------------------------------------------------------------- what is asked of one object

    /// What is bound, of the roles that there are.
    std::span<const Seen* const> of_roles(const Found& bound) const {
        return std::span(bound).first(on_.plan.roles.size());
    }
    const PlanRole& role(Role number) const { return on_.plan.roles[number]; }
    bool goes(const Seen& object) const {
        return role(object.role).kubernetes() && object.answers->deleting;
    }
    bool ours(const Seen& object) const {
        return !role(object.role).kubernetes() || !object.answers->out_of_scope;
    }
    bool shows(Role number) const {
        return std::any_of(facts_.begin(), facts_.end(),
                           [&](const Seen& seen) { return seen.role == number; });
    }

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

    Truth wanted(const PlanPattern& pattern, const Seen& object, const Found& bound) const {
        if (pattern.by_bit && !watch_ && !on_.subject.reference()) {
            if (!object.answers->may.has(pattern.bit)) return Truth::of(false);
            if (object.answers->sure.has(pattern.bit)) return Truth::of(true);
        }
        const std::size_t from = watch_.mark();
        const Truth fits = holds(pattern.condition, object, bound);
        if (pattern.quantifier == policy::Quantifier::kNone || ours(object)) return fits;
        watch_.forget(from);
        if (watch_) watch_->built_in(*object.facet, "in_scope", "true", false);
        return Truth::of(false);
    }

    const Judgement& on_;
    const PlanRule& rule_;
    const std::vector<Seen>& facts_;
    const Watch watch_;
    mutable std::vector<std::unique_ptr<Seen>> kept_;
};

}  // namespace trueup::core
