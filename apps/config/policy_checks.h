// What can be told of a policy from its text alone. Each sentence says what would come of it and
// what to write instead; a code in brackets is what an author acknowledges who means it. Not for
// other users than `check_policy`; its parts are in policy_checks.cpp, policy_case_checks.cpp and
// policy_pattern_checks.cpp.
#pragma once

#include "apps/config/policy_lines.h"
#include "apps/config/problems.h"
#include "engine/model/rule.h"

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace trueup::config {

/// Calls `visit` with each test that the condition is made of.
void each_test(const policy::Condition& condition,
               const std::function<void(const policy::Test&)>& visit);

class PolicyChecks {
  public:
    PolicyChecks(const policy::Policy& policy, const PolicyLines& lines, Problems& problems,
                 Problems& warnings)
        : policy_(policy), lines_(lines), problems_(problems), warnings_(warnings) {}

    void run();

  private:
    const policy::Role& role(const std::string& name) const {
        return *policy::find_role(policy_, name);
    }
    int line() const { return lines_.cases.at(rule_->name)[index_]; }
    std::string where() const {
        if (rule_->cases.size() == 1) return rule_->name;
        return fmt::format("{}, case {}", rule_->name, index_ + 1);
    }
    /// Asked last, of what would be said otherwise: what nobody asks for acknowledges nothing.
    bool acknowledged(std::string_view code) {
        used_.emplace(rule_->name, code);
        return rule_->acknowledges(code);
    }
    void refuse(std::string sentence) {
        problems_.add(line(), fmt::format("{}: {}", where(), sentence));
    }
    void ask(std::string_view code, const std::string& sentence) {
        if (acknowledged(code)) return;
        refuse(fmt::format("{}, or write acknowledge: [{}]", sentence, code));
    }
    void warn(std::string sentence) {
        warnings_.add(line(), fmt::format("{}: {}", where(), sentence));
    }

    void check_role(const policy::Role& role);
    void check_as_of(const policy::Role& role, int at);
    void check_depth(const policy::NamedCondition& condition);
    int depth(const policy::Condition& condition, int limit) const;
    void check_rule(const policy::Rule& rule);
    void check_acknowledged();
    void use_what_others_ask();
    void check_used();
    void check_case(const policy::Case& found);
    void check_bound(const policy::Case& found);
    void check_order(const policy::Case& found);
    void check_steps(const policy::Case& found);
    void check_half_done(const policy::Case& found);
    void check_ending(const policy::Case& found);
    void check_sides(const policy::Case& found);
    void check_patterns(const policy::Case& found);
    void check_none(const policy::Case& found, const policy::Pattern& none);
    void check_words(const policy::Case& found, const policy::Pattern& pattern);
    void each_own_test(const policy::Condition& condition, const std::string& role,
                       const std::function<void(const policy::Test&)>& visit) const;
    void check_null(const policy::Pattern& pattern);
    void check_reach(const policy::Case& found);
    void check_asks(const policy::Case& found);
    bool counts_some(const policy::Pattern& pattern) const;
    void check_cycles();
    void check_overlaps();
    void check_duplicates_told();

    const policy::Policy& policy_;
    const PolicyLines& lines_;
    Problems& problems_;
    Problems& warnings_;
    const policy::Rule* rule_ = nullptr;
    std::size_t index_ = 0;
    std::set<std::pair<std::string, std::string>> used_;  ///< rules, and codes that they need
    bool all_compared_ = true;                            ///< rules with each other
};

}  // namespace trueup::config
