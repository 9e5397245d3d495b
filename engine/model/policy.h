// A policy as its author means it: roles, conditions, counts and rules by name, every default
// written down. Equal meaning is an equal value. The journal holds this, never what is compiled
// from it, so that a replay needs no build's own tables.
//
// Plain values; const access is thread-safe. Read from YAML by apps/config/policy_file.h.
#pragma once

#include "engine/base/time.h"
#include "engine/model/condition.h"
#include "engine/model/key.h"
#include "engine/model/role.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::policy {

inline constexpr std::uint32_t kLanguage = 1;

/// A text that is made of fields: what a step writes.
struct Piece {
    enum class Kind : std::uint8_t { kLiteral = 1, kField = 2, kSubject = 3, kNow = 4 };
    Kind kind = Kind::kLiteral;
    std::string literal;
    FieldRef field;
    bool operator==(const Piece&) const = default;
};
using Text = std::vector<Piece>;

/// What a rule keeps of several objects, best first: a condition, or the latest of a field.
struct Ranking {
    Condition condition;
    std::string latest;  ///< a field; empty: `condition`
    bool operator==(const Ranking&) const = default;
};

struct Pattern {
    std::string role;
    Quantifier quantifier = Quantifier::kOne;
    Condition condition;
    std::vector<Ranking> keep;  ///< of kSurplus
    FieldRef named;             ///< a reference is looked up by this name ...
    std::string named_literal;  ///< ... or by this one
    FieldRef in;                ///< the source of this scope must prove it
    bool operator==(const Pattern&) const = default;
};

/// A condition of a name, decided by the first line that fits.
struct NamedCondition {
    struct Line {
        std::vector<Pattern> when;
        enum class Then : std::uint8_t { kFalse = 1, kTrue = 2, kUnknown = 3 };
        Then then = Then::kTrue;
        std::string because;  ///< of kUnknown
        bool operator==(const Line&) const = default;
    };
    std::string name;
    std::string about;  ///< the role of the object that it is asked of
    std::vector<Line> lines;
    bool operator==(const NamedCondition&) const = default;
};

/// Counted over all subjects of a shard.
struct Count {
    std::string name;
    std::vector<std::vector<Pattern>> subjects;  ///< for which all of one of these holds; or ...
    std::string role;                            ///< ... the present objects of this role ...
    Condition objects;                           ///< ... of which this is not false ...
    std::string by;                              ///< ... one series for each value of this field
    std::string reason;  ///< what findings that wait for it say; empty: its name
    bool operator==(const Count&) const = default;
};

/// What became of objects that are made anew.
struct Ledger {
    FieldRef of;  ///< another value begins an empty one; an empty field: another identity does
    std::string objects;
    Condition belongs, failed, succeeded;
    bool gone_failed = false;  ///< one that was taken away counts as failed
    FieldRef known;            ///< ends that an object's own status lists
    bool operator==(const Ledger&) const = default;
};

}  // namespace trueup::policy
