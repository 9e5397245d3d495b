// Stories in files: what sources say, line by line, and what comes of it. tests/scenarios/README.md
// has the grammar.
//
//     const Scenario story = Scenario::read("orphaned_pod.scn");
//     const Telling telling = tell(story, {});
//     EXPECT_EQ(telling.flaws, "");
//
// Not thread-safe.
#pragma once

#include "tests/support/journal_script.h"
#include "tests/support/worlds.h"

#include <istream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace trueup::testing {

/// A line that cannot be understood: file, line, what is wrong and what to write instead.
class ScenarioError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// `100s pod wrapper-7 uid=a hold` without its time: a verb, words, values and flags.
struct Statement {
    int line = 0;
    Millis at{0};
    std::string verb;
    std::vector<std::string> words;             ///< without `=`; flags among them
    std::map<std::string, std::string> values;  ///< name=value
};

/// Statements, then what must be news since the block before it.
struct Block {
    std::vector<Statement> statements;
    std::vector<std::string> expected;
    int line = 0;       ///< of the first expectation
    bool asks = false;  ///< false: the file ended without one
};

struct Scenario {
    std::string path;
    std::string title;  ///< the first comment line
    World world;
    std::vector<Block> blocks;

    /// Throws ScenarioError.
    static Scenario read(const std::string& path);
    /// The same of a text that is open; `path` is for the sentences of errors.
    static Scenario read(std::istream& text, const std::string& path);
};

/// The files of stories in this folder and those below it, by name.
std::vector<std::string> stories_in(const std::string& folder);

struct Telling {
    std::string flaws;  ///< where the news were not as expected; empty: they were
    std::vector<Recorded> records;
};

/// Plays the story once. Throws ScenarioError for a statement that makes no sense.
Telling tell(const Scenario& scenario, const Manner& manner);

}  // namespace trueup::testing
