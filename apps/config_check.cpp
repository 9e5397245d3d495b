#include "apps/config_check.h"

#include "apps/config/config.h"
#include "apps/config/describe.h"
#include "apps/wiring.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace trueup::apps {

int run_config_check(const CheckOptions& options) {
    const Result<config::Config> config = config::load_config(options.config);
    if (!config) {
        fmt::print(stderr, "{}\n", config.error().what);
        return 2;
    }
    const std::vector<std::string> warnings = config::warnings(*config);
    const std::vector<std::string> wrong =
        options.offline ? std::vector<std::string>{} : check_sources(*config, options.config);
    if (options.format == FeedFormat::kJson) {
        nlohmann::json object{{"config", nlohmann::json::parse(config::describe_json(*config))},
                              {"warnings", warnings},
                              {"errors", wrong},
                              {"asked_sources", !options.offline}};
        fmt::print("{}\n", object.dump(2));
        return wrong.empty() ? 0 : 2;
    }
    fmt::print("{}", config::describe(*config));
    for (const std::string& warning : warnings) fmt::print("warning: {}\n", warning);
    for (const std::string& sentence : wrong) fmt::print(stderr, "{}\n", sentence);
    if (wrong.empty()) {
        fmt::print("{}: {}\n", options.config,
                   options.offline ? "well-formed; its sources were not asked"
                                   : "well-formed, and every source answers");
    }
    return wrong.empty() ? 0 : 2;
}

}  // namespace trueup::apps
