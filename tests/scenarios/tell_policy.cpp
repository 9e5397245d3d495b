#include "tests/scenarios/tell_policy.h"

#include <array>
#include <string_view>

namespace trueup::testing {

namespace {

using policy::Condition;
using policy::Quantifier;
using testing::told;

constexpr std::array<std::string_view, 13> kOps{"?",      "in",    "set",   "same_as",  "starts",
                                                "like",   "over",  "under", "at_least", "at_most",
                                                "before", "after", "is"};
constexpr std::array<std::string_view, 5> kQuantifiers{"?", "one", "none", "some", "surplus"};
constexpr std::array<std::string_view, 5> kKinds{"?", "pod", "object", "row", "ec2"};

std::string told(const policy::FieldRef& field) {
    return field.role.empty() ? "" : field.role + '.' + field.field;
}

std::string told(const std::vector<policy::Pattern>& when) {
    std::string text;
    for (const policy::Pattern& each : when) text += (text.empty() ? "" : "; ") + told(each);
    return text;
}

std::string told(const policy::Role& role) {
    std::string text = "  role " + role.name + ' ' +
                       std::string(kKinds[static_cast<std::size_t>(role.kind)]) + " key " +
                       policy::key_text(role.key);
    if (role.several) text += " several";
    if (role.optional) text += " optional";
    if (role.reference) text += " reference";
    if (!role.scope.empty()) text += " scope";
    text += " live " + told(role.live) + '\n';
    for (const policy::Field& field : role.fields) {
        text += "    " + field.name;
        for (const std::string& word : field.words) text += ' ' + word;
        if (field.required) text += " required";
        if (field.null_unequal) text += " null_unequal";
        if (field.blank_is_value) text += " blank_is_value";
        text += '\n';
    }
    return text;
}

std::string told(const policy::Case& found) {
    std::string text = found.duplicates ? "duplicates" : told(found.when);
    if (found.past) {
        const auto* field = std::get_if<policy::FieldRef>(&found.past->length);
        text += " past " + told(found.past->from) + " + " + (field ? told(*field) : "60s");
    }
    for (const std::string& count : found.ask_while) text += " ask_while " + count;
    for (const policy::Step& step : found.steps) {
        text += " do " + std::string(policy::name_of(step.verb)) + ' ' + step.role;
        for (const policy::FieldRef& read : step.reads) text += " reads " + told(read);
        for (const policy::Piece& piece : step.name) text += " from " + told(piece.field);
        for (const policy::Assigned& set : step.sets) {
            for (const policy::Piece& piece : set.value.value_or(policy::Text{})) {
                text += " from " + told(piece.field);
            }
        }
    }
    return text;
}

std::string told(const Subject& subject, const Settings& settings) {
    std::string text;
    for (const Facet& facet : subject.facets) {
        text += "    " + settings.sources[facet.source].name + ' ' + facet.object_id +
                (facet.present() ? "" : " gone") + " seen " +
                std::to_string((to_millis(facet.first_seen) - kWorldNow) / 1000) + " evidence " +
                std::to_string((to_millis(facet.evidence) - kWorldNow) / 1000) + ':';
        facet.fields().each([&](const Field& field) {
            text += ' ' + std::string(field.name) + '=' +
                    (field.unchanged ? "(unsent)"
                     : field.value   ? '\'' + std::string(*field.value) + '\''
                                     : "(null)");
        });
        text += '\n';
    }
    return text;
}

}  // namespace

std::string told(const Condition& condition) {
    const policy::Test& test = condition.test;
    std::string text;
    if (condition.kind == Condition::Kind::kTest) {
        text = (test.negated ? "!" : "") + test.field + ' ' +
               std::string(kOps[static_cast<std::size_t>(test.op)]) + ' ' + told(test.other);
        for (const std::string& value : test.values) text += ' ' + value;
        return text;
    }
    for (const Condition& part : condition.parts) text += (text.empty() ? "" : ", ") + told(part);
    return (condition.kind == Condition::Kind::kAll ? "all(" : "any(") + text + ')';
}

std::string told(const policy::Pattern& pattern) {
    std::string text = pattern.role + ' ' +
                       std::string(kQuantifiers[static_cast<std::size_t>(pattern.quantifier)]) +
                       ' ' + told(pattern.condition);
    if (!pattern.named.role.empty()) text += " named " + told(pattern.named);
    if (!pattern.named_literal.empty()) text += " named '" + pattern.named_literal + '\'';
    if (!pattern.in.role.empty()) text += " in " + told(pattern.in);
    for (const policy::Ranking& each : pattern.keep) {
        text += " keep " + (each.latest.empty() ? told(each.condition) : "latest " + each.latest);
    }
    return text;
}

std::string told(const policy::Policy& policy, const Settings& settings, const RandomWorld& world) {
    std::string text;
    for (const policy::Role& role : policy.roles) text += told(role);
    for (const policy::NamedCondition& condition : policy.conditions) {
        text += "  condition " + condition.name + " about " + condition.about + '\n';
        for (const auto& line : condition.lines) {
            text += "    if " + told(line.when) + " then " +
                    std::to_string(static_cast<int>(line.then)) + '\n';
        }
    }
    for (const policy::Count& count : policy.counts) {
        text += "  count " + count.name + ' ' + count.role + ' ' + told(count.objects);
        for (const auto& when : count.subjects) text += " | " + told(when);
        text += '\n';
    }
    if (policy.ledger) {
        const policy::Ledger& ledger = *policy.ledger;
        text += "  ledger of " + told(ledger.of) + " objects " + ledger.objects + " belongs " +
                told(ledger.belongs) + " failed " + told(ledger.failed) + " succeeded " +
                told(ledger.succeeded) + (ledger.gone_failed ? " gone failed" : "") + '\n';
    }
    for (const policy::Rule& rule : policy.rules) {
        text += "  rule " + rule.name + (rule.keyless ? " keyless" : "") +
                (rule.since_first_seen ? " since first_seen" : "") +
                (rule.backoff.empty() ? "" : " backoff") + ' ' + rule.requested + '\n';
        for (const policy::Case& each : rule.cases) text += "    case " + told(each) + '\n';
    }
    text += "  subject " + world.subject.key + '\n' + told(world.subject, settings);
    for (const auto& [at, subject] : world.references) {
        if (subject.facets.empty()) continue;
        text += "  reference " + at.second + '\n' + told(subject, settings);
    }
    for (std::size_t i = 0; i < world.sources.size(); ++i) {
        text += "  source " + settings.sources[i].name + ' ' + settings.sources[i].scope +
                (world.sources[i].known ? "" : " unknown") + " proven " +
                std::to_string((to_millis(world.sources[i].complete_as_of) - kWorldNow) / 1000) +
                '\n';
    }
    return text;
}

}  // namespace trueup::testing
