// A policy's text in numbers: roles, fields, tests and rules by index, every name resolved, so that
// judging cannot fail. Derived from the settings in force at each activation, never stored.
//
// Equal settings give equal plans. Immutable; const access is thread-safe.
#pragma once

#include "engine/base/result.h"
#include "engine/core/plan_role.h"
#include "engine/core/plan_rule.h"
#include "engine/model/answers.h"
#include "engine/model/settings.h"
#include "engine/model/subject.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace trueup::core {

/// Of a policy, each.
inline constexpr std::size_t kMostRoles = 16;
inline constexpr std::size_t kMostTallies = std::tuple_size_v<Tally>;

struct PlanCondition {
    struct Line {
        std::vector<PlanPattern> when;  ///< that of its own role first, if there is one
        policy::NamedCondition::Line::Then then = policy::NamedCondition::Line::Then::kTrue;
        bool operator==(const Line&) const = default;
    };
    Role about = kNoRole;
    std::size_t depth = 1;  ///< one more than that of the deepest that it asks for
    std::vector<Line> lines;
    bool operator==(const PlanCondition&) const = default;
};

/// Of subjects for which one of `any` may be so, by what is there; or of objects that may be so.
struct PlanCount {
    std::vector<Mask> any;
    Bits keyless;  ///< live rows, of roles that `any` asks for: without a key one may be anybody's
    std::optional<std::size_t> objects;  ///< by a bit
    std::vector<std::size_t> words;      ///< a tally for each word of a field: the bit of having it
    bool one_word = false;               ///< of these an object says one at most
    TallyId first = kNoTally;
    bool operator==(const PlanCount&) const = default;
};

/// The name of those that count unknown words: `label` is the role then, `value` the field.
inline constexpr std::string_view kUnknownWords = "unknown_words";

struct PlanTally {
    std::string name;
    std::string label;  ///< of a count that has one for each word of a field: the field ...
    std::string value;  ///< ... and the word
    /// Objects that say a word that is none of this field's.
    FieldAt unlisted = {};
    std::string reason = {};  ///< what findings that wait until it is 0 say
    bool operator==(const PlanTally&) const = default;
};

struct PlanLedger {
    FieldAt of;           ///< kNoRole in `by_identity`
    Role role = kNoRole;  ///< whose
    bool by_identity = false;
    Role objects = kNoRole;
    PlanNode belongs, failed, succeeded;
    bool gone_failed = false;
    FieldAt known;  ///< kNoRole: no object's own status lists ends
    bool operator==(const PlanLedger&) const = default;
};

struct Plan {
    std::vector<PlanRole> roles;
    std::uint32_t sourced = 0;  ///< roles that some source plays: a bit for each
    std::vector<PlanCondition> conditions;
    std::vector<PlanRule> rules;  ///< by their numbers in the settings
    /// Of the cases of those that are not off, in their order: what is asked for each subject lies
    /// together.
    std::vector<RuleMask> masks;
    std::vector<PlanCount> counts;
    std::vector<std::uint16_t> of_subjects;  ///< counts; those of objects stand at their roles
    std::vector<PlanTally> tallies;          ///< by TallyId
    std::optional<PlanLedger> ledger;
    /// Tells the plans of one shard apart (Answers::plan); 0: nothing is kept of what it makes of
    /// an object.
    std::uint32_t number = 0;

    /// kEveryRule: there is none of that name.
    RuleNumber rule(std::string_view name) const;
    /// The first of that name; kNoTally: there is none.
    TallyId tally(std::string_view name) const;
    /// FindingEdge::count_reason of what waits for this count; kNoTally: for none.
    std::string_view count_reason(TallyId count) const;
    /// Of the counts for which some rule waits, each once.
    std::vector<std::string> count_reasons() const;
    bool operator==(const Plan&) const = default;
};

/// kStop: the sentence says what this build cannot carry, or which name means nothing. Pure.
Result<Plan> compile(const policy::Policy& policy, const Settings& settings);

}  // namespace trueup::core
