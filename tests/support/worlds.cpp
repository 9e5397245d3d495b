#include "tests/support/worlds.h"

#include "policies/shipped.h"
#include "tests/support/journal_script.h"

#include <utility>

namespace trueup::testing {

namespace {

/// Two regions.
Settings workers_settings() {
    Settings settings = policies::usual_settings("ec2-workers", Mode::kEnforce);
    const Role instances = policies::role_number(*settings.text, "instances");
    const Role workers = policies::role_number(*settings.text, "workers");
    settings.sources = {{"eu", Topic::kChangesEc2, instances, "eu-central-1"},
                        {"us", Topic::kChangesEc2, instances, "us-east-1"},
                        {"workers", Topic::kChangesRows, workers}};
    return begun_empty(std::move(settings));
}

World served_world() {
    World world{graph_settings(), {{"service", "services"}, {"ingress", "ingresses"}}};
    for (const char* role : {"services", "ingresses"}) {
        const Role number = policies::role_number(*world.settings.text, role);
        world.settings.sources.push_back({role, Topic::kChangesResources, number, {}, 0});
    }
    return world;
}

}  // namespace

Settings of_another_build(Settings settings, const std::string& policy) {
    policy::Policy text = *settings.text;
    text.name = policy;
    text.rules.front().cases.front().when.front().role = "quanta";
    settings.text = std::move(text);
    return settings;
}

std::optional<World> world_of(std::string_view policy) {
    if (policy == "graph-instances") return World{graph_settings(), {}};
    if (policy == "graph-instances with services") return served_world();
    if (policy == "ec2-workers") {
        return World{workers_settings(), {{"instance", {}}, {"worker", "workers"}}};
    }
    if (!policies::shipped(policy)) return std::nullopt;
    World world{begun_empty(policies::usual_settings(policy, Mode::kEnforce)), {}};
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
