#include "apps/enable_look.h"

#include "apps/json_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <random>
#include <set>
#include <utility>

namespace trueup::apps {

namespace {

using Json = EngineClient::Json;

constexpr std::size_t kNames = 10;   // that are shown of each rule
constexpr std::size_t kLooks = 200;  // findings of a rule that are looked at one by one

/// The findings of a rule, in an order that is another one each time.
std::vector<Json> shuffled(const Json& page, const std::string& rule) {
    std::vector<Json> all;
    for (const Json& finding : page["findings"]) {
        if (text(finding, "rule") == rule) all.push_back(finding);
    }
    std::shuffle(all.begin(), all.end(), std::mt19937_64(std::random_device{}()));
    return all;
}

void look_at(const EngineClient& engine, const Json& finding, RuleLook& look) {
    const Result<Json> shown = engine.get("/v1/findings/" + text(finding, "id"));
    if (!shown) return;  // it is over
    ++look.looked;
    std::set<std::string> sources;
    for (const Json& object : shown->value("objects", Json::array())) {
        sources.insert(text(object, "source"));
    }
    if (sources.size() == 1) ++look.lone[*sources.begin()];
    if (look.examples.size() >= kNames) return;
    std::string line = text(finding, "subject");
    const auto proposes = shown->find("proposes");
    if (proposes != shown->end()) line += " -> " + text(*proposes, "text");
    look.examples.push_back(plain(std::move(line)));
}

std::string counts_text(const std::map<std::string, std::size_t>& counts) {
    std::string all;
    for (const auto& [name, count] : counts) {
        all += fmt::format("{}{} {}", all.empty() ? "" : ", ", count, name);
    }
    return all;
}

/// Whether its text is the one that was enabled.
std::string state_of(const Json& rule) {
    if (rule.value("enabled", false)) return "enabled as it is";
    return rule.value("former", false) ? "its text differs from what was enabled before"
                                       : "not enabled";
}

}  // namespace

RuleLook look_of(const EngineClient& engine, const Json& page, const std::string& rule) {
    RuleLook look;
    for (const Json& finding : shuffled(page, rule)) {
        ++look.found;
        ++look.waiting[text(finding, "reason")];
        if (look.found <= kLooks) look_at(engine, finding, look);
    }
    return look;
}

void print(const Json& rule, const RuleLook& look) {
    fmt::print("{} (mode {}): {}\n", text(rule, "rule"), text(rule, "mode"), state_of(rule));
    fmt::print("  does    {}\n", text(rule, "does"));
    fmt::print("  found   {}{}{}\n", look.found, look.found == 0 ? "" : ": ",
               counts_text(look.waiting));
    std::size_t lone = 0;
    for (const auto& [source, count] : look.lone) lone += count;
    if (look.looked > 0) {
        fmt::print("  alone   {} of {} looked at never had a partner in sight{}{}\n", lone,
                   look.looked, lone == 0 ? "" : ": ", counts_text(look.lone));
    }
    for (const std::string& example : look.examples) fmt::print("  e.g.    {}\n", example);
    if (!rule.value("shown", false)) {
        fmt::print(
            "  no reconcile has ended since it means this: `trueup reconcile`, then look "
            "again\n");
    }
}

Json json_of(const Json& rule, const RuleLook& look) {
    Json json = rule;
    json["found"] = look.found;
    json["waiting"] = look.waiting;
    json["looked_at"] = look.looked;
    json["alone"] = look.lone;
    json["examples"] = look.examples;
    return json;
}

void warn_of_keys(const std::map<std::string, std::size_t>& lone) {
    if (lone.size() < 2) return;
    fmt::print(
        "{}: both sides have objects without a partner, and a wrong key looks like that; "
        "hold some of them against each other\n",
        counts_text(lone));
}

}  // namespace trueup::apps
