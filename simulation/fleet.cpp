#include "simulation/fleet.h"

#include "simulation/fleet_parts.h"
#include "simulation/instances.h"

#include <algorithm>
#include <utility>

namespace trueup::simulation {

Fleet::Fleet(Environment& around) : parts_(new Parts{around, {}, {}, {}, 0, 0, {}, {}}) {
    for (std::int32_t engine = 0; engine < kEnginesOfAShard * around.settings.shards; ++engine) {
        parts_->engines.push_back(
            std::make_unique<EngineProcess>("engine-" + std::to_string(engine + 1),
                                            PartitionNumber(engine / kEnginesOfAShard), around));
    }
    parts_->others.push_back(make_source("pods", Kind::kPods, around));
    parts_->others.push_back(make_source("rows", Kind::kRows, around));
    if (around.settings.clusters) {
        parts_->others.push_back(make_source(kWest, Kind::kMorePods, around));
    }
    parts_->others.push_back(make_executor("executor-1", around));
    parts_->others.push_back(make_executor("executor-2", around));
    if (around.settings.services) {
        parts_->others.push_back(make_source("services", Kind::kServices, around));
        parts_->others.push_back(make_service_executor("services-executor", around));
    }
    for (Process* process : processes()) process->wake();
}

Fleet::~Fleet() = default;

std::vector<Process*> Fleet::processes() {
    std::vector<Process*> all;
    for (const auto& engine : parts_->engines) all.push_back(engine.get());
    for (const auto& process : parts_->others) all.push_back(process.get());
    return all;
}

Process& Fleet::pick(Random& random) {
    const std::vector<Process*> all = processes();
    return *all[random.below(all.size())];
}

void Fleet::restart(std::string_view name) {
    for (Process* process : processes()) {
        const bool west = name == "pods" && process->name() == kWest;
        if (process->name() == name || west) process->crash_at(1, kBeginAgain);
    }
}

void Fleet::configure_formerly(std::string_view of, bool formerly) {
    Asked& asked = parts_->around.asked;
    bool& former = of == "pods"   ? asked.former_pods
                   : of == "rows" ? asked.former_rows
                                  : asked.former_executors;
    if (std::exchange(former, formerly) == formerly) return;
    for (Process* process : processes()) {
        const bool its =
            process->name().starts_with(of) || (of_pods(of) && process->name() == kWest);
        const bool second = process->name() == "executor-2";
        if (its && !(formerly && second)) process->kill();
    }
}

void Fleet::ask_elsewhere(std::string_view source) {
    for (Process* process : processes()) {
        const bool asks =
            process->name().starts_with(source) || (of_pods(source) && process->name() == kWest);
        if (asks || process->name().starts_with("executor")) process->kill();
    }
}

void Fleet::configure(const Settings& settings, Millis apart) {
    Millis after{0};
    ++parts_->configured;
    const auto& sources = settings.sources;
    parts_->around.serves = std::any_of(sources.begin(), sources.end(), [](const auto& source) {
        return source.name == "services";
    });
    for (const auto& engine : parts_->engines) {
        parts_->around.scheduler.after(
            after, [this, engine = engine.get(), settings, asked = parts_->configured] {
                if (parts_->configured != asked) return;
                engine->configure(settings);
                for (const RuleSettings& rule : settings.rules) {
                    Restraints& restraints = parts_->around.oracles.restraints();
                    if (acts(rule.mode)) restraints.may_act(engine->index(), rule.rule);
                }
                engine->crash_at(1, Millis{1'000});
            });
        after += apart;
    }
}

const Settings& Fleet::settings() const { return parts_->around.settings.policy; }

void Fleet::delay_executors(Millis time) {
    for (Process* process : processes()) {
        if (process->name().starts_with("executor")) process->sleep(time);
    }
}

void Fleet::list_again() { ++parts_->around.relists; }

void Fleet::second_connector(Random& random, Millis time) {
    const bool pods = random.chance(500);
    const std::string name =
        std::string(pods ? "pods" : "rows") + "-" + std::to_string(++parts_->seconds);
    parts_->others.push_back(make_source(name, pods ? Kind::kPods : Kind::kRows, parts_->around));
    Process* second = parts_->others.back().get();
    second->wake();
    parts_->around.scheduler.after(time, [this, second] { retire(*second); });
}

void Fleet::retire(Process& process) {
    const auto found = std::find_if(parts_->others.begin(), parts_->others.end(),
                                    [&](const auto& other) { return other.get() == &process; });
    if (found == parts_->others.end()) return;
    process.kill();
    process.sleep(std::chrono::hours(1'000));  // also one that was to start again by itself
    parts_->retired.push_back(std::move(*found));
    parts_->others.erase(found);
}

void Fleet::lose_disk(Random& random) {
    EngineProcess& engine = *parts_->engines[random.below(parts_->engines.size())];
    engine.kill();
    engine.disk().wipe();
}

void Fleet::fill_disk(Random& random, Millis time) {
    EngineProcess& engine = *parts_->engines[random.below(parts_->engines.size())];
    engine.disk().fill_up(true);
    parts_->around.scheduler.after(time, [&engine] { engine.disk().fill_up(false); });
}

void Fleet::heal() {
    for (const auto& engine : parts_->engines) engine->disk().fill_up(false);
    for (Process* process : processes()) process->heal();
}

void Fleet::world_changed() {
    for (const auto& process : parts_->others) process->wake();
}

std::vector<Fleet::Image> Fleet::stop_engines() {
    std::vector<Image> images;
    for (const auto& engine : parts_->engines) {
        if (engine->shard() == nullptr || !engine->shard()->status().refused.empty()) continue;
        const Disk::Rows& rows = engine->stop_in_order();
        images.push_back(
            {engine->name(), engine->index(), engine->shard()->state().meta.applied, &rows});
    }
    return images;
}

}  // namespace trueup::simulation
