#include "apps/enable_command.h"

#include "apps/ask.h"
#include "apps/enable_look.h"
#include "apps/json_text.h"
#include "apps/seen_offsets.h"
#include "engine/base/suggest.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

namespace trueup::apps {

namespace {

using Json = EngineClient::Json;

constexpr const char* kAllFindings = "20000";

/// Those that were asked for, else all that act and nobody has enabled.
Result<std::vector<Json>> chosen(const Json& policy, const EnableOptions& options) {
    std::vector<Json> rules;
    std::vector<std::string> names;
    for (const Json& rule : policy["rules"]) {
        names.push_back(text(rule, "rule"));
        const bool open = !text(rule, "does").empty() && text(rule, "mode") != "off" &&
                          !rule.value("enabled", false);
        if (options.rules.empty() && open) rules.push_back(rule);
    }
    for (const std::string& name : options.rules) {
        const auto known =
            std::find_if(policy["rules"].begin(), policy["rules"].end(),
                         [&](const Json& rule) { return text(rule, "rule") == name; });
        if (known == policy["rules"].end()) {
            return Error{Next::kStop, Code::kInvalid,
                         "there is no rule '" + name + "'; " + did_you_mean(name, names)};
        }
        rules.push_back(*known);
    }
    return rules;
}

int enable(const EngineClient& engine, const EnableOptions& options, const Json& policy,
           const std::vector<Json>& rules, const std::vector<Offset>& seen) {
    Json body{{"kind", "enable"}, {"policy", options.policy}, {"seen", Json::array()}};
    for (const Offset offset : seen) body["seen"].push_back(offset.value());
    body["rules"] = Json::array();
    for (const Json& rule : rules) {
        body["rules"].push_back({{"rule", text(rule, "rule")}, {"text", text(rule, "text")}});
    }
    if (!options.comment.empty()) body["comment"] = options.comment;
    const auto elsewhere = std::count(seen.begin(), seen.end(), kNoOffset);
    if (elsewhere > 0 && options.format == OutputFormat::kText) {
        fmt::print("{} of {} shards run in other engines: ask those, too\n", elsewhere,
                   policy.value("partitions", 1));
    }
    return ask_engine(engine, body, options.format);
}

/// What is known of the policy of that name.
Result<Json> policy_of(const EngineClient& engine, const std::string& name) {
    return engine.get("/v1/policy", {{"policy", name}});
}

/// What is to be enabled, and what each of it would do.
void show(const EngineClient& engine, const Json& page, const std::vector<Json>& rules,
          const std::vector<Offset>& seen, const EnableOptions& options) {
    const bool json = options.format == OutputFormat::kJson;
    Json shown = Json::array();
    std::map<std::string, std::size_t> lone;
    for (const Json& rule : rules) {
        const RuleLook look = look_of(engine, page, text(rule, "rule"));
        for (const auto& [source, count] : look.lone) lone[source] += count;
        if (json) shown.push_back(json_of(rule, look));
        if (!json) fmt::print("{}", text_of(rule, look));
    }
    if (json && options.dry_run) {
        fmt::print("{}\n", Json{{"policy", options.policy},
                                {"seen", text_of(seen)},
                                {"alone", lone},
                                {"rules", std::move(shown)}}
                               .dump(2));
    }
    if (json) return;
    fmt::print("{}{} {}, as of journal offset {}\n", warning_of_keys(lone), rules.size(),
               rules.size() == 1 ? "rule" : "rules", text_of(seen));
}

}  // namespace

int run_policy_enable(const EnableOptions& options) {
    const bool json = options.format == OutputFormat::kJson;
    if (json && !options.yes && !options.dry_run) {
        return complain("with -o json nothing is asked: write --yes, or --dry-run to look");
    }
    if (options.yes && options.seen.empty() && !options.dry_run) {
        return complain(
            "--yes goes with --seen: the journal offset that `trueup policy enable NAME --dry-run` "
            "ended with when somebody looked");
    }
    const Result<std::vector<Offset>> given = parse_seen(options.seen);
    if (!given) return complain(given.error().what);
    const Result<EngineClient> engine = EngineClient::find(options.engine);
    if (!engine) return complain(engine.error().what);
    // Before the findings: they are at least as new as this.
    const Result<Json> policy = policy_of(*engine, options.policy);
    if (!policy) return complain(policy.error().what);
    const Result<std::vector<Json>> rules = chosen(*policy, options);
    if (!rules) return complain(rules.error().what);
    const std::vector<Offset> seen = given->empty() ? seen_now(*policy) : *given;
    const Result<Json> page =
        engine->get("/v1/findings", {{"policy", options.policy}, {"limit", kAllFindings}});
    if (!page) return complain(page.error().what);
    show(*engine, *page, *rules, seen, options);
    if (options.dry_run) return 0;
    if (rules->empty()) return complain("every rule that acts is enabled already");
    if (!confirmed(options.yes, fmt::format("Let these {} act by themselves?", rules->size()))) {
        fmt::print("aborted; nothing was enabled\n");
        return 1;
    }
    return enable(*engine, options, *policy, *rules, seen);
}

int run_policy_disable(const EnableOptions& options) {
    const Result<EngineClient> engine = EngineClient::find(options.engine);
    if (!engine) return complain(engine.error().what);
    Json body{{"kind", "disable"}, {"policy", options.policy}, {"rules", options.rules}};
    if (!options.comment.empty()) body["comment"] = options.comment;
    return ask_engine(*engine, body, options.format);
}

}  // namespace trueup::apps
