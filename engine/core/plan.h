// A policy's text in numbers: roles, fields, tests and rules by index, every name resolved, so that
// judging cannot fail. Derived from a text and the settings at each activation, never stored.
//
// Equal texts and settings give equal plans. Immutable; thread-safe.
#pragma once

#include "engine/base/result.h"
#include "engine/model/rule.h"
#include "engine/model/settings.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace trueup::core {

/// One field of a role of the plan.
struct FieldAt {
    Role role = kNoRole;  ///< kNoRole: none is meant
    std::uint16_t field = 0;
    bool operator==(const FieldAt&) const = default;
};

struct PlanField {
    std::string name;
    policy::Field::Type type = policy::Field::Type::kText;
    std::vector<std::string> words;  ///< ascending; empty: any text
    bool required = false;           ///< not there is unknown
    bool null_unequal = false;
    bool blank_is_value = false;
    /// What is not said of an object is the usual.
    enum class Usual : std::uint8_t { kNothing, kFalse, kTrue } usual = Usual::kNothing;
};

/// A test that one object decides by itself. A negation stands at its node.
struct PlanTest {
    std::uint16_t field = 0;
    policy::Op op = policy::Op::kIn;
    std::vector<std::string> values;
    std::int64_t number = 0;  ///< of the comparisons
    bool operator==(const PlanTest&) const = default;
};

/// One that needs another object: `same_as`, `before`, `after`.
struct PlanJoin {
    std::uint16_t field = 0;
    policy::Op op = policy::Op::kSame;
    FieldAt other;
};

struct PlanNode {
    enum class Kind : std::uint8_t { kAll, kAny, kTest, kJoin, kNamed };
    Kind kind = Kind::kAll;
    bool negated = false;
    std::uint16_t index = 0;  ///< of the role's test or join, of the plan's condition
    std::vector<PlanNode> parts;
};

struct PlanRole {
    /// Bits of one word.
    static constexpr std::size_t kMostTests = 64;

    std::string name;
    policy::Kind kind = policy::Kind::kRow;
    bool several = false;
    bool reference = false;
    std::vector<SourceId> sources;  ///< ascending
    std::vector<PlanField> fields;  ///< by name: one walk over an object's bytes meets each once
    std::vector<PlanTest> tests;    ///< each distinct one once
    std::vector<PlanJoin> joins;
    PlanNode live;
    bool kubernetes() const { return kind == policy::Kind::kPod || kind == policy::Kind::kObject; }
};

struct PlanRanking {
    PlanNode condition;
    std::optional<std::uint16_t> latest;
};

struct PlanPattern {
    Role role = kNoRole;
    policy::Quantifier quantifier = policy::Quantifier::kOne;
    PlanNode condition;
    std::vector<PlanRanking> keep;
    FieldAt named;
    std::string named_literal;
    FieldAt in;
};

struct PlanStep {
    policy::Verb verb = policy::Verb::kReport;
    Role role = kNoRole;
};

struct PlanDeadline {
    FieldAt from;
    std::variant<Millis, FieldAt> length;
};

struct PlanCase {
    bool duplicates = false;
    std::vector<PlanPattern> patterns;  ///< as they are bound: none last
    std::vector<Role> roles;            ///< that `when` names, in its order
    std::optional<PlanDeadline> past;
    std::vector<TallyId> asks;  ///< by the order of the policy's counts
    std::vector<PlanStep> steps;
};

struct PlanRule {
    std::string name;
    std::vector<PlanCase> cases;
    bool since_first_seen = false;
    bool keyless = false;
    FieldAt owner;  ///< of who may ask; kNoRole: it does not wait for being asked
};

struct PlanCondition {
    struct Line {
        std::vector<PlanPattern> when;  ///< that of its own role first, if there is one
        policy::NamedCondition::Line::Then then = policy::NamedCondition::Line::Then::kTrue;
    };
    Role about = kNoRole;
    std::vector<Line> lines;
};

struct Plan {
    std::vector<PlanRole> roles;
    std::vector<PlanCondition> conditions;
    std::vector<PlanRule> rules;  ///< in the text's order
};

/// kStop: the sentence says what this build cannot carry. Pure.
Result<Plan> compile(const policy::Policy& policy, const Settings& settings);

}  // namespace trueup::core
