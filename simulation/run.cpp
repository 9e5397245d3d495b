#include "simulation/run.h"

#include "simulation/one_run.h"
#include "simulation/run_settings.h"
#include "simulation/staging.h"

#include <utility>

namespace trueup::simulation {

namespace {

constexpr Millis kLongestBehind{120'000};  // that a second API server falls

}  // namespace

Run::Run(std::uint64_t seed, const Plan& plan, const Schedule& schedule, Trace* trace)
    : plan_(plan),
      trace_(trace),
      scheduler_(seed ^ 0x5c4edU),
      broker_(scheduler_, seed ^ 0xb40ceU),
      network_{scheduler_, Random(seed ^ 0x4e7U)},
      history_(world_settings(plan)),
      oracles_(scheduler_, history_),
      world_(seed, scheduler_, world_settings(plan)),
      operators_(broker_, life_of_operators_, {}, [] {}),
      around_{scheduler_, broker_,
              network_,   world_,
              oracles_,   Random(seed ^ 0x40e5U),
              keys(),     fleet_settings(plan, begins_enabled(seed))},
      fleet_(around_),
      stage_{scheduler_, world_,   history_,   broker_, network_,
             fleet_,     oracles_, operators_, keys()} {
    oracles_.races_forbidden = plan.races_forbidden;
    oracles_.every_rule = plan.every_rule;
    oracles_.shards = plan.shards;
    if (!begins_enabled(seed)) enable_later(Random(seed ^ 0xe4ab1eU));
    oracles_.proofs_may_lie = plan.second_server;
    if (plan.second_server) oracles_.evidence_age += kLongestBehind;
    if (plan.policies != nullptr) {
        oracles_.law = plan.policies->law;
        stage_.texts = other_policies(plan, begins_enabled(seed));
        vouch_again();
    }
    stage_.creates = plan.creates;
    around_.asked.rows = &world_;
    if (plan.services) {
        services_ =
            std::make_unique<sandbox::World>(seed ^ 0x5e41U, scheduler_, world_settings(plan));
        around_.asked.services = stage_.services = services_.get();
        services_->observe([this](const std::vector<sandbox::Record>&) {
            scheduler_.after(Millis{0}, [this] { fleet_.world_changed(); });
        });
    }
    world_.observe([this](const std::vector<sandbox::Record>& act) { happened(act); });
    broker_.observe([this](ports::Partition at, const Broker::Record& record) {
        if (at.topic == Topic::kCommands) see_command(at, record);
        const bool others = plan_.modes || oracles_.law != nullptr;
        if (at.topic == Topic::kJournal && others) see_settings(at, record);
        if (at.topic == Topic::kRequests) see_request(at, record);
        if (at.topic == Topic::kOutcomes) see_outcome(record);
        if (at.topic == Topic::kFindings) see_finding(record);
        const bool rows = at.topic == Topic::kChangesRows;
        if (rows || at.topic == Topic::kChangesPods) see_change(at, record);
        if (trace_ != nullptr) trace_->stored(scheduler_.since(), at, record);
    });
    broker_.observe_truncation([this](ports::Partition at, Offset offset) {
        if (offset == kFirstOffset) return;
        const auto& newest =
            broker_.records(at)[static_cast<std::size_t>(previous(offset).value())];
        oracles_.plain().judge_forgotten(name_of(at.topic), newest->stored_at, plan_.forgets);
    });
    if (plan.wrong_first) ask_wrongly(Random(seed ^ 0x3f9U));
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

Report Run::carry_out() {
    scheduler_.run_until(plan_.unrest);
    while (plan_.races_forbidden && oracles_.may_write_still()) {
        scheduler_.run_until(scheduler_.since() + kLook);
    }
    if (asks_wrongly_) ask_rightly();
    quiesce(stage_);
    const Millis since = scheduler_.since();
    Report report;
    const bool settled = settle(plan_.rest);
    report.settled = scheduler_.since() - since;
    if (!settled) oracles_.violate("repaired", "something is open still: " + open());
    judge_rest();
    report.violations = oracles_.violations();
    report.simulated = scheduler_.since();
    report.commands = commands().size();
    report.effects = oracles_.effects();
    report.races = oracles_.races();
    report.events = scheduler_.events();
    each_record(Topic::kJournal, [&](const Broker::Record& record) {
        ++report.records;
        hash_ = combine(hash_, hash128(record.value,
                                       static_cast<std::uint64_t>(to_millis(record.append_time))));
    });
    report.trace = hash_;
    return report;
}

Report run(std::uint64_t seed, const Plan& plan, const Schedule& schedule, Trace* trace) {
    return Run(seed, plan, schedule, trace).carry_out();
}

}  // namespace trueup::simulation
