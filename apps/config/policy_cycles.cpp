#include "apps/config/policy_cycles.h"

#include "apps/config/policy_states.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace trueup::config {

namespace {

using policy::Quantifier;

/// What all searches together may still do.
struct Left {
    static constexpr std::size_t kMostStates = 200'000;
    static constexpr std::size_t kMostAlone = 800'000;  ///< by all cases that are looked at alone
    std::size_t states = kMostStates;
    std::size_t told = 20;  ///< nobody reads more of them

    bool any() const { return states > 0 && told > 0; }
    void spend(std::size_t some) { states -= std::min(states, some); }
};

bool is_now(const policy::Assigned& set) {
    return set.value && set.value->size() == 1 &&
           set.value->front().kind == policy::Piece::Kind::kNow;
}

/// `but_now`: to anything but a time of issue, which is not written where a row has all the rest.
bool sets(const policy::Case& found, const policy::FieldRef& field, bool but_now = false) {
    return std::any_of(found.steps.begin(), found.steps.end(), [&](const policy::Step& step) {
        return step.role == field.role &&
               std::any_of(step.sets.begin(), step.sets.end(), [&](const auto& set) {
                   return set.field == field.field && !(but_now && is_now(set));
               });
    });
}

/// Does it change what rules find?
bool changes(const policy::Case& found) {
    const auto bound = [&](const std::string& role) {
        return std::any_of(found.when.begin(), found.when.end(), [&](const auto& each) {
            return each.role == role && each.quantifier != Quantifier::kNone;
        });
    };
    return std::any_of(found.steps.begin(), found.steps.end(), [&](const policy::Step& step) {
        return policy::sets(step.verb) ? bound(step.role) : policy::changes(step.verb);
    });
}

/// Does doing it put off the deadline that it waited for?
bool puts_off(const policy::Case& found) {
    if (!found.past) return false;
    const auto* length = std::get_if<policy::FieldRef>(&found.past->length);
    return sets(found, found.past->from, true) || (length != nullptr && sets(found, *length, true));
}

/// A deletion of what is not there is behind it at once.
bool writes(const policy::Case& found) {
    return std::any_of(found.steps.begin(), found.steps.end(), [](const policy::Step& step) {
        return policy::sets(step.verb) || policy::makes(step.verb);
    });
}

class Search {
  public:
    Search(const policy::Policy& policy, std::vector<CaseAt> cases, Left& left,
           const std::function<void(const Cycle&)>& visit)
        : policy_(policy),
          cases_(std::move(cases)),
          alone_(cases_.size() == 1),
          left_(left),
          visit_(visit) {}

    /// False: there are too many states.
    bool run() {
        std::vector<const policy::Case*> asked;
        for (const CaseAt& at : cases_) asked.push_back(&case_at(at));
        // What the cases before them ask is part of the world, too, or they would find something in
        // a world that has nothing of it.
        std::vector<const policy::Case*> all = asked;
        for (const CaseAt& at : cases_) {
            for (std::size_t before = 0; before < at.index; ++before) {
                const policy::Case& earlier = case_at({at.rule, before});
                if (may_cover(earlier, case_at(at))) all.push_back(&earlier);
            }
        }
        const auto visit = [this](const World& world) { go_through(world); };
        const bool small = each_world(policy_, all, visit, true);
        // Of less of the world something is known, too, though not all of it.
        if (!small) (void)each_world(policy_, asked, visit, true);
        return small && left_.any();
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

    void go_through(const World& world) {
        left_.spend(1);
        if (!left_.any()) return;
        if (alone_) {  // of one it is enough that it may have found what it did
            const policy::Case& found = case_at(cases_.front());
            if (finds(found, world, Certainty::kFree)) go_from(after(policy_, found, world));
            return;
        }
        World from = world;
        forget_compared(from);
        go_from(from);
    }

    /// For certain. Of a case that is looked at alone a second object, or a reference, is taken to
    /// be as it wants it: that stays. Of several, one may want the opposite.
    bool finds(const policy::Case& found, const World& world,
               Certainty least = Certainty::kYes) const {
        return std::all_of(found.when.begin(), found.when.end(), [&](const policy::Pattern& each) {
            const policy::Role& role = *policy::find_role(policy_, each.role);
            if (role.reference) return alone_ && !sets(found, each.named);
            if (each.quantifier == Quantifier::kSurplus && !alone_) return false;
            const auto object = world.find(each.role);
            const bool there = object != world.end();
            if (!there) return each.quantifier == Quantifier::kNone;
            const Certainty one = certainty(policy_, each.condition, role, object->second);
            return (each.quantifier == Quantifier::kNone ? opposite(one) : one) >= least;
        });
    }

    /// Does a case before it find something already, whatever else there is?
    bool covered(const CaseAt& at, const World& world) const {
        const std::vector<policy::Case>& all = policy_.rules[at.rule].cases;
        return std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(at.index),
                           [&](const policy::Case& before) {
                               return may_cover(before, case_at(at)) && finds(before, world);
                           });
    }

    /// What is about nothing that is there finds nothing, and what takes away only what may not be
    /// there is behind it at once. What wants a second object, or a reference, to be as it asks
    /// finds something only where they are; of a case alone that is so where it wants the same.
    bool may_cover(const policy::Case& before, const policy::Case& found) const {
        if (before.duplicates || before.past) return false;
        const auto bound = [&](const std::string& role) {
            return std::any_of(before.when.begin(), before.when.end(), [&](const auto& each) {
                return each.role == role && each.quantifier != Quantifier::kNone;
            });
        };
        const bool about_something =
            std::any_of(before.when.begin(), before.when.end(),
                        [](const auto& each) { return each.quantifier != Quantifier::kNone; });
        const bool does =
            std::any_of(before.steps.begin(), before.steps.end(), [&](const policy::Step& step) {
                const auto effect = policy::effect_of(step.verb);
                return effect != policy::Effect::kRemoves || bound(step.role);
            });
        return about_something && does &&
               std::all_of(before.when.begin(), before.when.end(), [&](const auto& each) {
                   const bool by_itself = each.quantifier != Quantifier::kSurplus &&
                                          !policy::find_role(policy_, each.role)->reference;
                   return by_itself || (alone_ && !sets(found, each.named) && asks(found, each));
               });
    }
    static bool asks(const policy::Case& found, const policy::Pattern& pattern) {
        return std::find(found.when.begin(), found.when.end(), pattern) != found.when.end();
    }

    static std::string key_of(const World& world) {
        std::string key;
        for (const auto& [role, values] : world) {
            key += role + '{';
            for (const auto& [field, value] : values) {
                key += field + '=' + static_cast<char>('0' + static_cast<int>(value.kind)) +
                       (value.open ? "\x04" : "") + value.constant;
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
    void go_from(const World& begin) {
        std::vector<Step> way;
        enter(begin, way);
        while (!way.empty()) {
            Step& here = way.back();
            if (here.next == cases_.size() || !left_.any()) {
                gone_.insert(here.key);
                on_the_way_.erase(here.key);
                way.pop_back();
                continue;
            }
            here.by = cases_[here.next++];
            const policy::Case& found = case_at(here.by);
            if (!finds(found, here.world) || covered(here.by, here.world)) continue;
            const World then = after(policy_, found, here.world);
            const std::string key = key_of(then);
            if (on_the_way_.count(key) != 0) {
                tell(way, key);
            } else {
                enter(then, way);
            }
        }
    }

    void enter(const World& world, std::vector<Step>& way) {
        std::string key = key_of(world);
        left_.spend(1);
        if (gone_.count(key) != 0 || !left_.any()) return;
        on_the_way_.insert(key);
        way.push_back({world, std::move(key), 0, {}});
    }

    void tell(const std::vector<Step>& way, const std::string& key) {
        auto from =
            std::find_if(way.begin(), way.end(), [&](const Step& step) { return step.key == key; });
        Cycle cycle;
        for (; from != way.end(); ++from) cycle.push_back(from->by);
        left_.spend(cycle.size());
        const auto by_place = [](const CaseAt& a, const CaseAt& b) {
            return std::tie(a.rule, a.index) < std::tie(b.rule, b.index);
        };
        std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end(), by_place),
                    cycle.end());
        const bool some = std::any_of(cycle.begin(), cycle.end(),
                                      [&](const CaseAt& at) { return writes(case_at(at)); });
        if (some) visit_(cycle);
    }

    const policy::Policy& policy_;
    const std::vector<CaseAt> cases_;
    const bool alone_;
    Left& left_;
    const std::function<void(const Cycle&)>& visit_;
    std::set<std::string> on_the_way_;
    std::set<std::string> gone_;  ///< every way from there
};

/// Each circle once, by its cases.
class Told {
  public:
    Told(Left& left, const std::function<void(const Cycle&)>& visit) : left_(left), visit_(visit) {}

    void operator()(const Cycle& cycle) {
        std::set<std::pair<std::size_t, std::size_t>> of;
        for (const CaseAt& at : cycle) of.insert({at.rule, at.index});
        if (left_.told == 0 || !told_.insert(std::move(of)).second) return;
        --left_.told;
        visit_(cycle);
    }

  private:
    Left& left_;
    const std::function<void(const Cycle&)>& visit_;
    std::set<std::set<std::pair<std::size_t, std::size_t>>> told_;
};

}  // namespace

bool each_cycle(const policy::Policy& policy, const std::function<void(const Cycle&)>& visit) {
    std::vector<CaseAt> alone;
    std::vector<CaseAt> eager;  // that wait for no deadline, either
    for (std::size_t rule = 0; rule < policy.rules.size(); ++rule) {
        const policy::Rule& each = policy.rules[rule];
        if (!each.requested.empty() || !each.backoff.empty()) continue;
        for (std::size_t index = 0; index < each.cases.size(); ++index) {
            const policy::Case& found = each.cases[index];
            if (found.duplicates || !changes(found) || puts_off(found)) continue;
            alone.push_back({rule, index});
            if (!found.past) eager.push_back({rule, index});
        }
    }
    Left left;
    Told told(left, visit);
    const std::function<void(const Cycle&)> once = [&told](const Cycle& cycle) { told(cycle); };
    bool all = true;
    left.states = Left::kMostAlone;
    for (const CaseAt& one : alone) {
        if (!left.any()) break;
        all = Search(policy, {one}, left, once).run() && all;
    }
    all = all && left.any();
    left.states = Left::kMostStates;
    if (eager.size() > 1 && left.any() && !Search(policy, eager, left, once).run()) {
        all = false;
        left.states = Left::kMostStates;
        for (std::size_t one = 0; one < eager.size(); ++one) {
            for (std::size_t other = one + 1; other < eager.size() && left.any(); ++other) {
                (void)Search(policy, {eager[one], eager[other]}, left, once).run();
            }
        }
    }
    return all || left.told == 0;
}

}  // namespace trueup::config
