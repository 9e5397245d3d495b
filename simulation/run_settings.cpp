// As the example configuration has it, but for what the plan says.
#include "simulation/run_settings.h"

#include "policies/shipped.h"
#include "sandbox/wiring/sandbox_wiring.h"
#include "simulation/instances.h"
#include "simulation/wanted.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace trueup::simulation {

namespace {

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

void bind(Settings& settings, const Plan& plan) {
    for (RuleSettings& rule : settings.rules) rule.budget = plan.budget;
    settings.max_broker_skew = Millis{1'000};
    for (SourceSettings& source : settings.sources) source.mapping = kMapping;
}

/// The same policy without `ask_while`: of several shards each counts for itself, so that one with
/// it is refused.
void ask_nobody(Settings& settings) {
    policy::Policy text = *settings.text;
    for (policy::Rule& rule : text.rules) {
        for (policy::Case& each : rule.cases) each.ask_while.clear();
    }
    settings.text = Shared<policy::Policy>(std::move(text));
}

/// Those that the policy reads, beside what the connector publishes anyway.
std::vector<std::string> columns_of(const policy::Policy& policy) {
    const std::vector<std::string> anyway = sandbox::sandbox_rows().columns;
    std::vector<std::string> columns;
    for (const policy::Role& role : policy.roles) {
        if (role.kind != policy::Kind::kRow) continue;
        for (const policy::Field& field : role.fields) {
            const bool there = std::find(anyway.begin(), anyway.end(), field.name) != anyway.end();
            if (!there) columns.push_back(field.name);
        }
    }
    return columns;
}

}  // namespace

bool begins_enabled(std::uint64_t seed) { return seed % 8 != 6; }

Settings policy(const Plan& plan, bool enabled) {
    if (plan.policies != nullptr) return other_policies(plan, enabled).front();
    Settings settings = policies::usual_settings("graph-instances", Mode::kOff);
    if (enabled) settings.enabled_by = kCommandLine;
    for (const char* rule : {"orphaned_pod", "missing_pod", "status_drift"}) {
        policies::rule_settings(settings, rule).mode = Mode::kEnforce;
    }
    if (plan.every_rule) {
        for (RuleSettings& rule : settings.rules) rule.mode = Mode::kEnforce;
        // A report that nobody here puts right: its owner has forgotten the pod.
        policies::rule_settings(settings, "stopping_with_pod").mode = Mode::kOff;
        RuleSettings& stuck = policies::rule_settings(settings, "stuck_transition");
        stuck.mode = Mode::kApprove;
        stuck.grace = Millis{60'000};
        settings.windows = windows();
    }
    if (plan.creates) create_wanted(settings);
    if (plan.shards > 1) ask_nobody(settings);
    if (plan.clusters) {
        settings.sources.push_back(
            {.name = kWest, .topic = Topic::kChangesPods, .role = 0, .at_least = 0});
    }
    if (plan.services) {
        constexpr Role kServices = 2;
        settings.sources.push_back({.name = "services",
                                    .topic = Topic::kChangesResources,
                                    .role = kServices,
                                    .at_least = 0});
    }
    bind(settings, plan);
    return settings;
}

std::vector<Settings> other_policies(const Plan& plan, bool enabled) {
    std::vector<Settings> all = plan.policies->settings;
    for (Settings& settings : all) {
        if (enabled) settings.enabled_by = kCommandLine;
        bind(settings, plan);
    }
    return all;
}

sandbox::WorldSettings world_settings(const Plan& plan) {
    sandbox::WorldSettings settings;
    settings.block_in_poll = false;
    settings.evaluate_key = sandbox::evaluate_key;
    settings.copy_batch = 5;  // so that a copy has several parts
    if (plan.row_holds) settings.columns.push_back({kHoldColumn});
    if (plan.clusters) settings.other_name_space = kWestSpace;
    return settings;
}

const codec::KeyRing& keys() {
    static const codec::KeyRing kKeys(
        std::vector<codec::Key>{{"simulated", "what the simulated processes share"}});
    return kKeys;
}

FleetSettings fleet_settings(const Plan& plan, bool enabled) {
    FleetSettings settings{.policy = policy(plan, enabled)};
    settings.shards = plan.shards;
    settings.second_server = plan.second_server;
    settings.tells_modes = plan.modes;
    settings.services = plan.services;
    settings.clusters = plan.clusters && plan.policies == nullptr;
    settings.forgets = plan.forgets;
    if (plan.row_holds) settings.veto_column = kHoldColumn;
    if (plan.policies != nullptr) {
        settings.tells_modes = true;  // which rules mean something else, too
        settings.columns = columns_of(*settings.policy.text);
    }
    if (plan.every_rule) {
        settings.columns = {"owner_username", "created_at", "ttl", "last_activity_at",
                            "inactivity_timeout"};
    }
    return settings;
}

}  // namespace trueup::simulation
