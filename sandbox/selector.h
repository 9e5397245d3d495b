// Label selectors, as a list or a watch takes them: `a=b`, `a==b`, `a!=b`, `a in (x, y)`,
// `a notin (x, y)`, `a`, `!a`, joined by commas.
#pragma once

#include "sandbox/types.h"

#include <optional>
#include <string_view>

namespace trueup::sandbox {

class Selector {
  public:
    /// The empty text selects everything; nullopt is a text that the API server would not take.
    static std::optional<Selector> parse(std::string_view text);

    bool matches(const Labels& labels) const;

  private:
    struct Requirement {
        std::string key;
        bool negated = false;
        bool any_value = false;  ///< `a` and `!a`: the values do not matter
        std::vector<std::string> values;
    };
    static bool holds(const Requirement& requirement, const Labels& labels);
    static std::optional<Requirement> parse_one(std::string_view text);

    std::vector<Requirement> requirements_;
};

}  // namespace trueup::sandbox
