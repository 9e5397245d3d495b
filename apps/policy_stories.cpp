#include "apps/policy_stories.h"

#include "stories/story.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

namespace trueup::apps {

namespace {

/// The rules of which the story expects a command: `=> 30s commanded RULE SUBJECT`.
void add_commanded(const std::string& path, std::set<std::string>& rules) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        if (!(words >> std::ws) || words.peek() != '=') continue;
        for (std::string word; words >> word;) {
            if (word == "commanded" && words >> word) rules.insert(word);
        }
    }
}

bool acts(const policy::Rule& rule) {
    return std::any_of(rule.cases.begin(), rule.cases.end(),
                       [](const policy::Case& each) { return each.acts(); });
}

}  // namespace

std::vector<std::string> rules_without_story(const policy::Policy& policy, const core::Plan& plan,
                                             const std::string& folder) {
    std::set<std::string> told;
    for (const std::string& path : stories::stories_in(folder)) add_commanded(path, told);
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < policy.rules.size(); ++i) {
        const policy::Rule& rule = policy.rules[i];
        const bool known = rule.acknowledges("no_story");
        const bool able = i < plan.rules.size() && plan.rules[i].unable.empty();
        if (acts(rule) && able && !known && told.count(rule.name) == 0)
            missing.push_back(rule.name);
    }
    return missing;
}

}  // namespace trueup::apps
