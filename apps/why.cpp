#include "apps/why.h"

#include "apps/client.h"
#include "apps/why_text.h"
#include "engine/base/result.h"

#include <fmt/core.h>

#include <cstdio>
#include <string>

namespace trueup::apps {

using Json = nlohmann::ordered_json;

int run_why(const OperateOptions& options) {
    const auto complain = [](int code, const std::string& sentence) {
        fmt::print(stderr, "trueup: {}\n", sentence);
        return code;
    };
    const Result<EngineClient> engine = EngineClient::find(options.engine);
    if (!engine) return complain(2, engine.error().what);
    EngineClient::Params params{{"subject", options.subject}};
    if (!options.rule.empty()) params.emplace_back("rule", options.rule);
    const Result<Json> why = engine->get("/v1/why", params);
    if (!why) return complain(why.error().code == Code::kNotFound ? 1 : 2, why.error().what);
    if (options.format == OutputFormat::kJson) {
        fmt::print("{}\n", why->dump(2));
        return 0;
    }
    fmt::print("{}, as of journal offset {} of shard {}\n", why->value("subject", ""),
               why->value("offset", std::int64_t{-1}), why->value("shard", 0));
    if (options.rule.empty()) {
        fmt::print("{}", rules_text(*why));
        return 0;
    }
    fmt::print("{}", rule_text((*why)["rules"].front()));
    return 0;
}

}  // namespace trueup::apps
