// A story: what sources say, line by line, and what comes of it. docs/policies/testing.md has the
// language.
//
//     const Result<Story> story = Story::read("policies/workers/orphan.scn");
//     const Telling telling = play(*story, policy);      // player.h
//
// Plain values; const access is thread-safe.
#pragma once

#include "engine/base/result.h"
#include "engine/base/time.h"

#include <istream>
#include <map>
#include <string>
#include <vector>

namespace trueup::stories {

/// `100s pod wrapper-7 uid=a hold` without its time: a verb, words, values and flags.
struct Statement {
    std::string file;
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

struct Story {
    std::string path;
    std::string title;               ///< the first comment line
    std::vector<Statement> setting;  ///< without a time: what holds before it begins
    std::vector<Block> blocks;

    /// With the setting of its folder, where that has a file `world.scn`. The error has file and
    /// line, what is wrong, and what to write instead.
    static Result<Story> read(const std::string& path);
    /// A text that is open, without any folder's; `path` is for the sentences of errors.
    static Result<Story> read(std::istream& text, const std::string& path);
};

/// The file of a folder whose lines are the setting of each of its stories; no story itself.
inline constexpr const char* kWorldFile = "world.scn";

/// The files of stories in this folder and those below it, by name.
std::vector<std::string> stories_in(const std::string& folder);

}  // namespace trueup::stories
