#include "apps/plan.h"

#include "apps/config/config.h"
#include "apps/progress.h"
#include "apps/wiring.h"
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

std::string plan_text(const Settings& settings, const Rehearsed& rehearsed) {
    std::string text;
    for (const RuleSettings& rule : settings.rules) {
        const std::uint64_t count = rehearsed.of_rule(rule.rule);
        if (count == 0) continue;
        text += fmt::format("{} ({}): {} found\n", rule.rule, trueup::name_of(rule.mode), count);
        for (const Proposal& proposal : rehearsed.proposals) {
            if (proposal.rule == rule.rule) text += line_of(proposal);
        }
    }
    return text + summary_of(rehearsed);
}

std::string plan_json(const Settings& settings, const Rehearsed& rehearsed) {
    Json rules = Json::object();
    for (const RuleSettings& rule : settings.rules) {
        rules[rule.rule] = {{"mode", trueup::name_of(rule.mode)},
                            {"found", rehearsed.of_rule(rule.rule)}};
    }
    Json findings = Json::array();
    for (const Proposal& proposal : rehearsed.proposals) findings.push_back(json_of(proposal));
    const Json plan{{"subjects", rehearsed.subjects},
                    {"wrong", rehearsed.wrong},
                    {"quarantined", rehearsed.quarantined()},
                    {"rules", std::move(rules)},
                    {"findings", std::move(findings)}};
    return plan.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int run_plan(const PlanOptions& options, StopSignal& stop) {
    const auto config = config::load_config(options.config);
    if (!config) {
        fmt::print(stderr, "{}\n", config.error().what);
        return 2;
    }
    const Flaws flaws = check_sources(*config, options.config);
    for (const auto* kind : {&flaws.wrong, &flaws.unanswered}) {
        for (const std::string& sentence : *kind) fmt::print(stderr, "{}\n", sentence);
    }
    if (!flaws.none()) return flaws.exit_code();
    auto asked = survey(*config, Progress(stop), Depth::kWorld);
    if (!asked) {
        fmt::print(stderr, "trueup plan: {}; nothing was written\n", asked.error().what);
        return 1;
    }
    std::vector<Look> looks;
    for (Surveyed& each : *asked) looks.push_back(std::move(each.look));
    const Settings settings = config::policy_settings(*config);
    const Rehearsed rehearsed =
        rehearse(settings, looks, from_millis<BrokerTime>(ports::system_clock().wall_millis()));
    const bool json = options.format == OutputFormat::kJson;
    fmt::print("{}", json ? plan_json(settings, rehearsed) : plan_text(settings, rehearsed));
    return rehearsed.proposals.empty() ? 0 : kFound;
}

}  // namespace trueup::apps
