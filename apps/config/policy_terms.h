// The small parts of a policy file: references, tests, conditions, patterns and texts. What is
// wrong is noted with its line, and reading goes on with something usable.
//
// Names are held against the roles, counts and conditions that were read before; so a file's parts
// are read in the order in which they may use each other.
#pragma once

#include "apps/config/problems.h"
#include "apps/config/tree.h"
#include "engine/model/rule.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::config {

/// Of a list that is read in order: a condition's lines, a rule's cases or its steps.
inline constexpr std::size_t kMostLines = 16;

/// A view: policy and problems outlive it.
class PolicyTerms {
  public:
    PolicyTerms(const policy::Policy& policy, Problems& problems)
        : policy_(policy), problems_(problems) {}

    /// The field of that name, declared or built in; nullopt where the role has none.
    std::optional<policy::Field> field_of(const policy::Role& role, std::string_view name) const;

    /// The role of that name; nullptr where there is none, which is noted.
    const policy::Role* role(std::string_view name, int line, const std::string& path);

    /// `role.field`, both known. With `home`, a bare field is one of that role.
    std::optional<policy::FieldRef> reference(std::string_view text, int line,
                                              const std::string& path,
                                              const policy::Role* home = nullptr);
    /// The type of what `reference` returned.
    policy::Field::Type type_of(const policy::FieldRef& reference) const;

    /// `{FIELD: TEST, …}` over objects of this role.
    policy::Condition condition(const Tree& tree, const policy::Role& role,
                                const std::string& path);
    /// `{ROLE: PATTERN, …}`; a list of patterns is several.
    std::vector<policy::Pattern> patterns(const Tree& tree, const std::string& path);
    /// The same of a count, which binds nothing: several may be so of one role.
    std::vector<policy::Pattern> counted(const Tree& tree, const std::string& path);
    bool may_count(const policy::Role& role, int line, const std::string& path);
    /// A text with `{role.field}`, `{subject}` and `{now}` in it.
    policy::Text text(const Tree& tree, const std::string& path);

    /// `tree` as one word; empty, and noted, where it is none.
    std::string word(const Tree& tree, const std::string& path);
    /// The words of a list, or the one word.
    std::vector<std::string> words(const Tree& tree, const std::string& path);
    bool is_map(const Tree& tree, const std::string& path);
    void flaw(int line, std::string sentence) { problems_.add(line, std::move(sentence)); }

  private:
    /// Declared and built in.
    static std::vector<std::string> field_names(const policy::Role& role);

    // policy_tests.cpp
    struct Asked;  ///< the field that a test is of
    policy::Condition test(const Tree& tree, const Asked& asked);
    policy::Condition equals(std::vector<std::string> values, const Tree& tree, const Asked& asked);
    policy::Condition named_test(const Tree& tree, const Asked& asked);
    policy::Condition compares(const Tree& tree, const Asked& asked);
    policy::Condition compares_objects(policy::Op op, const Tree& tree, const Asked& asked);
    policy::Condition compares_value(policy::Op op, const Tree& tree, const Asked& asked);
    policy::Condition same_as(const Tree& tree, const Asked& asked);
    policy::Condition any_of(const Tree& tree, const Asked& asked);
    policy::Condition is(const Tree& tree, const policy::Role& role, const std::string& path);
    bool readable(const std::string& value, const Tree& tree, const Asked& asked);

    // policy_patterns.cpp
    std::vector<policy::Pattern> patterns(const Tree& tree, const std::string& path, bool counting);
    std::optional<policy::Pattern> pattern(const Tree& tree, const policy::Role& role,
                                           const std::string& path);
    void look_in(const Tree& tree, const policy::Role& role, policy::Pattern& pattern,
                 const std::string& path);
    void check_lookup(const Tree& tree, const policy::Role& role, const policy::Pattern& pattern,
                      const std::string& path);
    void quantify(const Tree& tree, const policy::Role& role, policy::Pattern& pattern,
                  const std::string& path);
    void keep(const Tree& tree, const policy::Role& role, policy::Pattern& pattern,
              const std::string& path);
    void name_reference(const Tree& tree, policy::Pattern& pattern, const std::string& path);

    std::optional<policy::Piece> piece(std::string_view name, const Tree& tree,
                                       const std::string& path);

    const policy::Policy& policy_;
    Problems& problems_;
};

/// A whole number of 64 bits in its only spelling.
bool is_integer(std::string_view text);

/// `{not: …}`: with three values, too, it is `not` of each test, and all and any change places.
policy::Condition negated(policy::Condition condition);

/// `text`, `number`, …; as sentences call it.
std::string_view name_of(policy::Field::Type type);
std::string_view name_of(policy::Kind kind);

}  // namespace trueup::config
