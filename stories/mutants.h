// The mistakes that a policy's author may make with one word: each test, word of a list, negation,
// quantifier, pattern, time, step … left out or changed, once. A story that goes otherwise with
// such a mutant would have noticed the mistake.
//
// What says nothing of its own is left as it is: names, `finds`, `acknowledge`; and the keys of the
// roles, since a story says itself which subject an object belongs to.
//
// Pure; const access is thread-safe.
#pragma once

#include "engine/model/rule.h"

#include <string>
#include <vector>

namespace trueup::stories {

struct Mutant {
    std::string rule;    ///< in which it is; empty: in what all rules share
    std::string place;   ///< `rules.orphaned_pod.when.rows.one.status`, as the file is nested
    std::string change;  ///< `'starting' is left out`
    policy::Policy policy;
    bool switches = false;  ///< it is the rule's mode that differs

    /// `rules.orphaned_pod.grace: is left out`
    std::string text() const { return place + ": " + change; }
};

/// In the order of the file. Each differs from the policy.
std::vector<Mutant> mutants_of(const policy::Policy& policy);

}  // namespace trueup::stories
