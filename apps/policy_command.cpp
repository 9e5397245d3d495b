#include "apps/policy_command.h"

#include "apps/config/config.h"
#include "apps/config/policy_file.h"
#include "apps/config/policy_table.h"
#include "apps/config/release_limits.h"
#include "apps/policy_needs.h"
#include "apps/policy_stories.h"
#include "apps/policy_test.h"
#include "apps/rbac.h"
#include "engine/base/suggest.h"
#include "engine/codec/policy_codec.h"
#include "engine/core/plan.h"
#include "engine/core/rule_text.h"
#include "policies/schema.h"
#include "policies/shipped.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <sstream>
#include <utility>

namespace trueup::apps {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// All that is said of one file.
struct Checked {
    std::vector<std::string> errors;
    std::vector<std::string> warnings;
    std::vector<std::string> unable;  ///< `rule: why`
    std::vector<std::string> needs;   ///< `role: rights`
};

/// Where the policy would run.
struct Shards {
    std::string config;  ///< the configuration; empty: none is known
    std::uint32_t count = 1;
};

/// Where the rule stands.
int line_of(const config::PolicyFile& file, const std::string& rule) {
    const auto line = file.lines.find("rules." + rule);
    return line == file.lines.end() ? 1 : line->second;
}

/// What this build can do of it, and which stories there are.
void check_plan(const std::string& path, const config::PolicyFile& file, const core::Plan& plan,
                Checked& checked) {
    for (const core::PlanRule& rule : plan.rules) {
        if (!rule.unable.empty()) checked.unable.push_back(rule.name + ": " + rule.unable);
    }
    for (const std::string& each : config::beyond_release(file.policy, plan)) {
        checked.warnings.push_back(
            fmt::format("{}: {}; `trueup config check` refuses it", path, each));
    }
    checked.needs = rights_of(file.policy);
    const std::string folder = stories_beside(path);
    if (!std::filesystem::is_directory(folder)) {
        checked.warnings.push_back(
            fmt::format("{}: there are no stories beside it: write some into {}/*.scn (no_story)",
                        path, folder));
        return;
    }
    for (const std::string& rule : rules_without_story(file.policy, plan, folder)) {
        checked.errors.push_back(fmt::format(
            "{}:{}: {}: no story in {} has a command of it, so nothing shows what it does; write "
            "one, or write acknowledge: [no_story]",
            path, line_of(file, rule), rule, folder));
    }
}

/// What is counted over all subjects, each shard would count over its own.
void check_shards(const std::string& path, const config::PolicyFile& file, const Shards& shards,
                  Checked& checked) {
    if (shards.count <= 1) return;
    for (const policy::Rule& rule : file.policy.rules) {
        for (const policy::Case& each : rule.cases) {
            if (each.ask_while.empty()) continue;
            // Whether it acts there is the configuration's to say, and to be refused for.
            checked.warnings.push_back(fmt::format(
                "{}:{}: {}: it asks while {} is not 0, and a count holds within one shard only, "
                "but {} has {} of them (one_shard); where it is to act write "
                "bus.kafka.partitions: 1 there, or take ask_while out",
                path, line_of(file, rule.name), rule.name, enumerate(each.ask_while, "or"),
                shards.config, shards.count));
            break;
        }
    }
}

Checked checked(const std::string& path, const Result<config::PolicyFile>& file,
                const Shards& shards) {
    Checked checked;
    if (!file) {
        checked.errors = lines_of(file.error().what);
        return checked;
    }
    checked.warnings = lines_of(file->warnings);
    check_shards(path, *file, shards, checked);
    const Result<core::Plan> plan = compiled(file->policy);
    if (plan) {
        check_plan(path, *file, *plan, checked);
    } else {
        checked.errors.push_back(path + ": " + plan.error().what);
    }
    return checked;
}

/// Is the file sound?
bool check(const std::string& path, const Shards& shards, OutputFormat format) {
    const Result<config::PolicyFile> file = config::load_policy(path);
    const Checked found = checked(path, file, shards);
    const bool sound = found.errors.empty();
    if (format == OutputFormat::kJson) {
        const nlohmann::json json{{"kind", "policy_check"},
                                  {"file", path},
                                  {"sound", sound},
                                  {"errors", found.errors},
                                  {"warnings", found.warnings},
                                  {"unable", found.unable},
                                  {"needs", found.needs}};
        fmt::print("{}\n", json.dump());
        return sound;
    }
    for (const std::string& error : found.errors) fmt::print(stderr, "{}\n", error);
    if (!sound) return false;
    for (const std::string& warning : found.warnings) fmt::print("warning: {}\n", warning);
    for (const std::string& rule : found.unable) {
        fmt::print("{}: rule {}; it cannot be switched on\n", path, rule);
    }
    for (const std::string& need : found.needs) fmt::print("{}: rights on {}\n", path, need);
    fmt::print("{}: valid; policy {} with {} rules\n", path, file->policy.name,
               file->policy.rules.size());
    return true;
}

/// What each rule of the configuration means, where its sources look included.
int print_hashes(const PolicyOptions& options) {
    if (options.config.empty() || !options.files.empty()) {
        fmt::print(stderr,
                   "trueup: --hash is of a configuration, since what a rule means includes where "
                   "its sources look: write --hash -c trueup.yaml, and no FILE\n");
        return 2;
    }
    const Result<config::Config> config = config::load_config(options.config);
    if (!config) {
        fmt::print(stderr, "{}\n", config.error().what);
        return 2;
    }
    nlohmann::ordered_json hashes = nlohmann::ordered_json::object();
    for (const config::Config& policy : config::of_each_policy(*config)) {
        const Settings settings = config::policy_settings(policy);
        for (const RuleSettings& rule : settings.rules) {
            const std::string hash =
                to_hex(core::rule_text(*settings.text, settings.sources, rule.rule).text);
            hashes[settings.policy][rule.rule] = hash;
            if (options.format == OutputFormat::kJson) continue;
            fmt::print("{} # {}{}\n", hash,
                       config->policies.size() > 1 ? settings.policy + " " : "", rule.rule);
        }
    }
    if (options.format == OutputFormat::kJson) fmt::print("{}\n", hashes.dump());
    return 0;
}

/// As the configuration says. One that cannot be read is said to be so, and nothing else.
Shards shards_of(const std::string& path) {
    if (path.empty()) return {};
    const Result<config::Config> config = config::load_sound_policies(path);
    if (!config) {
        fmt::print(stderr, "warning: the number of shards is not checked: {}\n",
                   config.error().what);
        return {};
    }
    return {path, config->kafka ? config->kafka->partitions : 1};
}

}  // namespace

int run_policy_check(const PolicyOptions& options) {
    if (options.hash) return print_hashes(options);
    if (options.files.empty()) {
        fmt::print(stderr,
                   "trueup: which one? write the name of a policy file, or --hash -c CONFIG\n");
        return 2;
    }
    const Shards shards = shards_of(options.config);
    bool sound = true;
    for (const std::string& path : options.files) {
        // Each file is told of, whatever is wrong with those before.
        sound = check(path, shards, options.format) && sound;
    }
    return sound ? 0 : 2;
}

Result<Shared<policy::Policy>> policy_named(const std::string& name) {
    if (Shared<policy::Policy> policy = policies::shipped(name)) return policy;
    if (name.find_first_of("./") == std::string::npos) {
        return Error{Next::kStop, Code::kNotFound,
                     fmt::format("trueup: '{}' is neither a shipped policy nor a file; {}", name,
                                 did_you_mean(name, policies::shipped_names()))};
    }
    Result<config::PolicyFile> file = config::load_policy(name);
    if (!file) return file.error();
    return Shared<policy::Policy>(std::move(file->policy));
}

namespace {

/// The rights of a configuration in Kubernetes, of one policy or of all.
int print_rbac(const PolicyOptions& options) {
    if (options.config.empty()) {
        fmt::print(stderr,
                   "trueup: --rbac is of a configuration, which says where the sources look: write "
                   "--rbac -c trueup.yaml\n");
        return 2;
    }
    const auto account = parse_account(options.account);
    if (!account) {
        fmt::print(stderr, "trueup: --service-account '{}' is none; write NAMESPACE/NAME\n",
                   options.account);
        return 2;
    }
    const Result<config::Config> config = config::load_config(options.config);
    if (!config) {
        fmt::print(stderr, "{}\n", config.error().what);
        return 2;
    }
    config::Config meant = *config;
    std::vector<std::string> names;
    for (const config::PolicyConfig& each : config->policies) names.push_back(each.name);
    for (const config::Config& each : config::of_each_policy(*config)) {
        if (each.policies.front().name == options.policy) meant = each;
    }
    if (!options.policy.empty() && meant.policies.front().name != options.policy) {
        fmt::print(stderr, "trueup: {} has no policy '{}'; {}\n", options.config, options.policy,
                   did_you_mean(options.policy, names));
        return 2;
    }
    const std::string text = rbac_of(meant, *account);
    if (options.format == OutputFormat::kJson) {
        fmt::print("{}\n", nlohmann::json{{"kind", "policy_rbac"}, {"yaml", text}}.dump());
    } else {
        fmt::print("{}", text.empty() ? "# nothing: no source is in Kubernetes\n" : text);
    }
    return 0;
}

}  // namespace

int run_policy_show(const PolicyOptions& options) {
    if (options.rbac) return print_rbac(options);
    if (options.policy.empty()) {
        fmt::print(stderr, "trueup: which one? write the name of a shipped policy, or a file\n");
        return 2;
    }
    const Result<Shared<policy::Policy>> policy = policy_named(options.policy);
    if (!policy) {
        fmt::print(stderr, "{}\n", policy.error().what);
        return 2;
    }
    if (options.format == OutputFormat::kJson) {
        fmt::print("{}\n", codec::policy_json(**policy));
    } else {
        fmt::print("{}\n{}", config::policy_table(**policy), needs_text(**policy));
    }
    return 0;
}

int run_policy_schema(const PolicyOptions& /*options*/) {
    fmt::print("{}", policies::policy_schema());
    return 0;
}

}  // namespace trueup::apps
