#include "tests/support/worlds.h"

#include "engine/core/policy.h"
#include "engine/core/rules/ec2_workers/policy.h"
#include "engine/core/rules/graph_instances/facts.h"
#include "tests/support/journal_script.h"

#include <utility>

namespace trueup::testing {

namespace {

/// Two regions.
Settings workers_settings() {
    Settings settings = core::usual_settings("ec2-workers", Mode::kEnforce);
    settings.sources = {{"eu", Topic::kChangesEc2, core::ec2_workers::kInstances, "eu-central-1"},
                        {"us", Topic::kChangesEc2, core::ec2_workers::kInstances, "us-east-1"},
                        {"workers", Topic::kChangesRows, core::ec2_workers::kWorkers}};
    return begun_empty(std::move(settings));
}

World served_world() {
    namespace graph = core::graph_instances;
    World world{graph_settings(), {{"service", "services"}, {"ingress", "ingresses"}}};
    world.settings.sources.push_back(
        {"services", Topic::kChangesResources, graph::kServices, {}, 0});
    world.settings.sources.push_back(
        {"ingresses", Topic::kChangesResources, graph::kIngresses, {}, 0});
    return world;
}

}  // namespace

std::optional<World> world_of(std::string_view policy) {
    if (policy == "graph-instances") return World{graph_settings(), {}};
    if (policy == "graph-instances with services") return served_world();
    if (policy == "ec2-workers") {
        return World{workers_settings(), {{"instance", {}}, {"worker", "workers"}}};
    }
    if (core::find_policy(policy) == nullptr) return std::nullopt;
    World world{begun_empty(core::usual_settings(policy, Mode::kEnforce)), {}};
    if (policy == "processors") world.nouns = {{"processor", "wanted"}, {"pod", "pods"}};
    if (policy == "ephemeral-runners") world.nouns = {{"runner", "runners"}, {"pod", "pods"}};
    if (policy == "storage-instances") {
        world.nouns = {{"object", "objects"},
                       {"instance", "instances"},
                       {"manager", "managers", true},
                       {"node", "nodes", true},
                       {"orphan", "orphans"}};
    }
    return world;
}

}  // namespace trueup::testing
