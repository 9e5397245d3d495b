#include "apps/config/policy_overlaps.h"

#include "apps/config/policy_states.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace trueup::config {

namespace {

constexpr std::size_t kMostWorlds = 200'000;  // that all pairs together may look at
constexpr std::size_t kTooMany = 20'000;      // worlds that finding out of too many is worth
constexpr std::size_t kPair = 10;             // worlds that the beginning of one pair is worth

/// Both leave the object as the other one would.
bool alike(const policy::Step& one, const policy::Step& other) {
    return (policy::takes_away(one.verb) && policy::takes_away(other.verb)) || one == other;
}

/// A step that reads, or reports, is none that another one could cross.
bool changes(const policy::Step& step) {
    return policy::takes_away(step.verb) || policy::sets(step.verb) || policy::makes(step);
}

/// Does it write a field otherwise that the other one writes, or take away what that one keeps?
bool crosses(const policy::Step& one, const policy::Step& other) {
    if (one.role != other.role || !changes(one) || !changes(other) || alike(one, other)) {
        return false;
    }
    if (!policy::sets(one.verb) || !policy::sets(other.verb)) return true;
    return std::any_of(one.sets.begin(), one.sets.end(), [&](const policy::Assigned& set) {
        return std::any_of(other.sets.begin(), other.sets.end(), [&](const auto& theirs) {
            return theirs.field == set.field && !(theirs == set);
        });
    });
}

class Pairs {
  public:
    explicit Pairs(const policy::Policy& policy) : policy_(policy) {}

    std::vector<Overlap> run() && {
        std::vector<Overlap> all;
        for (std::size_t rule = 0; rule < policy_.rules.size(); ++rule) {
            for (std::size_t other = rule + 1; other < policy_.rules.size(); ++other) {
                if (auto found = between(rule, other)) all.push_back(std::move(*found));
            }
        }
        return all;
    }

  private:
    std::optional<Overlap> between(std::size_t rule, std::size_t other) {
        const policy::Rule& one = policy_.rules[rule];
        const policy::Rule& two = policy_.rules[other];
        std::optional<Overlap> found;
        if (!one.requested.empty() || !two.requested.empty()) return found;
        for (std::size_t i = 0; i < one.cases.size(); ++i) {
            for (std::size_t j = 0; j < two.cases.size(); ++j) {
                if (!one.cases[i].acts() || !two.cases[j].acts()) continue;
                const policy::Step& first = one.cases[i].steps.front();
                const bool same = crosses(first, two.cases[j].steps.front());
                if ((found && !same) || !both(one, i, two, j)) continue;
                found = Overlap{rule, i, other, j, same ? first.role : std::string()};
                if (same) return found;
            }
        }
        return found;
    }

    /// Is it the first case of its rule that finds something there?
    bool finds(const policy::Rule& rule, std::size_t index, const World& world) const {
        if (certainty(policy_, rule.cases[index], world) != Certainty::kYes) return false;
        for (std::size_t i = 0; i < index; ++i) {
            const policy::Case& before = rule.cases[i];
            if (!before.past && certainty(policy_, before, world) == Certainty::kYes) return false;
        }
        return true;
    }

    bool both(const policy::Rule& one, std::size_t i, const policy::Rule& two, std::size_t j) {
        bool found = false;
        if (left_ == 0) return found;
        left_ -= std::min(left_, kPair);
        const bool small =
            each_world(policy_, {&one.cases[i], &two.cases[j]}, [&](const World& world) {
                left_ -= std::min(left_, std::size_t{1});
                found = found || (finds(one, i, world) && finds(two, j, world));
            });
        if (!small) left_ -= std::min(left_, kTooMany);
        return found;
    }

    const policy::Policy& policy_;
    std::size_t left_ = kMostWorlds;
};

}  // namespace

std::vector<Overlap> overlaps(const policy::Policy& policy) { return Pairs(policy).run(); }

}  // namespace trueup::config
