#include "apps/config/policy_cycles.h"

#include "apps/config/policy_states.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace trueup::config {

namespace {

using policy::Quantifier;
using policy::Verb;

/// How many states all searches go through together.
constexpr std::size_t kMostStates = 300'000;

/// Does it change what rules find?
bool changes(const policy::Case& found) {
    const auto bound = [&](const std::string& role) {
        return std::any_of(found.when.begin(), found.when.end(), [&](const auto& each) {
            return each.role == role && each.quantifier != Quantifier::kNone;
        });
    };
    return std::any_of(found.steps.begin(), found.steps.end(), [&](const policy::Step& step) {
        if (step.verb == Verb::kUpdate) return bound(step.role);
        return step.verb != Verb::kReport && step.verb != Verb::kVerify &&
               step.verb != Verb::kFollow;
    });
}

/// Does doing it put off the deadline that it waited for?
bool puts_off(const policy::Case& found) {
    if (!found.past) return false;
    const auto sets = [&](const policy::FieldRef& field) {
        return std::any_of(found.steps.begin(), found.steps.end(), [&](const policy::Step& step) {
            return step.role == field.role &&
                   std::any_of(step.sets.begin(), step.sets.end(),
                               [&](const auto& set) { return set.field == field.field; });
        });
    };
    const auto* length = std::get_if<policy::FieldRef>(&found.past->length);
    return sets(found.past->from) || (length != nullptr && sets(*length));
}

class Search {
  public:
    Search(const policy::Policy& policy, std::vector<CaseAt> cases, std::size_t& states,
           const std::function<void(const Cycle&)>& visit)
        : policy_(policy), cases_(std::move(cases)), states_(states), visit_(visit) {}

    /// False: there are too many states.
    bool run() {
        std::vector<const policy::Case*> asked;
        for (const CaseAt& at : cases_) asked.push_back(&case_at(at));
        bool all = true;
        const bool small =
            each_world(policy_, asked, [&](const World& world) { all = all && go_from(world); });
        return small && all;
    }

  private:
    struct Step {
        World world;
        std::string key;
        std::size_t next = 0;  ///< of `cases_`: not tried yet
        CaseAt by{};           ///< that leads on from here
    };

    const policy::Case& case_at(const CaseAt& at) const {
        return policy_.rules[at.rule].cases[at.index];
    }

    /// For certain. A second object, or a reference, is taken to be as the case wants it: it stays.
    bool finds(const policy::Case& found, const World& world) const {
        return std::all_of(found.when.begin(), found.when.end(), [&](const policy::Pattern& each) {
            const policy::Role& role = *policy::find_role(policy_, each.role);
            if (role.reference) return true;
            const auto object = world.find(each.role);
            const bool there = object != world.end();
            if (each.quantifier == Quantifier::kNone) {
                return !there ||
                       certainty(policy_, each.condition, role, object->second) == Certainty::kNo;
            }
            return there &&
                   certainty(policy_, each.condition, role, object->second) == Certainty::kYes;
        });
    }

    /// Does a case before it find something already?
    bool covered(const CaseAt& at, const World& world) const {
        const std::vector<policy::Case>& all = policy_.rules[at.rule].cases;
        return std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(at.index),
                           [&](const policy::Case& before) {
                               return !before.duplicates && !before.past && finds(before, world);
                           });
    }

    static std::string key_of(const World& world) {
        std::string key;
        for (const auto& [role, values] : world) {
            key += role + '{';
            for (const auto& [field, value] : values) {
                key += field + '=' + static_cast<char>('0' + static_cast<int>(value.kind)) +
                       value.constant;
                for (const policy::Piece& piece : value.text) {
                    key += '\x02' + piece.literal + piece.field.role + '.' + piece.field.field;
                }
                key += '\x03';
            }
            key += '}';
        }
        return key;
    }

    /// Every way from there, until it comes to where somebody was already.
    bool go_from(const World& begin) {
        std::vector<Step> way;
        if (!enter(begin, way)) return states_ <= kMostStates;
        while (!way.empty()) {
            Step& here = way.back();
            if (here.next == cases_.size()) {
                left_.insert(here.key);
                on_the_way_.erase(here.key);
                way.pop_back();
                continue;
            }
            here.by = cases_[here.next++];
            const policy::Case& found = case_at(here.by);
            if (!finds(found, here.world) || covered(here.by, here.world)) continue;
            const World then = after(found, here.world);
            const std::string key = key_of(then);
            if (on_the_way_.count(key) != 0) {
                tell(way, key);
            } else if (!enter(then, way) && states_ > kMostStates) {
                return false;
            }
        }
        return true;
    }

    bool enter(const World& world, std::vector<Step>& way) {
        std::string key = key_of(world);
        if (left_.count(key) != 0 || ++states_ > kMostStates) return false;
        on_the_way_.insert(key);
        way.push_back({world, std::move(key), 0, {}});
        return true;
    }

    void tell(const std::vector<Step>& way, const std::string& key) {
        auto from =
            std::find_if(way.begin(), way.end(), [&](const Step& step) { return step.key == key; });
        Cycle cycle;
        for (; from != way.end(); ++from) cycle.push_back(from->by);
        const auto by_place = [](const CaseAt& a, const CaseAt& b) {
            return std::tie(a.rule, a.index) < std::tie(b.rule, b.index);
        };
        std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end(), by_place),
                    cycle.end());
        // A deletion of what is not there is behind it at once.
        const bool writes = std::any_of(cycle.begin(), cycle.end(), [&](const CaseAt& at) {
            const auto& steps = case_at(at).steps;
            return std::any_of(steps.begin(), steps.end(), [](const policy::Step& step) {
                return step.verb == Verb::kUpdate || step.verb == Verb::kInsert ||
                       step.verb == Verb::kCreate;
            });
        });
        if (writes) visit_(cycle);
    }

    const policy::Policy& policy_;
    const std::vector<CaseAt> cases_;
    std::size_t& states_;
    const std::function<void(const Cycle&)>& visit_;
    std::set<std::string> on_the_way_;
    std::set<std::string> left_;  ///< every way from there was gone
};

}  // namespace

bool each_cycle(const policy::Policy& policy, const std::function<void(const Cycle&)>& visit) {
    std::vector<CaseAt> cases;
    for (std::size_t rule = 0; rule < policy.rules.size(); ++rule) {
        const policy::Rule& each = policy.rules[rule];
        if (!each.requested.empty() || !each.backoff.empty()) continue;
        for (std::size_t index = 0; index < each.cases.size(); ++index) {
            const policy::Case& found = each.cases[index];
            if (!found.duplicates && changes(found) && !puts_off(found)) {
                cases.push_back({rule, index});
            }
        }
    }
    std::set<std::set<std::pair<std::size_t, std::size_t>>> told;
    const std::function<void(const Cycle&)> once = [&](const Cycle& cycle) {
        std::set<std::pair<std::size_t, std::size_t>> of;
        for (const CaseAt& at : cycle) of.insert({at.rule, at.index});
        if (told.insert(std::move(of)).second) visit(cycle);
    };
    std::size_t states = 0;
    if (Search(policy, cases, states, once).run()) return true;
    states = 0;
    for (std::size_t one = 0; one < cases.size(); ++one) {
        for (std::size_t other = one; other < cases.size(); ++other) {
            std::vector<CaseAt> few{cases[one]};
            if (other != one) few.push_back(cases[other]);
            (void)Search(policy, few, states, once).run();
        }
    }
    return false;
}

}  // namespace trueup::config
