// What may happen in a run, and the schedule that a seed makes of it.
#include "simulation/run.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace trueup::simulation {

namespace {

constexpr Millis kCalmAtFirst{20'000};
constexpr unsigned kRareWeight = 3;  // of an act that a plan has and others do not

}  // namespace

const std::vector<Plan>& plans() {
    static const std::vector<Plan> kPlans{
        {"standard", "20 instances, 10 minutes, people and faults for half of it"},
        {"people", "the same without faults", 20, Millis{300'000}, Millis{480'000}, Millis{4'000},
         Millis{0}},
        {"faults", "the same without people", 20, Millis{300'000}, Millis{480'000}, Millis{0},
         Millis{5'000}},
        {.name = "calm",
         .about = "the standard one, but nobody writes between an executor's "
                  "look and its write",
         .races_forbidden = true},
        {.name = "budget",
         .about = "the standard one, with a budget of one command of a rule in 20 seconds",
         .rest = Millis{1'200'000},
         .budget = {1, 0, Millis{20'000}}},
        {.name = "rewind",
         .about = "the standard one, with servers that are restored from backups and a journal "
                  "that loses its tail",
         .rest = Millis{1'200'000},  // what was lost may be more than a budget allows at once
         .with = {"restore-cluster", "lossy-fail-over", "lose-tail"},
         // An empty list cannot be told from an empty backup.
         .without = {"empty-list", "false-lists"}},
        {.name = "shards", .about = "the standard one, with two shards", .shards = 2},
        {.name = "second-server",
         .about = "the standard one, with a second API server, which may be behind",
         .with = {"second-server-behind"},
         .second_server = true},
        {.name = "labels",
         .about = "the standard one, with answers that lack the labels of pods",
         .with = {"bare-answers"}},
        {.name = "ambush",
         .about = "the standard one, and somebody changes what a command is about just then",
         .with = {"ambush"}},
        {.name = "rules",
         .about = "every rule, windows and approvals; owners and operators act "
                  "as well",
         .rest = Millis{720'000},
         .people_every = Millis{8'000},
         .faults_every = Millis{14'000},
         // A row that was just written is not judged before its source has shown it.
         .settled_for = Millis{30'000},
         .every_rule = true,
         .owners_every = Millis{6'000}},
    };
    return kPlans;
}

const Plan* find_plan(std::string_view name) {
    const auto& all = plans();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Plan& plan) { return plan.name == name; });
    return found == all.end() ? nullptr : &*found;
}

Schedule make_schedule(std::uint64_t seed, const Plan& plan) {
    Random random(seed ^ 0xac75U);
    Schedule schedule;
    const std::pair<Actor, Millis> actors[] = {{Actor::kPeople, plan.people_every},
                                               {Actor::kMisfortune, plan.faults_every},
                                               {Actor::kOwners, plan.owners_every}};
    for (const auto& [actor, every] : actors) {
        if (every <= Millis{0}) continue;
        std::vector<const ActKind*> bag;
        for (const ActKind& kind : act_kinds()) {
            const auto names = [&](const std::vector<std::string_view>& list) {
                return std::find(list.begin(), list.end(), kind.name) != list.end();
            };
            if (kind.actor != actor || names(plan.without)) continue;
            bag.insert(bag.end(), names(plan.with) ? kRareWeight : kind.weight, &kind);
        }
        Millis at = kCalmAtFirst;
        while ((at += random.between(Millis{0}, 2 * every)) < plan.unrest) {
            const ActKind* kind = bag[random.below(bag.size())];
            schedule.push_back({at, kind, random.next()});
        }
    }
    std::stable_sort(schedule.begin(), schedule.end(),
                     [](const ScheduledAct& a, const ScheduledAct& b) { return a.at < b.at; });
    return schedule;
}

std::string to_text(const ScheduledAct& act) {
    char line[96];
    std::snprintf(line, sizeof line, "%8.3f %.*s %016llx",
                  static_cast<double>(act.at.count()) / 1000.0,
                  static_cast<int>(act.kind->name.size()), act.kind->name.data(),
                  static_cast<unsigned long long>(act.draw));
    return line;
}

}  // namespace trueup::simulation
