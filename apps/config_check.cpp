#include "apps/config_check.h"

#include "apps/config/config.h"
#include "apps/config/describe.h"
#include "apps/progress.h"
#include "apps/wiring.h"
#include "apps/wiring_survey.h"
#include "engine/ports/clock.h"
#include "engine/ports/private_file.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace trueup::apps {

namespace {

/// What the sources say: first whether each of them can be read at all, and only then what they
/// have, so that one mistake is one sentence.
/// `silent` is filled with what nobody answered. Of one policy.
Judged ask_sources(const config::Config& config, const std::string& file, StopSignal& stop,
                   std::vector<std::string>& silent) {
    Judged judged;
    Flaws flaws = check_sources(config, file);
    judged.wrong = std::move(flaws.wrong);
    silent = std::move(flaws.unanswered);
    if (!judged.wrong.empty() || !silent.empty()) return judged;
    auto asked = survey(config, Progress(stop), Depth::kRights);
    if (!asked) {
        auto& kind = unanswered(asked.error()) ? silent : judged.wrong;
        kind.push_back(file + ": " + asked.error().what);
        return judged;
    }
    std::vector<Look> looks;
    for (const Surveyed& each : *asked) looks.push_back(each.look);
    const auto now = from_millis<BrokerTime>(ports::system_clock().wall_millis());
    return judge(config, file, *asked, rehearse(config::policy_settings(config), looks, now));
}

void append(std::vector<std::string>& into, std::vector<std::string> from) {
    into.insert(into.end(), std::make_move_iterator(from.begin()),
                std::make_move_iterator(from.end()));
}

/// The same of all policies, one after another.
Judged ask_all(const config::Config& config, const std::string& file, StopSignal& stop,
               std::vector<std::string>& silent) {
    Judged all;
    if (config.http_tls) {
        const auto key = ports::read_private_file(config.http_tls->key_file);
        if (!key) all.wrong.push_back(file + ": http.tls.key_file: " + key.error().what);
    }
    const std::vector<config::Config> policies = config::of_each_policy(config);
    for (const config::Config& policy : policies) {
        std::vector<std::string> unanswered;
        Judged one = ask_sources(policy, file, stop, unanswered);
        append(silent, std::move(unanswered));
        append(all.wrong, std::move(one.wrong));
        append(all.asked, std::move(one.asked));
        append(all.warnings, std::move(one.warnings));
        if (one.finds.empty()) continue;
        if (policies.size() > 1) one.finds = policy.policies.front().name + ": " + one.finds;
        all.finds += (all.finds.empty() ? "" : "\nfinds     ") + one.finds;
    }
    return all;
}

}  // namespace

int run_config_check(const CheckOptions& options, StopSignal& stop) {
    const Result<config::Config> config = config::load_config(options.config);
    if (!config) {
        fmt::print(stderr, "{}\n", config.error().what);
        return 2;
    }
    Judged judged;
    std::vector<std::string> unanswered;
    if (!options.offline) judged = ask_all(*config, options.config, stop, unanswered);
    const int code = Flaws{judged.wrong, unanswered}.exit_code();
    judged.wrong.insert(judged.wrong.end(), unanswered.begin(), unanswered.end());
    std::vector<std::string> warnings = config::warnings(*config);
    warnings.insert(warnings.end(), judged.warnings.begin(), judged.warnings.end());
    if (options.format == OutputFormat::kJson) {
        nlohmann::json object{{"config", nlohmann::json::parse(config::describe_json(*config))},
                              {"warnings", warnings},
                              {"errors", judged.wrong},
                              {"asked", judged.asked},
                              {"finds", judged.finds},
                              {"asked_sources", !options.offline}};
        fmt::print("{}\n", object.dump(2));
        return code;
    }
    fmt::print("{}", config::describe(*config));
    for (const std::string& line : judged.asked) fmt::print("asked     {}\n", line);
    if (!judged.finds.empty()) fmt::print("finds     {}\n", judged.finds);
    for (const std::string& warning : warnings) fmt::print("warning: {}\n", warning);
    for (const std::string& sentence : judged.wrong) fmt::print(stderr, "{}\n", sentence);
    if (code == 0) {
        fmt::print("{}: {}\n", options.config,
                   options.offline ? "well-formed; its sources were not checked"
                                   : "well-formed, and every source answers");
    }
    return code;
}

}  // namespace trueup::apps
