// The engine's evaluation of a policy and the naive reader of its text, held against each other
// over one world.
#pragma once

#include "engine/core/evaluate.h"
#include "tests/naive/naive_policy.h"
#include "tests/scenarios/random_world.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace trueup::testing {

/// How often the rules said what.
struct Shares {
    std::size_t healthy = 0, abstains = 0, waits = 0, acts = 0;
    std::map<std::string, std::size_t> by;     ///< reason, or `act VERB`
    std::map<std::string, std::size_t> acted;  ///< by rule
    std::size_t counted = 0;                   ///< subjects that add to some count
    std::size_t ended = 0;                     ///< ledgers with an end in them

    std::size_t all() const { return healthy + abstains + waits + acts; }
    std::string told() const;
};

/// One world as the engine looks at it.
class Looked {
  public:
    /// All of it outlives this.
    Looked(const core::Plan& plan, const Settings& settings, const RandomWorld& world);

    core::Decision decide(std::size_t rule) const;
    core::Judgement on(std::size_t rule) const;
    const core::Facts& facts() const { return facts_; }

  private:
    const core::Plan& plan_;
    const Settings& settings_;
    const RandomWorld& world_;
    core::References beside_;
    core::Facts facts_;
};

naive::Moment moment_of(const policy::Policy& text, const Settings& settings,
                        const RandomWorld& world, const core::References& beside, std::size_t rule);

/// What the engine, by this plan, says otherwise than the text means: of its rules, of what a
/// command rests on, its counts, or its ledger. Empty: nothing.
std::string disagreement(const policy::Policy& text, const core::Plan& plan,
                         const Settings& settings, const RandomWorld& world, Shares& shares);

/// The number of the environment variable; `usual` where it is not set.
std::size_t as_told(const char* variable, std::size_t usual);

}  // namespace trueup::testing
