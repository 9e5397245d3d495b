// The policies of the configuration: their names and times, and what no policy uses.
#include "apps/config/policy_settings.h"
#include "apps/config/reading.h"
#include "apps/config/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace trueup::config {

namespace {

void read_windows(Section& section, PolicyConfig& policy) {
    for (const std::string& text : section.texts("windows")) {
        if (const std::optional<Window> window = window_of(text)) {
            policy.windows.push_back(*window);
            continue;
        }
        section.problem("windows",
                        fmt::format("has '{}'; write days and hours in UTC, as in 'Mon-Fri "
                                    "08:00-18:00'; split a window over midnight in two",
                                    text));
    }
}

void read_enabled(Section& section, PolicyConfig& policy) {
    for (const std::string& text : section.texts("enabled")) {
        if (const std::optional<Hash128> hash = hash_from_hex(text)) {
            policy.enabled.push_back(*hash);
            continue;
        }
        section.problem("enabled",
                        fmt::format("holds '{}'; write what `trueup policy check --hash` prints: "
                                    "32 hex digits that say what one rule means",
                                    text));
    }
}

void read_times(Section& section, const Config& config, PolicyConfig& policy) {
    policy.stale_after = section.duration("stale_after", policy.stale_after);
    policy.command_ttl = section.duration("command_ttl", policy.command_ttl);
    policy.max_drop_percent = section.percent("max_drop", policy.max_drop_percent);
    policy.reconcile_every = section.duration("reconcile_every", policy.reconcile_every);
    policy.max_clock_skew = section.duration("max_clock_skew", policy.max_clock_skew);
    read_windows(section, policy);
    if (policy.reconcile_every != Millis(0) && policy.reconcile_every < Millis(10'000)) {
        section.problem("reconcile_every", "is shorter than 10s; write 5m, or 0s for none");
    }
    if (policy.max_clock_skew > Millis(300'000)) {
        section.problem(
            "max_clock_skew",
            fmt::format(
                "is {}; write at most 5m: a clock that is further off says nothing about a TTL",
                duration_text(policy.max_clock_skew)));
    }
    if (policy.command_ttl < Millis(1'000)) {
        section.problem("command_ttl", "is shorter than 1s, too short for any executor; write 60s");
    }
    for (const SourceConfig& source : config.sources) {
        const policy::Role* role = policy.role_of(source.name);
        if (role == nullptr || role->optional || policy.stale_after > source.idle) continue;
        section.problem(
            "stale_after",
            fmt::format("{} is not longer than heartbeat.idle {} of sources.{}, so the source "
                        "would be stale between two heartbeats; write about three times that",
                        duration_text(policy.stale_after), duration_text(source.idle),
                        source.name));
    }
}

/// Of a policy: a topic has 249 characters at most, `PREFIX.NAME.changes.resources`.
std::size_t longest_name(const Config& config) {
    constexpr std::size_t kTopic = 249;
    constexpr std::size_t kRest = sizeof("..changes.resources") - 1;
    if (!config.kafka) return kTopic;
    return kTopic - kRest - std::min(config.kafka->prefix.size(), kTopic - kRest - 1);
}

void read_name(Section& section, const Config& config, PolicyConfig& policy) {
    if (!section.require("name", "name: graph-instances")) return;
    policy.name = section.text("name");
    if (!is_name(policy.name)) {
        section.problem("name", fmt::format("is '{}', which cannot be the first part of a key; "
                                            "write 1 to 63 letters, digits, '-', '_' or '.', a "
                                            "letter or digit first",
                                            policy.name));
    } else if (const std::size_t longest = longest_name(config); policy.name.size() > longest) {
        section.problem("name", fmt::format("and bus.kafka.prefix are longer together than the "
                                            "name of a topic can be; write at most {} characters",
                                            longest));
    }
}

PolicyConfig read_policy(Section section, const std::string& folder, Config& config,
                         Problems& problems) {
    PolicyConfig policy;
    read_name(section, config, policy);
    // Without a text nobody can tell what the rest of the section means.
    if (!read_text(section, folder, config, policy)) return policy;
    policy.stale_after = policy.text->stale_after;
    const std::size_t before = problems.count();
    read_roles(section, config, policy, problems);
    const bool bound = problems.count() == before;
    const std::optional<core::Plan> plan = plan_of(section, policy);
    if (!plan) return policy;
    read_rules(section.section("rules").called("rules"), *plan, config, policy);
    if (bound) complete_sources(section, config, policy, problems);
    read_enabled(section, policy);
    read_times(section, config, policy);
    check_reach(section, *plan, policy, config);
    check_brakes(section, policy, config);
    section.finish();
    return policy;
}

/// What nobody would ask it to do: somebody meant another source.
void check_stray_executors(const Config& config, Problems& problems) {
    for (const ExecutorConfig& executor : config.executors) {
        for (const std::string& source : executor.sources) {
            const bool used = std::any_of(
                config.policies.begin(), config.policies.end(),
                [&](const PolicyConfig& each) { return each.role_of(source) != nullptr; });
            if (used) continue;
            problems.add(executor.line,
                         fmt::format("executors.{} acts on '{}', which plays no role of a policy; "
                                     "use a source that does",
                                     executor.kind, source));
        }
    }
}

/// A row's key is its role's: without a policy it has none.
void check_stray_sources(const Config& config, Problems& problems) {
    for (const SourceConfig& source : config.sources) {
        const bool used = std::any_of(
            config.policies.begin(), config.policies.end(),
            [&](const PolicyConfig& policy) { return policy.role_of(source.name) != nullptr; });
        if (used || source.postgres() == nullptr) continue;
        problems.add(source.line,
                     fmt::format("sources.{} plays no role of a policy, so nothing says what its "
                                 "rows mean; use it in a policy or leave it out",
                                 source.name));
    }
}

}  // namespace

namespace {

/// A policy as it could be read, and what is wrong with it; empty: nothing is.
struct Read {
    PolicyConfig policy;
    std::string why;
};

/// Of two that are in each other's way neither runs: which of them is meant, nobody knows. A policy
/// that is wrong counts, too, as far as it could be read: it may be right at the next start.
void check_pairs(std::vector<Section>& items, std::vector<Read>& all, const Config& config,
                 Problems& problems) {
    std::vector<std::string> names;
    names.reserve(all.size());
    for (const Read& each : all) names.push_back(each.policy.name);
    const auto note = [&](Read& each, std::size_t before) {
        if (problems.count() == before) return;
        each.why += (each.why.empty() ? "" : "\n") + problems.text(before);
    };
    for (std::size_t later = 0; later < all.size(); ++later) {
        for (std::size_t i = 0; i < later; ++i) {
            const std::size_t before = problems.count();
            check_beside(items[later], all[later].policy, all[i].policy, config);
            note(all[later], before);
            note(all[i], before);
        }
        const std::size_t before = problems.count();
        check_shared(items[later], all[later].policy, names);
        note(all[later], before);
    }
}

/// Each has its share.
void check_memory(Section& root, const Config& config, std::size_t policies) {
    constexpr std::uint64_t kLeast = std::uint64_t{16} << 20U;
    if (policies < 2 || config.memory_bytes / policies >= kLeast) return;
    root.problem("memory", fmt::format("{} is too little for {} policies; write at least {}",
                                       size_text(config.memory_bytes), policies,
                                       size_text(kLeast * policies)));
}

}  // namespace

std::size_t read_policies(Section& root, const std::string& folder, Config& config,
                          Problems& problems) {
    if (!root.require("policies", "policies: [{name: graph-instances, use: graph-instances, ...}]"))
        return 0;
    std::vector<Section> items = root.items("policies");
    check_memory(root, config, items.size());
    const std::size_t first = problems.count();
    std::vector<Read> all;
    for (Section& item : items) {
        const std::size_t before = problems.count();
        PolicyConfig policy = read_policy(item, folder, config, problems);
        all.push_back({std::move(policy), problems.text(before)});
    }
    check_pairs(items, all, config, problems);
    const std::size_t of_policies = problems.count() - first;
    for (std::size_t i = 0; i < all.size(); ++i) {
        PolicyConfig& policy = all[i].policy;
        if (all[i].why.empty()) {
            config.policies.push_back(std::move(policy));
        } else {
            config.left_out.push_back(
                {policy.name.empty() ? items[i].path() : policy.name, all[i].why});
        }
    }
    if (items.empty()) root.problem("policies", "is empty; write [{name: graph-instances, ...}]");
    // What a policy that is left out meant, nobody knows.
    if (!config.left_out.empty() || items.empty()) return of_policies;
    check_stray_executors(config, problems);
    check_stray_sources(config, problems);
    return of_policies;
}

}  // namespace trueup::config
