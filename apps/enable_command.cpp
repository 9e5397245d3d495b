#include "apps/enable_command.h"

#include "apps/json_text.h"
#include "apps/operate.h"
#include "engine/base/suggest.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <utility>

namespace trueup::apps {

namespace {

using Json = EngineClient::Json;

constexpr std::size_t kNames = 10;   // that are shown of each rule
constexpr std::size_t kLooks = 200;  // findings of a rule that are looked at one by one
constexpr const char* kAllFindings = "20000";

/// What of one rule's findings was looked at.
struct Look {
    std::map<std::string, std::size_t> waiting;  ///< by what they wait for
    std::size_t found = 0;
    std::size_t looked = 0;                   ///< of these, one by one
    std::map<std::string, std::size_t> lone;  ///< never had a partner in sight, by their source
    std::vector<std::string> examples;        ///< at random
};

/// The findings of a rule, in an order that is another one each time.
std::vector<Json> shuffled(const Json& page, const std::string& rule) {
    std::vector<Json> all;
    for (const Json& finding : page["findings"]) {
        if (text(finding, "rule") == rule) all.push_back(finding);
    }
    std::shuffle(all.begin(), all.end(), std::mt19937_64(std::random_device{}()));
    return all;
}

void look_at(const EngineClient& engine, const Json& finding, Look& look) {
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

Look look_of(const EngineClient& engine, const Json& page, const std::string& rule) {
    Look look;
    for (const Json& finding : shuffled(page, rule)) {
        ++look.found;
        ++look.waiting[text(finding, "reason")];
        if (look.found <= kLooks) look_at(engine, finding, look);
    }
    return look;
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

void print(const Json& rule, const Look& look) {
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

Json json_of(const Json& rule, const Look& look) {
    Json json = rule;
    json["found"] = look.found;
    json["waiting"] = look.waiting;
    json["looked_at"] = look.looked;
    json["alone"] = look.lone;
    json["examples"] = look.examples;
    return json;
}

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

/// The offsets that this look is as of, by shard; -1: another engine runs it.
std::vector<Offset> seen_now(const Json& policy) {
    std::vector<Offset> seen(policy.value("partitions", std::size_t{1}), kNoOffset);
    for (const Json& shard : policy["shards"]) {
        const auto index = shard.value("shard", std::size_t{0});
        if (index < seen.size()) seen[index] = Offset(shard.value("seen", std::int64_t{-1}));
    }
    return seen;
}

std::string text_of(const std::vector<Offset>& seen) {
    std::string all;
    for (const Offset offset : seen) {
        all += (all.empty() ? "" : ".") +
               (offset < kFirstOffset ? "-" : std::to_string(offset.value()));
    }
    return all;
}

/// A lone object on one side only may be right; on both sides a wrong key looks like that.
void warn_of_keys(const std::map<std::string, std::size_t>& lone) {
    if (lone.size() < 2) return;
    fmt::print(
        "{}: both sides have objects without a partner, and a wrong key looks like that; "
        "hold some of them against each other\n",
        counts_text(lone));
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
        const Look look = look_of(engine, page, text(rule, "rule"));
        for (const auto& [source, count] : look.lone) lone[source] += count;
        if (json) shown.push_back(json_of(rule, look));
        if (!json) print(rule, look);
    }
    if (json && options.dry_run) {
        fmt::print(
            "{}\n",
            Json{{"policy", options.policy}, {"seen", text_of(seen)}, {"rules", std::move(shown)}}
                .dump(2));
    }
    if (json) return;
    warn_of_keys(lone);
    fmt::print("{} {}, as of journal offset {}\n", rules.size(),
               rules.size() == 1 ? "rule" : "rules", text_of(seen));
}

}  // namespace

Result<std::vector<Offset>> parse_seen(const std::string& text) {
    std::vector<Offset> seen;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, '.');) {
        std::int64_t offset = -1;
        const auto read = std::from_chars(part.data(), part.data() + part.size(), offset);
        const bool number = read.ec == std::errc{} && read.ptr == part.data() + part.size();
        if (part != "-" && !(number && offset >= 0)) {
            return Error{Next::kStop, Code::kInvalid,
                         "--seen is '" + text +
                             "'; write the journal offset that `trueup policy enable NAME "
                             "--dry-run` ended with, as 242, or of several shards 242.159"};
        }
        seen.push_back(part == "-" ? kNoOffset : Offset(offset));
    }
    return seen;
}

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
