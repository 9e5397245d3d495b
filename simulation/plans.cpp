// What may happen in a run, and the schedule that a seed makes of it.
#include "simulation/run.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

namespace trueup::simulation {

namespace {

constexpr Millis kCalmAtFirst{20'000};
constexpr unsigned kRareWeight = 3;  // of an act that a plan has and others do not

}  // namespace

namespace {

/// What may happen to any installation.
std::vector<Plan> usual_plans() {
    return {
        {"standard", "20 instances, 10 minutes, workload and faults for half of it"},
        {"workload", "the same without faults", 20, Millis{300'000}, Millis{480'000}, Millis{4'000},
         Millis{0}},
        {"faults", "the same without a workload", 20, Millis{300'000}, Millis{480'000}, Millis{0},
         Millis{5'000}},
        {.name = "calm",
         .about = "the standard one, but nobody writes between an executor's "
                  "look and its write",
         .races_forbidden = true},
        {.name = "budget",
         .about = "the standard one, with a budget of one command of a rule in 20 seconds",
         .rest = Millis{1'200'000},
         .budget = {1, 0, Millis{20'000}}},
    };
}

/// One unusual thing each, of servers or of somebody beside us.
std::vector<Plan> plans_of_servers() {
    return {
        {.name = "rewind",
         .about = "the standard one, with servers that are restored from backups and a journal "
                  "that loses its tail",
         .rest = Millis{1'200'000},  // what was lost may be more than a budget allows at once
         .with = {"restore-cluster", "lossy-fail-over", "lose-tail"},
         // An empty list cannot be told from an empty backup.
         .without = {"empty-list", "false-lists"}},
        {.name = "shards",
         .about = "the standard one with two shards, and asks while nothing",
         .shards = 2},
        {.name = "second-server",
         .about = "the standard one, with a second API server, which may be behind",
         .with = {"second-server-behind"},
         .second_server = true},
        {.name = "publication",
         .about = "the standard one, and the table is out of its publication for a while",
         .with = {"unpublish", "unpublish"}},
        {.name = "former",
         .about = "the standard one, and connectors and executors have the configuration of before "
                  "the key changed",
         .with = {"former-configuration", "former-configuration", "toctou"}},
        {.name = "labels",
         .about = "the standard one, with answers that lack the labels of pods",
         .with = {"bare-answers"}},
        {.name = "clusters",
         .about = "the standard one, and pods lie in two clusters, of a source each, and go from "
                  "one to the other",
         .with = {"start-west", "start-west", "recreate-in-other", "recreate-in-other"},
         // Of a few pods nobody can tell that a list lacks all of them.
         .without = {"empty-list", "false-lists", "short-page"},
         .clusters = true},
        {.name = "toctou",
         .about = "the standard one, and somebody changes what a command is about just then",
         .with = {"toctou"}},
    };
}

/// Every rule, a long time, and many at once.
std::vector<Plan> plans_of_more() {
    return {
        {.name = "rules",
         .about = "every rule, windows and approvals; owners and operators act "
                  "as well",
         .rest = Millis{720'000},
         .workload_every = Millis{8'000},
         .faults_every = Millis{14'000},
         // A row that was just written is not judged before its source has shown it.
         .settled_for = Millis{30'000},
         .every_rule = true,
         .operators_every = Millis{6'000},
         .counts = true},
        {.name = "retention",
         .about = "the standard one for 40 minutes, and the log forgets what is older than ten",
         .unrest = Millis{2'400'000},
         .workload_every = Millis{12'000},
         .faults_every = Millis{20'000},
         .with = {"broker-clock", "second-connector"},
         .forgets = Millis{600'000}},
        {.name = "crowd",
         .about = "many instances come and go, and many are to be ended at once",
         .rest = Millis{3'000'000},
         .faults_every = Millis{25'000},
         .with = {"come-and-go", "come-and-go", "many-orphans"},
         .budget = {1, 10, Millis{60'000}}},
        {.name = "fights",
         .about = "the standard one for 20 minutes, and somebody undoes what is done",
         .unrest = Millis{1'200'000},
         .workload_every = Millis{15'000},
         .faults_every = Millis{30'000},
         .with = {"fight", "fight", "approve-recurring"}},
    };
}

/// What people may do that nobody expects.
std::vector<Plan> plans_of_people() {
    return {
        {.name = "first",
         .about = "the standard one, but a source asks in the wrong place first: an empty "
                  "database, another one, one that is being restored, a selector with a typo",
         .rest = Millis{720'000},
         .counts = true,  // half of the world is half of what one shard sees
         .wrong_first = true},
        {.name = "names",
         .about = "every rule, with blank and odd names, and slugs that do not name the pod",
         .rest = Millis{720'000},
         .workload_every = Millis{10'000},
         .faults_every = Millis{20'000},
         .settled_for = Millis{30'000},
         .with = {"blank-name", "odd-name", "odd-slug", "odd-start"},
         .every_rule = true,
         .operators_every = Millis{6'000},
         .counts = true},
        {.name = "holds",
         .about = "the standard one, with holds in rows and on pods in all their spellings, and "
                  "longer",
         .unrest = Millis{540'000},
         .with = {"hold-row", "odd-hold"},
         .row_holds = true},
        {.name = "modes",
         .about = "rules are set to observe or off and back, engine by engine, while executors "
                  "are late",
         .rest = Millis{720'000},
         .with = {"change-mode", "change-mode", "change-mode-and-back", "late-executors"},
         .modes = true},
    };
}

/// What operators ask for, and what becomes of ends.
std::vector<Plan> plans_of_ends() {
    return {
        {.name = "words",
         .about = "every rule; operators whose host has another time, floods of requests, holds "
                  "and ends of what is not there yet",
         .rest = Millis{720'000},
         .workload_every = Millis{8'000},
         .faults_every = Millis{20'000},
         .settled_for = Millis{30'000},
         .with = {"host-clock", "flood", "hold-early", "end-early"},
         .every_rule = true,
         .operators_every = Millis{6'000},
         .counts = true},
        {.name = "endings",
         .about = "every rule, and many instances that end at once, of which something comes in "
                  "between each",
         .rest = Millis{1'200'000},
         .workload_every = Millis{12'000},
         .faults_every = Millis{25'000},
         .settled_for = Millis{30'000},
         .with = {"ten-deadlines", "two-deadlines", "last-words", "late-executors", "reinsert-row"},
         .every_rule = true,
         .operators_every = Millis{10'000},
         .budget = {1, 5, Millis{20'000}},
         .counts = true},
        {.name = "services",
         .about = "every rule; instances have services, whose source leaves the configuration and "
                  "comes back",
         .rest = Millis{1'200'000},
         .workload_every = Millis{12'000},
         .faults_every = Millis{25'000},
         .settled_for = Millis{30'000},
         .with = {"serve", "serve", "drop-source", "ten-deadlines", "two-deadlines"},
         .every_rule = true,
         .operators_every = Millis{6'000},
         .counts = true,
         .services = true},
    };
}

/// What there was none of is made.
std::vector<Plan> plans_of_making() {
    return {
        {.name = "creates",
         .about = "the standard one, and rows want pods, which are created from a template; others "
                  "take their names, delete what was made and take back what they wanted",
         .rest = Millis{900'000},
         .workload_every = Millis{4'000},
         .with = {"want-pod", "want-pod", "want-again", "start-wanted", "unwant", "take-name",
                  "undo-created", "undo-creations", "undo-creations"},
         .creates = true},
    };
}

}  // namespace

const std::vector<Plan>& plans() {
    static const std::vector<Plan> kPlans = [] {
        std::vector<Plan> all;
        for (const auto some : {usual_plans, plans_of_servers, plans_of_more, plans_of_people,
                                plans_of_ends, plans_of_making}) {
            std::vector<Plan> made = some();
            std::move(made.begin(), made.end(), std::back_inserter(all));
        }
        return all;
    }();
    return kPlans;
}

namespace {

const Plan* find_one(std::string_view name) {
    for (const Plan& plan : plans()) {
        if (plan.name == name) return &plan;
    }
    return nullptr;
}

/// The shorter one that is a time at all.
Millis sooner(Millis a, Millis b) {
    if (a == Millis{0} || b == Millis{0}) return std::max(a, b);
    return std::min(a, b);
}

/// All that happens in either of them.
Plan both(const Plan& a, const Plan& b) {
    const Plan standard;
    Plan plan = a;
    plan.name = a.name + "+" + b.name;
    plan.about = a.about + "; " + b.about;
    plan.subjects = std::max(a.subjects, b.subjects);
    plan.unrest = std::max(a.unrest, b.unrest);
    plan.rest = a.rest + b.rest;
    plan.workload_every = sooner(a.workload_every, b.workload_every);
    plan.faults_every = sooner(a.faults_every, b.faults_every);
    plan.operators_every = sooner(a.operators_every, b.operators_every);
    plan.settled_for = std::max(a.settled_for, b.settled_for);
    plan.with.insert(plan.with.end(), b.with.begin(), b.with.end());
    plan.without.insert(plan.without.end(), b.without.begin(), b.without.end());
    if (b.budget != standard.budget) plan.budget = b.budget;
    plan.shards = std::max(a.shards, b.shards);
    plan.races_forbidden |= b.races_forbidden;
    plan.every_rule |= b.every_rule;
    plan.second_server |= b.second_server;
    plan.counts |= b.counts;
    plan.wrong_first |= b.wrong_first;
    plan.modes |= b.modes;
    plan.row_holds |= b.row_holds;
    plan.services |= b.services;
    plan.clusters |= b.clusters;
    plan.creates |= b.creates;
    plan.forgets = sooner(a.forgets, b.forgets);
    plan.policies = a.policies != nullptr ? a.policies : b.policies;
    return plan;
}

/// What is counted is counted by each shard alone, so the policy of several asks for no count. Of a
/// second cluster that is empty nobody could tell that it is asked in the wrong place, and in which
/// of two a pod should be created nobody could say.
bool go_together(const Plan& a, const Plan& b) {
    const bool counted = (a.counts || b.counts) && std::max(a.shards, b.shards) > 1;
    const bool empty = (a.clusters || b.clusters) && (a.wrong_first || b.wrong_first);
    const bool either = (a.clusters || b.clusters) && (a.creates || b.creates);
    return !counted && !empty && !either;
}

}  // namespace

std::optional<Plan> find_plan(std::string_view name) {
    const std::size_t plus = name.find('+');
    const Plan* first = find_one(name.substr(0, plus));
    if (first == nullptr || plus == std::string_view::npos) {
        return first == nullptr ? std::nullopt : std::optional(*first);
    }
    const std::optional<Plan> others = find_plan(name.substr(plus + 1));
    if (!others || !go_together(*first, *others)) return std::nullopt;
    return both(*first, *others);
}

std::vector<Plan> pairs_of_plans() {
    std::vector<Plan> pairs;
    const std::vector<Plan>& all = plans();
    for (auto a = all.begin(); a != all.end(); ++a) {
        for (auto b = std::next(a); b != all.end(); ++b) {
            if (go_together(*a, *b)) pairs.push_back(both(*a, *b));
        }
    }
    return pairs;
}

Schedule make_schedule(std::uint64_t seed, const Plan& plan) {
    Random random(seed ^ 0xac75U);
    Schedule schedule;
    const std::pair<Actor, Millis> actors[] = {{Actor::kWorkload, plan.workload_every},
                                               {Actor::kMisfortune, plan.faults_every},
                                               {Actor::kOperators, plan.operators_every}};
    for (const auto& [actor, every] : actors) {
        if (every <= Millis{0}) continue;
        std::vector<const ActKind*> bag;
        for (const ActKind& kind : act_kinds()) {
            const auto named = [&](const std::vector<std::string_view>& list) {
                return static_cast<unsigned>(std::count(list.begin(), list.end(), kind.name));
            };
            if (kind.actor != actor || named(plan.without) != 0) continue;
            const unsigned rare = named(plan.with) * kRareWeight;
            bag.insert(bag.end(), rare != 0 ? rare : kind.weight, &kind);
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
