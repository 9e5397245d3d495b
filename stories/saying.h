// One statement of a story, taken apart word by word. Not for other users than the reader and the
// player of stories.
//
// Not thread-safe.
#pragma once

#include "stories/story.h"
#include "stories/unusable.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace trueup::stories {

/// `90s`, `2m`, `24h`, `500ms`; nullopt: no time.
std::optional<Millis> time_of(const std::string& text);

/// `-1h`: so long before the start; `90s`: after it; nullopt: neither.
std::optional<Millis> moment_of(const std::string& text);

/// nullopt: no number.
std::optional<std::uint64_t> number_of(const std::string& text);

class Saying {
  public:
    /// `said` must outlive it.
    explicit Saying(const Statement& said) : said_(&said) {}

    const std::string& verb() const { return said_->verb; }
    Millis at() const { return said_->at; }
    [[noreturn]] void fail(const std::string& what) const;
    [[noreturn]] void stumble(const std::string& what) const;

    /// The next word, which must be there.
    std::string word(const std::string& what);
    /// The next word, if there is one; empty: none.
    std::string next();
    std::string value(const std::string& name, const std::string& otherwise);
    std::string must(const std::string& name);
    std::uint64_t number(const std::string& name, std::uint64_t otherwise);
    Millis time(const std::string& name, Millis otherwise);
    /// Is that word among those that are left?
    bool flag(const std::string& name);
    /// Takes the rest of the words, all of them flags that were asked for.
    void end_flags();
    /// The values that nobody asked for yet.
    std::map<std::string, std::string> take_values();
    /// Fails where there was more than was asked for.
    void end();

  private:
    const Statement* said_;
    std::size_t words_used_ = 0;
    std::set<std::string> used_;
    std::set<std::string> flags_;
};

}  // namespace trueup::stories
