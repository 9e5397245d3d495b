#include "simulation/wanted.h"

#include "simulation/instances.h"
#include "simulation/staging.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace trueup::simulation {

namespace {

policy::Template leaf(std::string key, policy::Text text) {
    policy::Template made;
    made.kind = policy::Template::Kind::kText;
    made.key = std::move(key);
    made.text = std::move(text);
    return made;
}

policy::Template map(std::string key, std::vector<policy::Template> parts) {
    policy::Template made;
    made.key = std::move(key);
    made.parts = std::move(parts);
    return made;
}

/// `{create: pods, name: "{subject}", object: …}`
policy::Step creation() {
    using Piece = policy::Piece;
    const sandbox::Labels::value_type label = *labels().begin();
    policy::Step step;
    step.verb = policy::Verb::kCreate;
    step.role = "pods";
    step.name = {{Piece::Kind::kSubject, {}, {}}};
    step.object = map(
        {}, {map("metadata",
                 {map("labels", {leaf(label.first, {{Piece::Kind::kLiteral, label.second, {}}})}),
                  map("annotations",
                      {leaf(kMadeFor, {{Piece::Kind::kField, {}, {"rows", "url_slug"}}})})}),
             map("spec", {leaf("nodeName", {{Piece::Kind::kSubject, {}, {}}})})});
    return step;
}

policy::Pattern pattern(const char* role, policy::Quantifier quantifier) {
    policy::Pattern made;
    made.role = role;
    made.quantifier = quantifier;
    return made;
}

/// A row that says so is live, and has its pod created.
policy::Rule wanted_rule() {
    policy::Case found;
    found.when = {pattern("rows", policy::Quantifier::kOne),
                  pattern("pods", policy::Quantifier::kNone)};
    policy::Condition& says = found.when.front().condition;
    says.kind = policy::Condition::Kind::kTest;
    says.test.field = "status";
    says.test.values = {kWanted};
    found.steps = {creation()};
    policy::Rule rule;
    rule.name = kWantedRule;
    rule.finds = "row wants a pod, and there is none";
    rule.cases = {found};
    rule.grace = kWantedGrace;
    rule.create_window = Millis{30'000};
    return rule;
}

void also_wanted(policy::Condition& condition) {
    policy::Test& test = condition.test;
    if (condition.kind == policy::Condition::Kind::kTest && test.field == "status") {
        test.values.insert(std::upper_bound(test.values.begin(), test.values.end(), kWanted),
                           kWanted);
    }
    for (policy::Condition& part : condition.parts) also_wanted(part);
}

}  // namespace

void create_wanted(Settings& settings) {
    policy::Policy text = *settings.text;
    for (policy::Role& role : text.roles) {
        if (role.name != "rows") continue;
        also_wanted(role.live);
        for (policy::Field& field : role.fields) {
            auto& words = field.words;
            if (field.name != "status") continue;
            words.insert(std::upper_bound(words.begin(), words.end(), kWanted), kWanted);
        }
    }
    text.rules.push_back(wanted_rule());
    const policy::Rule& rule = text.rules.back();
    settings.rules.push_back({rule.name, Mode::kEnforce, rule.grace, rule.create_window, Budget{}});
    settings.text = Shared<policy::Policy>(std::move(text));
}

}  // namespace trueup::simulation
