// Plays a story: folds what its sources say as an engine would, and holds what comes of it against
// what the story expects.
//
// Plays of different stories may run in different threads at once.
#pragma once

#include "engine/base/shared.h"
#include "engine/model/rule.h"
#include "stories/manner.h"
#include "stories/recorded.h"
#include "stories/story.h"

#include <string>
#include <vector>

namespace trueup::stories {

/// A line of news, and the line of the story that brought it about.
struct Came {
    std::string news;
    int line = 0;
    bool operator==(const Came&) const = default;
};

/// A block whose news were others than expected.
struct Difference {
    int line = 0;  ///< of its first expectation
    std::vector<std::string> expected;
    std::vector<Came> came;
    std::string stumbled;  ///< instead: a statement that did not fit what was, `file:line: why`
};

struct Telling {
    std::string unusable;                 ///< a statement that makes no sense, `file:line: why`
    std::vector<Difference> differences;  ///< it ends with the first that stumbled
    std::vector<Recorded> records;

    bool as_told() const { return unusable.empty() && differences.empty(); }
    /// All of it in lines, empty if it went as told: `file:line: expected …`
    std::string flaws(const std::string& path) const;
};

/// Plays it once.
Telling play(const Story& story, const Shared<policy::Policy>& policy, const Manner& manner = {});

/// Plays it as it stands, with each record of the journal twice, with the sources speaking in
/// another order, and with a restart after each record: all must go as told.
struct Trial {
    Telling told;       ///< as it stands
    std::string flaws;  ///< of the first play that went otherwise; empty: none did
    std::string how;    ///< which one that was, as `with each record twice`; empty: as it stands
};
Trial try_story(const Story& story, const Shared<policy::Policy>& policy);

}  // namespace trueup::stories
