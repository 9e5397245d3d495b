// A role of a plan (core/plan.h): the fields that are read of its objects, and what is asked of one
// object, a bit for each.
//
// Plain values; const access is thread-safe.
#pragma once

#include "engine/base/time.h"
#include "engine/model/answers.h"
#include "engine/model/policy.h"
#include "engine/model/settings.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trueup::core {

/// One field of a role of the plan.
struct FieldAt {
    Role role = kNoRole;  ///< kNoRole: none is meant
    std::uint16_t field = 0;
    bool operator==(const FieldAt&) const = default;
};

/// What the value of one field makes of the tests that ask for it, and so of the conditions that
/// are plain. What several fields make of an object is all of it together.
struct Told {
    std::uint64_t can = 0;         ///< those that are not false
    std::uint64_t is = 0;          ///< those that are true
    std::uint64_t unreadable = 0;  ///< those that nobody can tell, because of its text
    std::uint64_t unlisted = 0;    ///< likewise, as it is none of the field's words
    Bits denied;                   ///< conditions that are false
    Bits unsure;                   ///< conditions that are not true
    Told& operator|=(const Told& other) {
        can |= other.can;
        is |= other.is;
        unreadable |= other.unreadable;
        unlisted |= other.unlisted;
        denied |= other.denied;
        unsure |= other.unsure;
        return *this;
    }
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
    bool verbatim = false;    ///< a text that was sent is the value, if it is not blank
    std::uint64_t tests = 0;  ///< of the role's, those that ask for it
    /// What the tests tell apart, ascending, and what each comes to: then of another text, of null,
    /// of what is not there, and of what was not sent.
    std::vector<std::string> values;
    std::vector<std::uint64_t> prefixes;  ///< of `values` (base/prefix.h)
    std::vector<Told> told;
    Told unsaid;                ///< of an object that does not say it; nothing where it is derived
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
    Bits asked = {};          ///< by these plain conditions
    Bits negated = {};        ///< those for which it must not be so
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

/// `as_of`: when the table was last filled is said by this field of the reference of this name.
struct PlanAsOf {
    FieldAt field;
    std::string at;
    bool operator==(const PlanAsOf&) const = default;
};

struct PlanRole {
    /// Bits of one word.
    static constexpr std::size_t kMostTests = 64;
    static constexpr std::size_t kMostFields = 64;

    struct Read {
        static constexpr std::uint16_t kEnd = 0xffff;  ///< none: it ends the list
        std::uint64_t prefix = ~std::uint64_t{0};      ///< of its name: nearly always that will do
        std::uint16_t field = kEnd;
        bool operator==(const Read&) const = default;
    };

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
    std::vector<std::uint16_t> counted;  ///< counts of the plan that its objects may count for
    Bits bits;                           ///< of all that is in `asked`
    std::size_t claims;                  ///< the bit of `live`
    std::optional<PlanAsOf> as_of;       ///< of a table that is filled from elsewhere
    PlanNode live;
    /// What a live look asks for whoever has a key: the field that is the key, or `key` for the
    /// source's own expression of it; then the fields that may be the whole key by themselves.
    std::vector<std::string> keys;
    /// The fields that make up claim and key: what writes an object must find them as they were.
    std::vector<std::string> claim;
    // What follows from all that (core/told.h).
    std::vector<Read> read;              ///< the fields that objects are read for
    std::vector<std::uint16_t> derived;  ///< those that tests ask for and no object says
    Bits plain;                          ///< of `asked`
    Bits scoped;                        ///< of an object that left its selector none of these is so
    std::vector<std::uint16_t> walked;  ///< of `asked`, those that are not plain

    bool kubernetes() const { return policy::in_kubernetes(kind); }
    /// The label that is its objects' key; nullptr: none is.
    const std::string* label() const {
        return kubernetes() && policy::is_label(keys.front()) ? &keys.front() : nullptr;
    }
    bool operator==(const PlanRole&) const = default;
};

}  // namespace trueup::core
