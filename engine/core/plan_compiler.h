// Makes a plan of a policy's text (core/plan.h), split by subject over several source files. Not
// for other users.
#pragma once

#include "engine/core/plan.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trueup::core {

class PlanCompiler {
  public:
    PlanCompiler(const policy::Policy& policy, const Settings& settings)
        : policy_(policy), settings_(settings) {}

    Result<Plan> run();

  private:
    /// The fields of one role that something asks for.
    using Names = std::vector<std::set<std::string>>;
    using Mentions = std::vector<std::set<std::uint16_t>>;

    /// The first is told.
    void flaw(std::string what) {
        if (flaw_.empty()) flaw_ = std::move(what);
    }

    // plan.cpp: what a plan has room for, and names
    Status check_text() const;
    void check_roles();
    void check_totals();
    Role number(const std::string& name) const;
    Role named(const std::string& name);

    // plan_roles.cpp: roles, and the fields that are read of them
    void want(const policy::FieldRef& field);
    void want(const policy::Condition& condition, const std::string& role);
    void want(const std::vector<policy::Pattern>& patterns);
    void want(const policy::Text& text);
    void want(const policy::Case& found);
    void name_fields();
    void begin_role(Role number);
    void date(Role number);
    PlanField field_of(const policy::Role& text, const PlanRole& role, const std::string& name);
    void declare(const policy::Role& text, const policy::Field& known, PlanField& field);
    std::uint16_t field_number(Role role, const std::string& name) const;
    FieldAt at(const policy::FieldRef& field);

    // plan_conditions.cpp: what is asked of objects
    PlanNode node(const policy::Condition& condition, Role role);
    PlanNode leaf(const policy::Test& test, Role role);
    void join(const policy::Test& test, std::uint16_t field, PlanRole& of, PlanNode& made);
    void ask(const policy::Test& test, std::uint16_t field, PlanRole& of, PlanNode& made);
    std::uint16_t condition_number(const std::string& name, Role about);
    std::size_t bit_of(const PlanNode& condition, Role number, bool in_scope);
    PlanPattern planned(const policy::Pattern& text);
    void add(const policy::NamedCondition& condition);
    void add(const policy::Ledger& text);
    Role counted(const std::string& name);
    void count_by(const std::vector<policy::Pattern>& subjects, PlanCount& count);
    void add(const policy::Count& text);
    void count_unknown_words();

    // plan_rules.cpp: what disagrees
    void add(const RuleSettings& settings);
    void request(const std::string& name, PlanRule& made);
    bool asks_ledger(const PlanCase& found) const;
    PlanCase planned(const policy::Case& text, const std::vector<PlanCase>& before);
    void hold_sources(const PlanCase& made);
    void hold_bound(const policy::Case& text, const PlanCase& found);
    TallyId tally(const std::string& name);
    void mask(PlanCase& found, const PlanRule& rule) const;

    // plan_steps.cpp: what is to be done
    std::string unable(const policy::Step& step) const;
    PlanAssigned planned(const policy::Role* role, const policy::Assigned& set);
    void tell_own(const PlanStep& step, PlanRule& rule) const;
    void end_by(PlanRule& rule, const PlanCase& found);
    static bool binds(const PlanCase& found, Role role);
    void rank_in_one(PlanRule& rule, const PlanCase& found) const;
    PlanText planned(const policy::Text& text);
    void put(const policy::Template& part, PlanText& json, bool texts = false);
    void put(const policy::Text& text, PlanText& json, bool is_text);
    PlanStep planned(const policy::Step& text);

    // plan_mentions.cpp: what a case rests on
    void mention(PlanCase& found, const std::vector<PlanCase>& before);
    void mention_asked(const PlanCase& asked, Mentions& all, PlanCase& into) const;
    static void mention(const FieldAt& field, Mentions& all);
    static void mention(const PlanText& text, Mentions& all, PlanCase& found);
    void mention(const PlanPattern& pattern, Mentions& all, PlanCase& found) const;
    void mention(const PlanNode& node, Role role, Mentions& all, PlanCase& found) const;

    const policy::Policy& policy_;
    const Settings& settings_;
    Names wanted_;
    Names news_;            ///< those of them that patterns, claims, keys and the ledger mention
    bool compared_ = true;  ///< what is wanted now is mentioned by one of these
    Plan plan_;
    std::size_t next_bit_ = 0;
    std::size_t depth_ = 0;  ///< of the conditions that the one being read asks for
    std::string flaw_;
};

}  // namespace trueup::core
