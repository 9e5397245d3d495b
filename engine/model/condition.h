// What a policy may ask of one object: conditions over its fields, as their author means them.
//
// Truth has three values. A test of a value that is not known is unknown, and stays so through
// `not`, all and any (Kleene); a rule acts on true only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trueup::policy {

/// `role.field`. An empty role: the object that is asked itself.
struct FieldRef {
    std::string role;
    std::string field;
    bool operator==(const FieldRef&) const = default;
};

/// The numbers are those of the wire: never used again for something else.
enum class Op : std::uint8_t {
    kIn = 1,      ///< equals one of `values`
    kSet = 2,     ///< is there, and is not null
    kSame = 3,    ///< equals `other`
    kStarts = 4,  ///< begins with the one of `values`
    kLike = 5,    ///< matches the one of `values`, in which `*` is any text
    kOver = 6,    ///< as numbers, against the one of `values`
    kUnder = 7,
    kAtLeast = 8,
    kAtMost = 9,
    kBefore = 10,  ///< as times or numbers, against `other`
    kAfter = 11,
    kIs = 12,  ///< the named condition in `values` is true of the object; there is no field
};

/// A leaf.
struct Test {
    std::string field;
    Op op = Op::kIn;
    bool negated = false;
    std::vector<std::string> values;  ///< ascending for kIn, each once
    FieldRef other;                   ///< of kSame, kBefore, kAfter
    bool operator==(const Test&) const = default;
};

/// A tree whose inner nodes say all or any. No parts of kAll: true; of kAny: false.
struct Condition {
    enum class Kind : std::uint8_t { kAll = 1, kAny = 2, kTest = 3 };
    Kind kind = Kind::kAll;
    Test test;                     ///< of kTest
    std::vector<Condition> parts;  ///< of the others
    bool operator==(const Condition&) const = default;

    bool always() const { return kind == Kind::kAll && parts.empty(); }
};

/// How many objects of a role match a pattern.
enum class Quantifier : std::uint8_t {
    kOne = 1,
    kNone = 2,     ///< proven: the source has no such object
    kSome = 3,     ///< each in turn, the first by id for which the rest of the rule holds
    kSurplus = 4,  ///< the least worth one where there are two or more
};

}  // namespace trueup::policy
