// What is wrong with a file of the configuration, sentence by sentence: an operator sees every flaw
// of it at once. Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace trueup::config {

/// The flaws of one file.
class Problems {
  public:
    explicit Problems(std::string file_name) : file_name_(std::move(file_name)) {}

    void add(int line, std::string sentence);
    bool none() const { return found_.empty(); }
    std::size_t count() const { return found_.size(); }
    /// `file:line: sentence`, one a line, in the order of the file; of all but the first `known`.
    std::string text(std::size_t known = 0) const;

  private:
    struct Found {
        int line;
        std::string sentence;
    };
    std::string file_name_;
    std::vector<Found> found_;
};

}  // namespace trueup::config
