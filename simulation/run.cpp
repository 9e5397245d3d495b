#include "simulation/run.h"

#include "apps/sandbox_wiring.h"
#include "engine/codec/command_codec.h"
#include "engine/codec/journal_codec.h"
#include "engine/codec/request_codec.h"
#include "engine/core/fold.h"
#include "engine/core/policy.h"
#include "engine/runtime/projection.h"
#include "projections/memory_store.h"
#include "simulation/staging.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

namespace trueup::simulation {

namespace {

constexpr std::size_t kEngines = 2;
constexpr Millis kSilence{60'000};
constexpr Millis kLook{1'000};
constexpr Millis kVouchEvery{60'000};
constexpr Millis kCalmAtFirst{20'000};
constexpr unsigned kRareWeight = 3;  // of an act that a plan has and others do not

/// Nine minutes of ten.
std::vector<Window> windows() {
    std::vector<Window> open;
    for (int ten = 0; ten < 24 * 6; ++ten) {
        // The seventh minute is closed: from the eighth on, over the hour, to the seventh.
        const int from = ten == 0 ? 0 : ten * 10 - 3;
        open.push_back(
            {0x7f, static_cast<std::uint16_t>(from), static_cast<std::uint16_t>(ten * 10 + 6)});
    }
    open.push_back({0x7f, 24 * 60 - 3, 24 * 60});
    return open;
}

/// The rules as the example configuration has them, with budgets that are felt.
Settings policy(const Plan& plan) {
    Settings settings =
        core::usual_settings("graph-instances", plan.every_rule ? Mode::kEnforce : Mode::kOff);
    for (const char* rule : {"orphaned_pod", "missing_pod", "status_drift"}) {
        core::rule_settings(settings, rule).mode = Mode::kEnforce;
    }
    if (plan.every_rule) {
        RuleSettings& stuck = core::rule_settings(settings, "stuck_transition");
        stuck.mode = Mode::kApprove;
        stuck.grace = Millis{60'000};
        settings.windows = windows();
    }
    for (RuleSettings& rule : settings.rules) rule.budget = plan.budget;
    settings.max_skew = Millis{1'000};
    return settings;
}

sandbox::WorldSettings world_settings() {
    sandbox::WorldSettings settings;
    settings.block_in_poll = false;
    settings.evaluate_key = apps::evaluate_key;
    return settings;
}

const codec::KeyRing& keys() {
    static const codec::KeyRing kKeys(
        std::vector<codec::Key>{{"simulated", "what the simulated processes share"}});
    return kKeys;
}

HouseSettings house_settings(const Plan& plan) {
    HouseSettings settings{.policy = policy(plan)};
    if (plan.every_rule) {
        settings.columns = {"owner_username", "created_at", "ttl", "last_activity_at",
                            "inactivity_timeout"};
    }
    return settings;
}

/// All that one run consists of, in the order in which it can go again.
class Run {
  public:
    Run(std::uint64_t seed, const Plan& plan, const Schedule& schedule, Story* story)
        : plan_(plan),
          story_(story),
          scheduler_(seed ^ 0x5c4edU),
          broker_(scheduler_, seed ^ 0xb40ceU),
          network_{scheduler_, Random(seed ^ 0x4e7U)},
          history_(world_settings()),
          oracles_(scheduler_, history_),
          world_(seed, scheduler_, world_settings()),
          operators_(broker_, life_of_operators_, {}, [] {}),
          around_{scheduler_, broker_,
                  network_,   world_,
                  oracles_,   Random(seed ^ 0x40e5U),
                  keys(),     house_settings(plan)},
          house_(around_),
          stage_{scheduler_, world_,   history_,   broker_, network_,
                 house_,     oracles_, operators_, keys()} {
        oracles_.races_forbidden = plan.races_forbidden;
        oracles_.every_rule = plan.every_rule;
        world_.observe([this](const std::vector<sandbox::Record>& act) { happened(act); });
        broker_.observe([this](ports::Partition at, const Broker::Record& record) {
            if (at.topic == Topic::kCommands) see_command(at, record);
            if (at.topic == Topic::kRequests) see_request(record);
            if (story_ != nullptr) story_->stored(scheduler_.since(), at, record);
        });
        populate(stage_, plan.subjects);
        for (const ScheduledAct& act : schedule) {
            scheduler_.at(scheduler_.steady_now() + act.at, [this, act] {
                without_race(stage_, [this, act] {
                    Random random(act.draw);
                    if (!stage_.over) act.kind->carry_out(stage_, random);
                });
            });
        }
    }

    Report carry_out() {
        scheduler_.run_until(plan_.unrest);
        while (plan_.races_forbidden && oracles_.may_write_still()) {
            scheduler_.run_until(scheduler_.since() + kLook);
        }
        make_peace(stage_);
        const Millis since = scheduler_.since();
        Report report;
        const bool settled = settle(plan_.rest);
        report.settled = scheduler_.since() - since;
        if (!settled) oracles_.violate("repaired", "something is open still: " + open());
        judge_rest();
        report.violations = oracles_.violations();
        report.simulated = scheduler_.since();
        report.records = broker_.records({Topic::kJournal, 0}).size();
        report.commands = commands().size();
        report.effects = oracles_.effects();
        report.races = oracles_.races();
        report.events = scheduler_.events();
        for (const auto& record : broker_.records({Topic::kJournal, 0})) {
            trace_ = combine(
                trace_,
                hash128(record->value, static_cast<std::uint64_t>(to_millis(record->append_time))));
        }
        report.trace = trace_;
        return report;
    }

  private:
    void see_command(ports::Partition at, const Broker::Record& record) {
        if (record.value.empty()) return;  // a heartbeat
        if (const auto command = codec::decode_command(record.value)) {
            oracles_.given(*command,
                           broker_.stored_at({Topic::kJournal, at.index}, command->issued));
        }
    }

    void see_request(const Broker::Record& record) {
        const auto request = codec::decode_request(record.value);
        const bool meant = request && request->id.hi == kMeant;
        if (meant && seen_.insert(request->id).second) oracles_.consent().asked(*request);
        // One that comes late may end what was asked for after it.
        const bool ends =
            request && (request->kind == RequestKind::kResume ||
                        (request->kind == RequestKind::kRelease && request->scope.source.empty()));
        if (ends) unbind(stage_, Oracles::bound_by(request->scope));
    }

    void happened(const std::vector<sandbox::Record>& act) {
        if (story_ != nullptr) story_->happened(scheduler_.since(), act);
        oracles_.act(act);
        trace_ =
            combine(trace_, {act.size(), static_cast<std::uint64_t>(scheduler_.since().count())});
        scheduler_.after(Millis{0}, [this] { house_.world_changed(); });
    }

    bool settle(Millis at_most) {
        const Millis end = scheduler_.since() + at_most;
        house_.begin_rest();
        Millis since = scheduler_.since();
        while (scheduler_.since() - since < plan_.settled_for) {
            if (scheduler_.since() >= end) return false;
            scheduler_.run_until(scheduler_.since() + kLook);
            if (scheduler_.since() % kVouchEvery < kLook) {
                vouch(stage_);
                if (plan_.every_rule) approve(stage_);
            }
            if (!house_.settled()) since = scheduler_.since();
        }
        return true;
    }

    /// Everything that can be said once nothing happens any more.
    void judge_rest() {
        oracles_.judge_world([this](const std::string& name) { return house_.view_of(name); });
        const std::size_t before = commands().size();
        scheduler_.run_until(scheduler_.since() + kSilence);
        const std::vector<Command> all = commands();
        oracles_.judge_silence({all.begin() + static_cast<std::ptrdiff_t>(before), all.end()});
        const Budget budget = policy(plan_).rules.front().budget;
        oracles_.judge_budget(all, budget, largest_population());
        judge_replay();
        if (!stage_.tail_lost) oracles_.judge_refused(around_.refusals, around_.refused);
    }

    std::uint64_t largest_population() const { return plan_.subjects + stage_.names; }

    std::vector<Command> commands() {
        std::vector<Command> all;
        for (const auto& record : broker_.records({Topic::kCommands, 0})) {
            if (record->value.empty()) continue;  // a heartbeat
            auto command = codec::decode_command(record->value);
            if (command) all.push_back(std::move(*command));
        }
        return all;
    }

    std::string open() const { return house_.trouble(); }

    /// O7: the journal is folded once more, and looked at where each engine stopped.
    void judge_replay() {
        const std::vector<House::Image> images = house_.stop_engines();
        if (images.size() != kEngines) oracles_.violate("replay", "an engine does not run");
        projections::MemoryStore store;
        runtime::Projection projection(store, 0, std::launch::deferred);
        core::State state(projection);
        core::FoldReport folded;
        JournalView view;
        std::vector<core::Parked> parked;
        for (const auto& record : broker_.records({Topic::kJournal, 0})) {
            const Status decoded =
                codec::decode_journal(record->value, record->offset, record->append_time, view);
            if (!decoded) return oracles_.violate("replay", decoded.error().what);
            folded.clear();
            core::fold(state, view, folded);
            std::move(folded.parked.begin(), folded.parked.end(), std::back_inserter(parked));
            for (const House::Image& image : images) {
                if (image.applied != record->offset) continue;
                (void)projection.write_behind(state, parked);
                (void)projection.settle();
                oracles_.judge_replay(image.engine, *image.rows, rows_of(store));
            }
        }
        judge_projection(state);
    }

    static Disk::Rows rows_of(ports::Store& store) {
        Disk::Rows rows;
        (void)store.each({}, {}, std::size_t{1} << 30U,
                         [&](std::string_view key, std::string_view value) {
                             rows.emplace_hint(rows.end(), key, value);
                             return true;
                         });
        return rows;
    }

    void judge_projection(const core::State& state) {
        std::set<std::string> believed;
        state.subjects.each_cached([&](const Subject& subject) {
            for (const Facet& facet : subject.facets) {
                if (facet.absence == Absence::kPresent) believed.insert(facet.object_id);
            }
        });
        oracles_.judge_projection(believed);
    }

    const Plan& plan_;
    Story* const story_;  ///< nullptr: nobody wants to know
    Scheduler scheduler_;
    Broker broker_;
    Network network_;
    History history_;
    Oracles oracles_;
    sandbox::World world_;
    Lifeline life_of_operators_;
    Broker::Client operators_;
    Surroundings around_;
    House house_;
    Stage stage_;
    Hash128 trace_;
    std::set<Hash128> seen_;  ///< requests
};

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
         .without = {"empty-list"}},
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

Report run(std::uint64_t seed, const Plan& plan, const Schedule& schedule, Story* story) {
    return Run(seed, plan, schedule, story).carry_out();
}

Schedule shrink(std::uint64_t seed, const Plan& plan, const Schedule& schedule, int most) {
    const auto first = [&](const Schedule& tried) {
        const Report report = run(seed, plan, tried);
        return report.good() ? std::string() : report.violations.front().oracle;
    };
    Schedule best = schedule;
    const std::string wanted = first(best);
    // Leaves out halves, then quarters, and so on, down to single acts.
    for (std::size_t part = std::max<std::size_t>(best.size() / 2, 1); most > 0; part /= 2) {
        for (std::size_t from = 0; from < best.size() && most > 0;) {
            Schedule tried = best;
            const auto begin = tried.begin() + static_cast<std::ptrdiff_t>(from);
            tried.erase(begin,
                        begin + static_cast<std::ptrdiff_t>(std::min(part, best.size() - from)));
            --most;
            if (first(tried) == wanted) {
                best = std::move(tried);
            } else {
                from += part;
            }
        }
        if (part <= 1) break;
    }
    return best;
}

}  // namespace trueup::simulation
