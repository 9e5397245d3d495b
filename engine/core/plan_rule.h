// A rule of a plan (core/plan.h): its cases, each with the patterns that match it, and the steps
// that it takes then.
//
// Plain values; const access is thread-safe.
#pragma once

#include "engine/base/id.h"
#include "engine/core/plan_role.h"
#include "engine/model/rule.h"
#include "engine/model/subject.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace trueup::core {

struct PlanRanking {
    PlanNode condition;
    std::optional<std::uint16_t> latest;
    bool operator==(const PlanRanking&) const = default;
};

struct PlanPattern {
    Role role = kNoRole;
    policy::Quantifier quantifier = policy::Quantifier::kOne;
    PlanNode condition;
    std::vector<PlanRanking> keep;
    FieldAt named;
    std::string named_literal;
    FieldAt in;
    std::size_t bit = 0;  ///< of its condition
    bool by_bit = false;  ///< which says it all, where it is known
    bool operator==(const PlanPattern&) const = default;
};

struct PlanPiece {
    /// How a value is put in: as it is, between the quotes of JSON, or as its number or boolean.
    enum class Spelling : std::uint8_t { kPlain, kQuoted, kBare };
    policy::Piece::Kind kind = policy::Piece::Kind::kLiteral;
    std::string literal;
    FieldAt field;
    Spelling spelling = Spelling::kPlain;
    bool operator==(const PlanPiece&) const = default;
};
using PlanText = std::vector<PlanPiece>;

struct PlanAssigned {
    std::string field;
    std::optional<PlanText> value;  ///< nullopt: null
    bool boolean = false;           ///< of a row: written as PostgreSQL says it
    std::string place;              ///< of an object: the path at which it stands
    bool bare = false;              ///< of an object: a number or a boolean; of a new one JSON
    /// The time of issue: every command writes another one.
    bool now() const {
        return value && value->size() == 1 && value->front().kind == policy::Piece::Kind::kNow;
    }
    bool operator==(const PlanAssigned&) const = default;
};

struct PlanStep {
    policy::Verb verb = policy::Verb::kReport;
    Role role = kNoRole;
    PlanText name;
    std::vector<PlanAssigned> sets;
    bool of_status = false;  ///< by the subresource
    bool whole = false;      ///< of kCreate: `sets` are all that the object says, as JSON
    std::optional<std::uint32_t> grace_period;
    std::string propagation;  ///< empty: `background`
    policy::Way way() const {
        if (verb == policy::Verb::kCreate && !whole) return policy::Way::kBuilt;
        return of_status ? policy::Way::kStatus : policy::Way::kUsual;
    }
    /// Does it set fields of an object of Kubernetes?
    bool patches() const {
        return policy::sets(verb) && !sets.empty() && !sets.front().place.empty();
    }
    /// Does it do to one thing, or for it, what another one, a row, may not want?
    bool weighs() const {
        return policy::takes_away(verb) || patches() ||
               (policy::makes(verb) && way() != policy::Way::kBuilt);
    }
    bool operator==(const PlanStep&) const = default;
};

struct PlanDeadline {
    FieldAt from;
    std::variant<Millis, FieldAt> length;
    bool operator==(const PlanDeadline&) const = default;
};

/// What has to be so of an object's bits for a rule to be anything but healthy.
struct Mask {
    Bits may;    ///< of each of these some object is not known to be other
    Bits never;  ///< of none of these any object is known to be so
    Bits pairs;  ///< of one of these two objects are not known to be other
    bool asks_pairs = false;
    bool operator==(const Mask&) const = default;
};

/// That of one of the rule's cases.
struct RuleMask {
    RuleNumber rule;
    Mask mask;
    bool operator==(const RuleMask&) const = default;
};

struct PlanCase {
    bool duplicates = false;
    std::vector<PlanPattern> patterns;  ///< as they are bound: none last
    std::vector<Role> roles;            ///< that `when` names, in its order
    Mask mask;
    std::optional<PlanDeadline> past;
    std::vector<TallyId> asks;
    std::vector<PlanStep> steps;
    /// By role: the fields that patterns, claims, deadline, texts and key mention, and those that
    /// cases before it ask for; ascending. What a command rests on is derived from it
    /// (core/draft.h).
    std::vector<std::vector<std::uint16_t>> mentions;
    /// Looked up on the way by named conditions: references, and who names them.
    std::vector<PlanPattern> looked_up;
    /// What the cases before it ask for and look up. They found nothing, and an executor must see
    /// what they saw.
    std::vector<PlanPattern> before;
    std::vector<FieldAt> texts;  ///< what the steps' texts are made of: nothing is no text
    std::vector<FieldAt> reads;  ///< what else they are made from
    bool by_ledger = false;      ///< it rests on how the subject's objects ended

    /// Does it begin by taking something away, with more to follow? Then it is carried to its end
    /// (core/ending.h).
    bool ends() const { return steps.size() > 1 && policy::takes_away(steps.front().verb); }
    bool operator==(const PlanCase&) const = default;
};

struct PlanRule {
    std::string name;
    std::string finds;
    std::string does;         ///< as a person says it: `delete pods`; empty: it only reports
    Hash128 text;             ///< what it means (rule_text.h); none: it left the policy
    std::vector<Role> roles;  ///< that it mentions, ascending
    std::vector<PlanCase> cases;
    bool since_first_seen = false;
    bool keyless = false;  ///< judges objects without a key, too
    std::vector<Millis> backoff;
    /// It may come to the same again and again within a day, and asks nobody.
    bool may_recur = false;
    std::string requested;  ///< the name of the request that it waits for; empty: for none
    FieldAt owner;          ///< of who may make that request; kNoRole: it waits for none
    /// The list of its case that ends something, in order; empty: it has none.
    std::vector<PlanStep> ending;
    Hash128 ending_hash;
    /// Why no engine of this build can carry it out, so that it must be off; empty: it can.
    std::string unable;

    bool on_request() const { return owner.role != kNoRole; }
    /// Is it this one that somebody asked for?
    bool asked_by(const Boxed<StandingRequest>& request) const {
        return request && on_request() && request->name == requested;
    }
    bool operator==(const PlanRule&) const = default;
};

}  // namespace trueup::core
