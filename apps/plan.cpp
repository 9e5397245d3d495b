#include "apps/plan.h"

#include "apps/config/config.h"
#include "apps/progress.h"
#include "apps/wiring.h"
#include "apps/wiring_survey.h"
#include "engine/base/suggest.h"
#include "engine/codec/settings_codec.h"
#include "engine/model/loosened.h"
#include "engine/ports/clock.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <utility>
#include <vector>

namespace trueup::apps {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kFound = 3;

std::string_view name_of(const std::string& subject) {
    return std::string_view(subject).substr(subject.find('/') + 1);
}

std::string line_of(const Proposal& proposal) {
    std::string text = fmt::format("  {}: {}; ", name_of(proposal.subject), proposal.finds);
    if (!proposal.command) {
        return text + fmt::format("nothing would be done ({})\n", fmt::join(proposal.held, ", "));
    }
    text += text_of(*proposal.command);
    if (!proposal.held.empty()) text += fmt::format("  [held: {}]", fmt::join(proposal.held, ", "));
    return text + "\n";
}

std::string summary_of(const Rehearsed& rehearsed) {
    std::string text =
        rehearsed.proposals.empty()
            ? fmt::format("nothing to do: {} subjects{}\n", rehearsed.subjects,
                          rehearsed.too_few.empty() ? ", no findings" : "")
            : fmt::format(
                  "{} found; something would be done about {} of {} subjects ({} %); nothing was "
                  "written\n",
                  rehearsed.proposals.size(), rehearsed.wrong, rehearsed.subjects,
                  rehearsed.subjects == 0 ? 0 : 100 * rehearsed.wrong / rehearsed.subjects);
    for (const Rehearsed::TooFew& one : rehearsed.too_few) {
        text += fmt::format(
            "source {0} shows {1} objects, but at least {2} are expected (expect.at_least): a "
            "running engine does nothing destructive because of it until it shows that many, or "
            "until `trueup unquarantine {0}`\n",
            one.source, one.shown, one.expected);
    }
    for (const Rehearsed::UnknownWords& unknown : rehearsed.unknown_words) {
        text += unknown.text() + '\n';
    }
    if (!rehearsed.mostly_wrong()) return text;
    return text +
           "that is more than half of all, so the configuration is probably wrong: such a first "
           "list is quarantined until `trueup unquarantine NAME`\n";
}

std::string lines_of(const Loosening& loosening) {
    if (!loosening.unknown.empty()) {
        return "not compared with what is in force: " + loosening.unknown + "\n";
    }
    std::string text;
    for (const std::string& what : loosening.looser) {
        text += "looser than what is in force: " + what + "\n";
    }
    return text;
}

Json json_of(const Proposal& proposal) {
    Json json{{"rule", proposal.rule},
              {"subject", proposal.subject},
              {"object", proposal.object_id},
              {"finds", proposal.finds}};
    if (const auto& draft = proposal.command) {
        Json sets = Json::object();
        for (const Assignment& set : draft->action.sets) {
            sets[set.column] = set.value ? Json(*set.value) : Json();
        }
        json["command"] = {{"action", trueup::name_of(draft->action.kind)},
                           {"source", draft->target.source},
                           {"target", draft->target.object_id},
                           {"text", text_of(*draft)}};
        if (!sets.empty()) json["command"]["sets"] = std::move(sets);
        if (const auto& seconds = draft->action.grace_seconds) {
            json["command"]["grace_seconds"] = *seconds;
        }
    }
    json["held"] = proposal.held;
    return json;
}

}  // namespace

Loosening loosening_of(const EngineAddress& engine, const Settings& settings) {
    const Result<EngineClient> client = EngineClient::find(engine);
    if (!client) return {{}, client.error().what};
    const auto shown = client->get("/v1/settings", {{"policy", settings.policy}});
    if (!shown) return {{}, shown.error().what};
    const Result<Settings> before = codec::settings_of_json(shown->dump());
    if (!before) return {{}, before.error().what};
    return {loosened(*before, settings), {}};
}

std::string plan_text(const Settings& settings, const Rehearsed& rehearsed,
                      const Loosening& loosening) {
    std::string text;
    for (const RuleSettings& rule : settings.rules) {
        const std::uint64_t count = rehearsed.of_rule(rule.rule);
        if (count == 0) continue;
        text += fmt::format("{} ({}): {} found\n", rule.rule, trueup::name_of(rule.mode), count);
        for (const Proposal& proposal : rehearsed.proposals) {
            if (proposal.rule == rule.rule) text += line_of(proposal);
        }
    }
    return text + summary_of(rehearsed) + lines_of(loosening);
}

std::string plan_json(const Settings& settings, const Rehearsed& rehearsed,
                      const Loosening& loosening) {
    Json rules = Json::object();
    for (const RuleSettings& rule : settings.rules) {
        rules[rule.rule] = {{"mode", trueup::name_of(rule.mode)},
                            {"found", rehearsed.of_rule(rule.rule)}};
    }
    Json findings = Json::array();
    for (const Proposal& proposal : rehearsed.proposals) findings.push_back(json_of(proposal));
    Json plan{{"policy", settings.policy}, {"subjects", rehearsed.subjects},
              {"wrong", rehearsed.wrong},  {"quarantined", rehearsed.quarantined()},
              {"rules", std::move(rules)}, {"findings", std::move(findings)}};
    if (loosening.unknown.empty()) {
        plan["looser"] = loosening.looser;
    } else {
        plan["not_compared"] = loosening.unknown;
    }
    return plan.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

/// The policy of that name; empty: all.
Result<std::vector<config::Config>> policies_of(const config::Config& config,
                                                const std::string& name) {
    std::vector<config::Config> policies = config::of_each_policy(config);
    std::vector<std::string> known;
    for (const auto& policy : config.policies) known.push_back(policy.name);
    if (name.empty()) return policies;
    std::erase_if(policies, [&](const auto& one) { return one.policies.front().name != name; });
    if (!policies.empty()) return policies;
    return Error{Next::kStop, Code::kInvalid,
                 "there is no policy '" + name + "'; " + did_you_mean(name, known)};
}

/// What one policy would do, or why that is not known.
Result<Rehearsed> rehearse(const config::Config& policy, StopSignal& stop) {
    auto asked = survey(policy, Progress(stop), Depth::kWorld);
    if (!asked) return asked.error();
    std::vector<Look> looks;
    for (Surveyed& each : *asked) looks.push_back(std::move(each.look));
    return rehearse(config::policy_settings(policy), looks,
                    from_millis<BrokerTime>(ports::system_clock().wall_millis()));
}

}  // namespace

int run_plan(const PlanOptions& options, StopSignal& stop) {
    const auto config = config::load_config(options.config);
    if (!config) {
        fmt::print(stderr, "{}\n", config.error().what);
        return 2;
    }
    const auto policies = policies_of(*config, options.policy);
    if (!policies) {
        fmt::print(stderr, "trueup plan: {}\n", policies.error().what);
        return 2;
    }
    const bool json = options.format == OutputFormat::kJson;
    EngineAddress engine = options.engine;
    engine.config = options.config;
    bool found = false;
    for (const config::Config& policy : *policies) {
        const Flaws flaws = check_sources(policy, options.config);
        for (const auto* kind : {&flaws.wrong, &flaws.unanswered}) {
            for (const std::string& sentence : *kind) fmt::print(stderr, "{}\n", sentence);
        }
        if (!flaws.none()) return flaws.exit_code();
        const Result<Rehearsed> rehearsed = rehearse(policy, stop);
        if (!rehearsed) {
            fmt::print(stderr, "trueup plan: {}; nothing was written\n", rehearsed.error().what);
            return 1;
        }
        const Settings settings = config::policy_settings(policy);
        if (!json && policies->size() > 1) fmt::print("policy {}\n", settings.policy);
        const Loosening loosening = loosening_of(engine, settings);
        fmt::print("{}", json ? plan_json(settings, *rehearsed, loosening)
                              : plan_text(settings, *rehearsed, loosening));
        found = found || !rehearsed->proposals.empty();
    }
    return found ? kFound : 0;
}

}  // namespace trueup::apps
