// Reads the tree of a policy file into the policy that it means. Not for other users than
// policy_file.h; its parts are in policy_roles.cpp, policy_conditions.cpp, policy_rules.cpp and
// policy_exports.cpp.
#pragma once

#include "apps/config/policy_lines.h"
#include "apps/config/policy_terms.h"
#include "apps/config/section.h"
#include "apps/config/tree.h"
#include "engine/model/exports.h"
#include "engine/model/rule.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trueup::config {

/// Everything but the notes is in the policy that is being made.
class PolicyReader {
  public:
    PolicyReader(policy::Policy& policy, PolicyLines& lines, Problems& problems)
        : policy_(policy), lines_(lines), problems_(problems), terms_(policy, problems) {}

    void read(const Tree& tree);
    /// What is no part of the policy.
    const policy::Exports& exports() const { return exports_; }

  private:
    /// What stands above the parts; false where there is nothing to read.
    bool read_head(const Tree& tree);

    // policy_roles.cpp
    void read_role(const Tree& tree);
    void read_live(const Tree& tree);
    void read_as_of(const Tree& tree, policy::Role& role);
    void read_fields(const Tree& tree, policy::Role& role, const std::string& path);
    policy::Field read_field(const Tree& tree, const policy::Role& role, const std::string& path);
    void read_type(const Tree& tree, policy::Field& field, const std::string& path);
    void read_type_options(const Tree& tree, const policy::Role& role, policy::Field& field,
                           const std::string& path);
    void read_type_option(const Tree& tree, const policy::Role& role, policy::Field& field,
                          const std::string& path);
    void read_key(Section& section, policy::Role& role);
    void declare_key(Section& section, policy::Role& role);

    // policy_conditions.cpp
    void read_condition(const Tree& tree);
    void read_line(const Tree& tree, policy::NamedCondition& made, const std::string& path);
    void read_count(const Tree& tree);
    void read_counted_subjects(const Tree& tree, policy::Count& count, const std::string& path);
    bool read_counted_objects(const Tree& tree, policy::Count& count, const std::string& path);
    void begin_ledger(const Tree& tree);
    void read_ledger(const Tree& tree);
    void read_known(Section& section, const std::string& known, policy::Ledger& ledger);
    void read_requests(const Tree& tree);

    // policy_rules.cpp
    void read_rule(const Tree& tree);
    void read_requested(Section& section, policy::Rule& rule);
    void read_cases(Section& section, const Tree& tree, policy::Rule& rule);
    void read_case(Section& section, const Tree& tree, policy::Rule& rule);
    std::vector<std::string> read_asked(const Tree& tree, const std::string& path);
    void read_times(Section& section, policy::Rule& rule);
    void read_past(const Tree& tree, policy::Case& made, const std::string& path);
    std::optional<std::variant<Millis, policy::FieldRef>> read_length(std::string_view text,
                                                                      int line,
                                                                      const std::string& path);

    // policy_exports.cpp
    void read_exports(const Tree& tree);
    void read_metric(const Tree& tree);
    void read_counted_metric(Section& at, policy::Metric& metric);
    void read_event(const Tree& tree);
    static void check_known(Section& at, std::string_view key, std::string_view what,
                            const std::vector<std::string>& known);
    static std::size_t read_on(Section& at, const std::vector<std::string>& words);

    /// The entries of the map under `key`; notes what has no name that a policy may use.
    std::vector<const Tree*> named(const Tree& tree, std::string_view key);
    /// Does it have the key, whose one word this is?
    static bool said(Section& section, std::string_view key, std::string_view word);
    bool flag(const Tree& tree, const std::string& path);
    Section section(const Tree& tree, const std::string& path) {
        return {&tree, path, tree.line, problems_};
    }

    policy::Policy& policy_;
    PolicyLines& lines_;
    Problems& problems_;
    PolicyTerms terms_;
    policy::Exports exports_;
};

}  // namespace trueup::config
