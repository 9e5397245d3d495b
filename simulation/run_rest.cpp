// How a run comes to rest, and what is judged then.
#include "engine/codec/command_codec.h"
#include "simulation/one_run.h"
#include "simulation/replay.h"
#include "simulation/run_settings.h"
#include "simulation/staging.h"

#include <iterator>
#include <utility>

namespace trueup::simulation {

namespace {

constexpr Millis kSilence{60'000};

}  // namespace

bool Run::settle(Millis at_most) {
    const Millis end = scheduler_.since() + at_most;
    fleet_.begin_rest();
    Millis since = scheduler_.since();
    while (scheduler_.since() - since < plan_.settled_for) {
        if (scheduler_.since() >= end) return false;
        scheduler_.run_until(scheduler_.since() + kLook);
        hear_answers(stage_);
        if (scheduler_.since() % kVouchEvery < kLook) {
            vouch(stage_, true);
            enable(stage_);
            if (plan_.every_rule) put_away(stage_);
            if (plan_.every_rule || oracles_.law != nullptr) approve(stage_);
            if (fleet_.waits_for(Reason::kRecurring)) approve_reason(stage_, Reason::kRecurring);
        }
        if (!settled()) since = scheduler_.since();
    }
    return true;
}

bool Run::settled() {
    if (oracles_.law == nullptr) return fleet_.settled();
    return fleet_.quiet() && oracles_.law->to_do(history_, scheduler_.steady_now()).empty();
}

void Run::judge_rest() {
    oracles_.plain().judge_configured(fleet_.otherwise_configured());
    if (oracles_.law == nullptr) {
        oracles_.repaired().judge_world(
            [this](const std::string& name) { return fleet_.view_of(name); });
    } else {
        oracles_.repaired().judge_open(fleet_.open_findings());
    }
    oracles_.judge_duties([this](const std::string& name, SteadyTime before) {
        return !stage_.dropped && served_since(stage_, name, before);
    });
    const SteadyTime since = scheduler_.steady_now();
    const BrokerTime then = broker_.now();
    scheduler_.run_until(scheduler_.since() + kSilence);
    oracles_.plain().judge_passes(fleet_.passes_since(then));
    oracles_.plain().judge_silence(commands(since));
    const std::vector<Command> all = commands();
    const Budget budget = policy(plan_).rules.front().budget;
    judge_replays();
    // What a server says that is behind may be older than our own write, and a version that was
    // given twice may be of before it.
    if (!oracles_.proofs_may_lie) oracles_.judge_own_writes(all, done_);
    if (oracles_.law == nullptr && !oracles_.tail_lost) oracles_.judge_recurring(all, over_);
    if (oracles_.tail_lost) return;  // nobody knows what was spent there, and engines give up
    oracles_.judge_budget(all, budget, stage_.served);
    oracles_.plain().judge_refused(around_.refusals, around_.refused);
}

std::vector<Command> Run::commands(SteadyTime since) {
    std::vector<Command> all;
    each_record(Topic::kCommands, [&](const Broker::Record& record) {
        if (record.value.empty() || record.stored_at < since) return;  // a heartbeat; of before
        auto command = codec::decode_command(record.value);
        if (command) all.push_back(std::move(*command));
    });
    return all;
}

std::string Run::open() {
    if (oracles_.law == nullptr) return fleet_.trouble();
    return oracles_.law->to_do(history_, scheduler_.steady_now()) + "; " + fleet_.trouble();
}

void Run::judge_replays() {
    const std::vector<Fleet::Image> images = fleet_.stop_engines();
    const std::int32_t engines = kEnginesOfAShard * plan_.shards;
    if (std::ssize(images) != engines) {
        oracles_.violate("replay", "an engine does not run");
    }
    std::set<std::string> believed;
    for (std::int32_t shard = 0; shard < plan_.shards; ++shard) {
        Replayed made =
            replay(PartitionNumber(shard), broker_, images, oracles_, scheduler_.steady_now());
        believed.merge(made.believed);
        done_.merge(made.done);
        over_.merge(made.over);
    }
    oracles_.plain().judge_projection(believed);
}

}  // namespace trueup::simulation
