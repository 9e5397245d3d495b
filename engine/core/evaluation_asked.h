// What is asked of one object, and what a witness is told of it (core/evaluation.h). Not for other
// users.
//
// What is asked of every object is here, so that it needs no call.
#pragma once

#include "engine/core/evaluation.h"
#include "engine/core/truth.h"
#include "engine/core/words.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace trueup::core {

inline void Evaluation::note(std::string_view name, std::string_view value,
                             std::string_view asked) const {
    if (watch_) watch_->kept(name, std::string(value), std::string(asked), false);
}
inline void Evaluation::note(const FieldAt& field, std::string_view asked, const Found& bound,
                             const Truth& truth) const {
    if (!watch_) return;
    const Seen* object = bound[field.role];
    if (object == nullptr) return watch_->unbound(field, std::string(asked));
    watch_->field(*object, field.field, std::string(asked), truth);
}
inline void Evaluation::note_time(std::string_view name, Millis lasted, Millis of) const {
    if (watch_) watch_->time(name, words_of(lasted), words_of(of), of - lasted);
}
/// What was found of one object of a pattern; of one that nothing is asked of, that it is
/// there.
inline void Evaluation::say_of(const Seen& object, std::size_t from, const Truth& truth,
                               bool unwanted) const {
    if (!watch_) return;
    watch_.say(from, truth);
    if (watch_.mark() > from && !(unwanted && !truth.yes())) return;
    watch_->object(object, unwanted ? "none" : "there", truth);
}
inline void Evaluation::begin(const PlanCase& each) const {
    if (!watch_) return;
    const bool several = rule_.cases.size() > 1;
    watch_->begin_case(several ? static_cast<std::size_t>(&each - rule_.cases.data()) + 1 : 0);
}
inline Decision Evaluation::ended(Decision decision) const {
    if (watch_) watch_->end(decision);
    return decision;
}

/// What is bound, of the roles that there are.
inline std::span<const Seen* const> Evaluation::of_roles(const Found& bound) const {
    return std::span(bound).first(on_.plan.roles.size());
}
inline bool Evaluation::goes(const Seen& object) const {
    return role(object.role).kubernetes() && object.answers->deleting;
}
inline bool Evaluation::ours(const Seen& object) const {
    return !role(object.role).kubernetes() || !object.answers->out_of_scope;
}
inline bool Evaluation::shows(Role number) const {
    return std::any_of(facts_.begin(), facts_.end(),
                       [&](const Seen& seen) { return seen.role == number; });
}

inline Truth Evaluation::holds(const PlanNode& node, const Seen& object, const Found& bound) const {
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

inline Truth Evaluation::test(const PlanNode& asked, const Seen& object) const {
    const PlanRole& of = role(object.role);
    const PlanTest& test = of.tests[asked.index];
    // What its key is made of does not say which one it is, whatever it says.
    const bool keyless = on_.subject.reference() && !of.reference && of.fields[test.field].in_key;
    if (keyless) return Truth::of(!asked.negated);
    const Truth truth = object.test(asked.index);
    if (watch_) watch_->test(object, test, asked.negated, truth);
    return truth;
}

inline Truth Evaluation::join(const PlanNode& asked, const Seen& object, const Found& bound) const {
    const PlanJoin& join = role(object.role).joins[asked.index];
    const Seen* other = join.other.role == object.role ? &object : bound[join.other.role];
    const Truth truth = other == nullptr ? Truth::unknown(Reason::kIncomplete)
                                         : compared(on_.plan, join, object, *other);
    if (watch_) watch_->join(object, join, asked.negated, other, truth);
    return truth;
}

inline Truth Evaluation::named(const PlanCondition& condition, const Seen& about) const {
    Found bound{};
    bound[condition.about] = &about;
    const auto fits = [&](const PlanPattern& pattern) {
        return pattern.role == condition.about ? holds(pattern.condition, about, bound)
                                               : alone(pattern, bound);
    };
    return truth_of(condition, fits, watch_);
}

inline Truth Evaluation::wanted(const PlanPattern& pattern, const Seen& object,
                                const Found& bound) const {
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

}  // namespace trueup::core
