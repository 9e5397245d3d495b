// What a policy can tell apart: its own constants cut each field into a few classes of values, and
// what rules do with each other is found by going through these. Pure.
#pragma once

#include "engine/model/rule.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace trueup::config {

/// May it be true? kFree: of some values, but which they are is not cut by constants.
enum class Certainty : unsigned char { kNo, kFree, kYes };

constexpr Certainty opposite(Certainty certainty) {
    if (certainty == Certainty::kFree) return certainty;
    return certainty == Certainty::kYes ? Certainty::kNo : Certainty::kYes;
}

/// One object, as far as it matters: the value of each field that is asked for.
struct ValueClass {
    enum class Kind : unsigned char { kConstant, kOther, kNull, kText };
    Kind kind = Kind::kOther;  ///< kOther: a value that no constant names
    std::string constant = {};
    policy::Text text = {};  ///< what a step made it of, fields that are known filled in
    bool open = false;       ///< of kText: hardly ever one of few words
    bool operator==(const ValueClass&) const = default;
};
using Values = std::map<std::string, ValueClass>;

/// A test that constants do not decide is kFree; one of a field that is not in `values` is, too.
/// What a comparison of two fields comes to is a value like others, under a name of its own.
Certainty certainty(const policy::Policy& policy, const policy::Condition& condition,
                    const policy::Role& role, const Values& values);

/// What the fields of these conditions may be, each combination once. False, and nothing is called,
/// where there are more than 50,000.
bool each_values(const policy::Policy& policy, const policy::Role& role,
                 const std::vector<const policy::Condition*>& conditions,
                 const std::function<void(const Values&)>& visit);

/// Of each role one object or none.
using World = std::map<std::string, Values>;

/// Does the case find something in a subject that has these objects?
Certainty certainty(const policy::Policy& policy, const policy::Case& found, const World& world);

/// The worlds that these cases tell apart, each once; with `made`, also by the fields of few words
/// of which they make texts that they ask for. False where there are more than 50,000.
bool each_world(const policy::Policy& policy, const std::vector<const policy::Case*>& cases,
                const std::function<void(const World&)>& visit, bool made = false);

/// Leaves out what comparisons of fields, and conditions that look at others, come to.
void forget_compared(World& world);

/// What the world is like once the steps are done. Texts of fields that the world knows are
/// constants.
World after(const policy::Policy& policy, const policy::Case& done, World world);

}  // namespace trueup::config
