// What a journal's settings and requests become where another text of its policy is in force: all
// that operators decided stays as it was recorded, and only the text is another one.
//
// Pure; thread-safe.
#pragma once

#include "engine/base/result.h"
#include "engine/base/shared.h"
#include "engine/model/request.h"
#include "engine/model/rule.h"
#include "engine/model/settings.h"

#include <set>
#include <string>
#include <vector>

namespace trueup::apps {

struct OtherText {
    std::string called;  ///< for sentences: the file, or the shipped policy's name
    Shared<policy::Policy> text;
};

/// Why two texts cannot be held against each other over a journal, as a sentence; empty: they can.
/// A role's key must be the same in both: objects are recorded under the subjects that it named.
std::string not_comparable(const OtherText& before, const OtherText& now);

/// The recorded settings with that text. Sources keep their roles by name, and each role the key by
/// which its objects were recorded. Rules keep their modes and times; a time that was the recorded
/// text's own is that of this text now. A rule that was not recorded is in mode enforce, unless the
/// text says that it is off. The error is a sentence: another policy, or a role that nobody played.
Result<Settings> with_text(const Settings& recorded, const OtherText& other);

/// The rules of `ours` that meant something else in the recorded text, or were not in it: those
/// that somebody would have to enable again (core/rule_text.h).
std::set<std::string> other_rules(const Settings& recorded, const Settings& ours);

/// An enabling of a rule as it was recorded becomes one of the same rule as it is in `ours`. Of an
/// enabling and a disabling, rules that `ours` lacks are left out as long as others are named.
void translate(Request& request, const Settings& recorded, const Settings& ours);

/// Sentences about what `ours` reads and the journal does not have.
std::vector<std::string> unrecorded(const Settings& recorded, const Settings& ours,
                                    const std::string& called);

}  // namespace trueup::apps
