// Random policies that a reader of texts would take: roles of each kind, fields of each type,
// nested and named conditions, patterns of each quantifier, cases, deadlines, references, scopes,
// counts, ledgers, requests. What they mean makes no sense to anybody; that two readers of them
// mean the same is what they are for.
#pragma once

#include "engine/model/rule.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace trueup::testing::naive {

/// Equal seeds throw the same.
class Dice {
  public:
    explicit Dice(std::uint64_t seed) : random_(seed) {}

    /// From 0 up to, not with, `end`; above 0.
    std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_() % end); }
    /// Once in `of`.
    bool chance(std::size_t of) { return below(of) == 0; }
    template <typename All>
    const auto& of(const All& all) {
        return all[below(all.size())];
    }

  private:
    std::mt19937_64 random_;
};

/// A field that a condition may ask for: declared, or built in.
struct Askable {
    std::string name;
    policy::Field::Type type = policy::Field::Type::kText;
    std::vector<std::string> words;
};
std::vector<Askable> askable(const policy::Policy& policy, const policy::Role& role);

/// Texts that mean something to these policies: of fields, scopes and references.
const std::vector<std::string>& usual_texts();
const std::vector<std::string>& usual_scopes();

policy::Policy random_policy(std::uint64_t seed);

}  // namespace trueup::testing::naive
