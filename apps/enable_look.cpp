#include "apps/enable_look.h"

#include "apps/json_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <random>
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

/// When each source first showed an object of the subject.
std::map<std::string, std::int64_t> first_sights(const Json& shown) {
    std::map<std::string, std::int64_t> sights;
    for (const Json& object : shown.value("objects", Json::array())) {
        const auto seen = object.value("first_seen_ms", std::int64_t{0});
        const auto [known, added] = sights.emplace(text(object, "source"), seen);
        if (!added) known->second = std::min(known->second, seen);
    }
    return sights;
}

/// How far the clock of its source has passed the finding's deadline; nullopt: it has none.
std::optional<std::int64_t> past_deadline(const Json& shown) {
    const Json why = shown.value("why", Json::object());
    for (const Json& stage : why.value("stages", Json::array())) {
        if (text(stage, "stage") != "deadline") continue;
        for (const Json& fact : stage.value("facts", Json::array())) {
            if (text(fact, "kind") != "clock" || text(fact, "answer") != "yes") continue;
            return fact.value("at_ms", std::int64_t{0}) - fact.value("past_ms", std::int64_t{0});
        }
    }
    return std::nullopt;
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

/// In the unit that a person would choose.
std::string about(std::int64_t ms) {
    const std::int64_t seconds = (ms + 999) / 1000;
    if (seconds < 600) return fmt::format("{} s", seconds);
    if (seconds < 36'000) return fmt::format("{} min", seconds / 60);
    if (seconds < 864'000) return fmt::format("{} h", seconds / 3'600);
    return fmt::format("{} d", seconds / 86'400);
}

std::string partners_text(const RuleLook& look) {
    if (look.looked == 0) return {};
    std::size_t lone = 0;
    for (const auto& [source, count] : look.lone) lone += count;
    return fmt::format("  alone   {} of {} looked at never had a partner in sight{}{}\n", lone,
                       look.looked, lone == 0 ? "" : ": ", counts_text(look.lone));
}

/// What was due long ago, and whether the rule waits for as long as partners take to come.
std::string times_text(const Json& rule, const RuleLook& look) {
    std::string all;
    if (look.overdue > 0) {
        all += fmt::format("  due     {} of {} looked at are past their deadline, by up to {}\n",
                           look.overdue, look.looked, about(look.overdue_ms));
    }
    if (!look.apart_ms) return all;
    const std::int64_t waits = rule.value("waits_ms", std::int64_t{0});
    return all + fmt::format(
                     "  apart   the first sights of both sides are up to {} apart, in the "
                     "{} that had a partner; the rule waits {}{}\n",
                     about(*look.apart_ms), look.paired, about(waits),
                     *look.apart_ms > waits ? ": a partner came later than that" : "");
}

}  // namespace

void look_at(const Json& shown, RuleLook& look) {
    ++look.looked;
    const auto sights = first_sights(shown);
    if (sights.size() == 1) ++look.lone[sights.begin()->first];
    if (sights.size() > 1) {
        const auto earlier = [](const auto& a, const auto& b) { return a.second < b.second; };
        const auto [first, last] = std::minmax_element(sights.begin(), sights.end(), earlier);
        look.apart_ms = std::max(look.apart_ms.value_or(0), last->second - first->second);
        ++look.paired;
    }
    if (const auto late = past_deadline(shown)) {
        ++look.overdue;
        look.overdue_ms = std::max(look.overdue_ms, *late);
    }
    if (look.examples.size() >= kNames) return;
    std::string line = text(shown, "subject");
    const auto proposes = shown.find("proposes");
    if (proposes != shown.end()) line += " -> " + text(*proposes, "text");
    look.examples.push_back(plain(std::move(line)));
}

RuleLook look_of(const EngineClient& engine, const Json& page, const std::string& rule) {
    RuleLook look;
    for (const Json& finding : shuffled(page, rule)) {
        ++look.found;
        ++look.waiting[text(finding, "reason")];
        if (look.found > kLooks) continue;
        const Result<Json> shown = engine.get("/v1/findings/" + text(finding, "id"));
        if (shown) look_at(*shown, look);  // else it is over
    }
    return look;
}

std::string text_of(const Json& rule, const RuleLook& look) {
    std::string all =
        fmt::format("{} (mode {}): {}\n", text(rule, "rule"), text(rule, "mode"), state_of(rule));
    all += fmt::format("  does    {}\n", text(rule, "does"));
    all += fmt::format("  found   {}{}{}\n", look.found, look.found == 0 ? "" : ": ",
                       counts_text(look.waiting));
    all += partners_text(look) + times_text(rule, look);
    for (const std::string& example : look.examples) {
        all += fmt::format("  e.g.    {}\n", example);
    }
    if (rule.value("shown", false)) return all;
    return all +
           "  no reconcile has ended since it means this: `trueup reconcile`, then look again\n";
}

Json json_of(const Json& rule, const RuleLook& look) {
    Json json = rule;
    json["found"] = look.found;
    json["waiting"] = look.waiting;
    json["looked_at"] = look.looked;
    json["alone"] = look.lone;
    json["past_deadline"] = {{"count", look.overdue}, {"longest_ms", look.overdue_ms}};
    json["paired"] = look.paired;
    if (look.apart_ms) json["longest_apart_ms"] = *look.apart_ms;
    json["examples"] = look.examples;
    return json;
}

std::string warning_of_keys(const std::map<std::string, std::size_t>& lone) {
    if (lone.size() < 2) return {};
    return fmt::format(
        "{}: both sides have objects without a partner, and a wrong key looks like that; hold some "
        "of them against each other\n",
        counts_text(lone));
}

}  // namespace trueup::apps
