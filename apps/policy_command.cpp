#include "apps/policy_command.h"

#include "apps/config/config.h"
#include "apps/config/policy_file.h"
#include "apps/config/policy_table.h"
#include "engine/base/suggest.h"
#include "engine/codec/policy_codec.h"
#include "engine/core/plan.h"
#include "engine/core/rule_text.h"
#include "policies/shipped.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cstdio>
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

/// What this build makes of it: what cannot be carried out, or compiled at all.
struct Compiled {
    std::string flaw;
    std::vector<std::string> unable;  ///< `rule: why`
};
Compiled compiled(const policy::Policy& policy) {
    const Settings settings = policies::usual_settings(Shared<policy::Policy>(policy), Mode::kOff);
    const Result<core::Plan> plan = core::compile(policy, settings);
    if (!plan) return {plan.error().what, {}};
    Compiled made;
    for (const core::PlanRule& rule : plan->rules) {
        if (!rule.unable.empty()) made.unable.push_back(rule.name + ": " + rule.unable);
    }
    return made;
}

/// Is the file sound?
bool check(const std::string& path, OutputFormat format) {
    const Result<config::PolicyFile> file = config::load_policy(path);
    const Compiled made = file ? compiled(file->policy) : Compiled{};
    std::vector<std::string> errors;
    if (!file) errors = lines_of(file.error().what);
    if (!made.flaw.empty()) errors.push_back(path + ": " + made.flaw);
    const std::vector<std::string> warnings = file ? lines_of(file->warnings) : errors;
    if (format == OutputFormat::kJson) {
        const nlohmann::json json{{"kind", "policy_check"},
                                  {"file", path},
                                  {"sound", errors.empty()},
                                  {"errors", errors},
                                  {"warnings", file ? warnings : std::vector<std::string>{}},
                                  {"unable", made.unable}};
        fmt::print("{}\n", json.dump());
        return errors.empty();
    }
    for (const std::string& error : errors) fmt::print(stderr, "{}\n", error);
    if (!errors.empty()) return false;
    for (const std::string& warning : warnings) fmt::print("warning: {}\n", warning);
    for (const std::string& rule : made.unable) {
        fmt::print("{}: rule {}; it cannot be switched on\n", path, rule);
    }
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

}  // namespace

int run_policy_check(const PolicyOptions& options) {
    if (options.hash) return print_hashes(options);
    if (options.files.empty()) {
        fmt::print(stderr,
                   "trueup: which one? write the name of a policy file, or --hash -c CONFIG\n");
        return 2;
    }
    bool sound = true;
    for (const std::string& path : options.files) {
        // Each file is told of, whatever is wrong with those before.
        sound = check(path, options.format) && sound;
    }
    return sound ? 0 : 2;
}

int run_policy_show(const PolicyOptions& options) {
    Shared<policy::Policy> policy = policies::shipped(options.policy);
    if (!policy && options.policy.find_first_of("./") == std::string::npos) {
        fmt::print(stderr, "trueup: '{}' is neither a shipped policy nor a file; {}\n",
                   options.policy, did_you_mean(options.policy, policies::shipped_names()));
        return 2;
    }
    if (!policy) {
        Result<config::PolicyFile> file = config::load_policy(options.policy);
        if (!file) {
            fmt::print(stderr, "{}\n", file.error().what);
            return 2;
        }
        policy = std::move(file->policy);
    }
    if (options.format == OutputFormat::kJson) {
        fmt::print("{}\n", codec::policy_json(*policy));
    } else {
        fmt::print("{}", config::policy_table(*policy));
    }
    return 0;
}

}  // namespace trueup::apps
