// A policy's text in numbers: roles, fields, tests and rules by index, every name resolved, so that
// judging cannot fail. Derived from the settings in force at each activation, never stored.
//
// Equal settings give equal plans. Immutable; const access is thread-safe.
#pragma once

#include "engine/base/id.h"
#include "engine/base/result.h"
#include "engine/core/meta.h"
#include "engine/model/answers.h"
#include "engine/model/rule.h"
#include "engine/model/settings.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trueup::core {

/// Of a policy, each.
inline constexpr std::size_t kMostRoles = 16;
inline constexpr std::size_t kMostTallies = std::tuple_size_v<Tally>;

/// One field of a role of the plan.
struct FieldAt {
    Role role = kNoRole;  ///< kNoRole: none is meant
    std::uint16_t field = 0;
    bool operator==(const FieldAt&) const = default;
};

/// What a value makes of the tests that ask for it.
struct Told {
    std::uint64_t can = 0;         ///< those that are not false
    std::uint64_t is = 0;          ///< those that are true
    std::uint64_t unreadable = 0;  ///< those that nobody can tell, because of its text
    std::uint64_t unlisted = 0;    ///< likewise, as it is none of the field's words
    bool operator==(const Told&) const = default;
};

struct PlanField {
    std::string name;
    std::uint64_t prefix = 0;  ///< of the name (base/prefix.h)
    policy::Field::Type type = policy::Field::Type::kText;
    std::vector<std::string> words;  ///< ascending; empty: any text
    bool required = false;           ///< not there is unknown
    bool null_unequal = false;
    bool blank_is_value = false;
    /// Of a day, and of a time that was written without an offset: how far east of UTC.
    std::optional<Millis> zone = {};
    /// Where it is, if not among the fields that were sent.
    enum class From : std::uint8_t {
        kSent,
        kFalseUnlessSent,  ///< what is not said of an object is the usual
        kTrueUnlessSent,
        kUid,
        kScope,     ///< of its source
        kFailures,  ///< of the subject's ledger
        kSucceeded,
    };
    From from = From::kSent;
    bool in_key = false;
    /// Mentioned by a pattern, a claim, a key or the ledger: another value is news
    /// (Facet::evidence).
    bool is_news = false;
    std::uint64_t tests = 0;  ///< of the role's, those that ask for it
    /// What the tests tell apart, ascending, and what each comes to: then of another text, of null,
    /// of what is not there, and of what was not sent.
    std::vector<std::string> values;
    std::vector<Told> told;
    std::uint64_t by_hand = 0;  ///< the tests that another text must be asked for
    /// May a live look before a write compare it? What an object keeps for all its life, and what
    /// only its source knows, is not asked for once more.
    bool looked_at = true;
    bool operator==(const PlanField&) const = default;
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
    bool operator==(const PlanJoin&) const = default;
};

struct PlanNode {
    enum class Kind : std::uint8_t { kAll, kAny, kTest, kJoin, kNamed };
    Kind kind = Kind::kAll;
    bool negated = false;
    std::uint16_t index = 0;  ///< of the role's test or join, of the plan's condition
    std::vector<PlanNode> parts;
    bool operator==(const PlanNode&) const = default;
};

/// A condition that has a bit. What it asks of other objects counts as unknown there.
struct PlanAsked {
    PlanNode condition;
    bool in_scope = false;  ///< an object that left its source's selector is none
    std::size_t bit = 0;
    /// Most are tests of which all must be so: then these tests, and those of which none may be.
    bool plain = false;
    std::uint64_t all = 0;
    std::uint64_t none = 0;
    bool operator==(const PlanAsked&) const = default;
};

struct PlanRole {
    /// Bits of one word.
    static constexpr std::size_t kMostTests = 64;
    static constexpr std::size_t kMostFields = 64;

    std::string name;
    policy::Kind kind = policy::Kind::kRow;
    bool several = false;
    bool reference = false;
    bool optional = false;
    std::vector<SourceId> sources;  ///< ascending
    std::vector<PlanField> fields;  ///< by name: one walk over an object's bytes meets each once
    std::vector<PlanTest> tests;    ///< each distinct one once
    std::vector<PlanJoin> joins;
    std::vector<PlanAsked> asked;
    Told unsaid;                         ///< of an object that says nothing
    std::vector<std::uint16_t> derived;  ///< fields that tests ask for and no object says
    Bits bits;                           ///< of all that is in `asked`
    std::size_t claims;                  ///< the bit of `live`
    PlanNode live;
    /// What a live look asks for whoever has a key: the field that is the key, or `key` for the
    /// source's own expression of it; then the fields that may be the whole key by themselves.
    std::vector<std::string> keys;
    /// The fields that make up claim and key: what writes an object must find them as they were.
    std::vector<std::string> claim;

    bool kubernetes() const { return policy::in_kubernetes(kind); }
    bool operator==(const PlanRole&) const = default;
};

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
    policy::Piece::Kind kind = policy::Piece::Kind::kLiteral;
    std::string literal;
    FieldAt field;
    bool operator==(const PlanPiece&) const = default;
};
using PlanText = std::vector<PlanPiece>;

struct PlanAssigned {
    std::string field;
    std::optional<PlanText> value;  ///< nullopt: null
    bool boolean = false;           ///< of a row: written as PostgreSQL says it
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
    std::optional<std::uint32_t> grace_period;
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
    /// By role: the fields that patterns, claims, deadline, texts and key mention, ascending. What
    /// a command rests on is derived from it (core/draft.h).
    std::vector<std::vector<std::uint16_t>> mentions;
    /// Looked up on the way by named conditions: references, and who names them.
    std::vector<PlanPattern> looked_up;
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
    FieldAt owner;  ///< of who may ask; kNoRole: it does not wait for being asked
    /// The list of its case that ends something, in order; empty: it has none.
    std::vector<PlanStep> ending;
    Hash128 ending_hash;
    /// Why no engine of this build can carry it out, so that it must be off; empty: it can.
    std::string unable;

    bool on_request() const { return owner.role != kNoRole; }
    bool operator==(const PlanRule&) const = default;
};

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
    std::vector<PlanCondition> conditions;
    std::vector<PlanRule> rules;  ///< by their numbers in the settings
    /// Of the cases of those that are not off, in their order: what is asked for each subject lies
    /// together.
    std::vector<RuleMask> masks;
    std::vector<PlanCount> counts;
    std::vector<PlanTally> tallies;  ///< by TallyId
    std::optional<PlanLedger> ledger;
    /// Tells the plans of one shard apart (Answers::plan); 0: nothing is kept of what it makes of
    /// an object.
    std::uint32_t number = 0;

    /// kEveryRule: there is none of that name.
    RuleNumber rule(std::string_view name) const;
    bool operator==(const Plan&) const = default;
};

/// kStop: the sentence says what this build cannot carry, or which name means nothing. Pure.
Result<Plan> compile(const policy::Policy& policy, const Settings& settings);

}  // namespace trueup::core
