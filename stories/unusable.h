// How a line of a story that cannot be told is refused: thrown by whoever takes it apart or tells
// it, and caught by Story::read and play.
#pragma once

#include <stdexcept>
#include <string>

namespace trueup::stories {

/// A line that makes no sense: file, line, what is wrong and what to write instead. Ends in
/// Story::read or play.
class Unusable : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A line that makes sense, and does not fit what happened before it.
class Stumbled : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

[[noreturn]] void refuse(const std::string& file, int line, const std::string& what);

}  // namespace trueup::stories
