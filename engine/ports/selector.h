// Label selectors, as a list or a watch takes them: `a=b`, `a==b`, `a!=b`, `a in (x, y)`,
// `a notin (x, y)`, `a`, `!a`, joined by commas. The API server evaluates them for lists; executors
// do so once more over what they have just read.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::ports {

using Labels = std::map<std::string, std::string, std::less<>>;

class Selector {
  public:
    /// The empty text selects everything; nullopt is a text that the API server would not take.
    static std::optional<Selector> parse(std::string_view text);

    bool matches(const Labels& labels) const;
    /// nullopt: there is no such label.
    using LabelOf = std::function<std::optional<std::string_view>(std::string_view key)>;
    bool matches(const LabelOf& label_of) const;
    /// The labels because of which it does not match.
    std::vector<std::string> unmet(const LabelOf& label_of) const;
    /// It selects everything.
    bool empty() const { return requirements_.empty(); }

  private:
    struct Requirement {
        std::string key;
        bool negated = false;
        bool any_value = false;  ///< `a` and `!a`: the values do not matter
        std::vector<std::string> values;
    };
    static bool holds(const Requirement& requirement, const std::optional<std::string_view>& label);
    static std::optional<Requirement> parse_one(std::string_view text);

    std::vector<Requirement> requirements_;
};

}  // namespace trueup::ports
