// Random subjects and what is known beside them, for a policy's text: half of them so that one of
// its cases may come to its end (what it asks for is there, or nearly), the others anyhow. Values
// are the text's own constants and their neighbours, nothing, NULL, what was not sent, blanks, and
// what cannot be read.
#pragma once

#include "engine/core/references.h"
#include "engine/model/rule.h"
#include "engine/model/settings.h"
#include "tests/naive/random_policy.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trueup::testing {

inline constexpr std::int64_t kWorldNow = 1'764'000'000'000;  // some time of November 2025

/// One subject and what is known beside it.
struct RandomWorld {
    std::vector<core::SourceState> sources;
    std::vector<std::uint64_t> counts;
    Subject subject;
    std::map<std::pair<SourceId, std::string>, Subject> references;
    Subject nobody;
    bool sweeping = false;

    /// A view.
    core::References beside() const;
};

/// What one field of an object says.
struct Said {
    enum class Kind : std::uint8_t { kText, kNull, kNotThere, kUnsent };
    Kind kind = Kind::kText;
    std::string text;
};
/// By field.
using Saying = std::map<std::string, Said>;
std::string encoded(const Saying& saying);

/// The fields and constants of a policy, role by role.
class Values {
  public:
    explicit Values(const policy::Policy& policy);

    /// That something asks for.
    const std::set<std::string>& fields(const policy::Role& role) const;
    /// What the field may be. Calm: what such a field usually is.
    std::string draw(const policy::Role& role, const std::string& name, bool calm,
                     naive::Dice& dice) const;
    /// Every text of the policy that is compared with this field, and its neighbours.
    const std::vector<std::string>& of(const std::string& role, const std::string& name) const;

  private:
    void add(const policy::FieldRef& field);
    void add(const policy::Condition& condition, const std::string& role);
    void add(const std::vector<policy::Pattern>& patterns);
    void add(const policy::Text& text);

    const policy::Policy& policy_;
    std::map<std::string, std::set<std::string>> fields_;
    std::map<std::string, std::map<std::string, std::vector<std::string>>> constants_;
};

class RandomWorlds {
  public:
    /// The policy outlives it.
    RandomWorlds(const policy::Policy& policy, std::uint64_t seed);

    /// The same for all of its worlds: which sources there are, and the rules' times.
    const Settings& settings() const { return settings_; }
    const Values& values() const { return values_; }
    RandomWorld draw();

  private:
    using Wishes = std::map<std::string, Saying>;  ///< by role

    bool odd(std::size_t of) { return dice_.chance(calm_ ? 40 * of : of); }
    void add_settings();
    void add_sources(RandomWorld& world);
    void wish(const policy::Case& found);
    void wish(const policy::Pattern& pattern, bool so);
    void wish(const policy::Condition& condition, const std::string& role, bool so);
    void wish(const policy::Test& test, const std::string& role, bool so);
    void wish_compared(const policy::Test& test, const std::string& role, bool so);
    void wish_named(const std::string& name, const std::string& role, bool so);
    std::size_t how_many(const policy::Role& role);
    void add_facets(RandomWorld& world);
    void add_facet(Subject& subject, SourceId id, const std::string& object_id);
    Said say(const policy::Role& role, const std::string& name, const Saying& wished);
    void add_references(RandomWorld& world);
    void add_findings(RandomWorld& world);
    Ledger a_ledger();
    void make_keyless(RandomWorld& world);

    const policy::Policy& policy_;
    Values values_;
    naive::Dice dice_;
    Settings settings_;
    bool calm_ = false;
    Wishes wished_;
    std::map<std::string, std::size_t> there_;  ///< objects of each role that the case wants
};

}  // namespace trueup::testing
