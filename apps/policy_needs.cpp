#include "apps/policy_needs.h"

#include "connectors/postgres/correlation.h"
#include "policies/shipped.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

namespace trueup::apps {

namespace {

using policy::Kind;
using policy::Verb;

/// What the steps of all rules do to one role.
struct Steps {
    std::set<Verb> verbs;
    bool of_object = false;  ///< updates go to the object itself
    bool of_status = false;  ///< by its subresource
    std::set<std::string> sets;
    std::set<std::string> inserts;
};

Steps steps_on(const policy::Policy& policy, const std::string& role) {
    Steps steps;
    for (const policy::Rule& rule : policy.rules) {
        for (const policy::Case& each : rule.cases) {
            for (const policy::Step& step : each.steps) {
                if (step.role != role) continue;
                steps.verbs.insert(step.verb);
                if (policy::makes(step.verb)) {
                    for (const policy::Assigned& set : step.sets) steps.inserts.insert(set.field);
                }
                if (!policy::sets(step.verb)) continue;
                (step.subresource.empty() ? steps.of_object : steps.of_status) = true;
                for (const policy::Assigned& set : step.sets) steps.sets.insert(set.field);
            }
        }
    }
    return steps;
}

std::string_view read_right(Kind kind) {
    if (kind == Kind::kRow) return "SELECT";
    return kind == Kind::kEc2 ? "DescribeInstances" : "get, list, watch";
}

/// Empty: the verb takes no right beyond reading.
std::string write_right(Kind kind, Verb verb, const Steps& steps) {
    const policy::Use* use = policy::use_of(verb, kind);
    if (use == nullptr || use->right.empty()) return {};
    std::string right(use->right);
    if (kind == Kind::kRow && !policy::removes(verb)) {
        const auto& columns = policy::makes(verb) ? steps.inserts : steps.sets;
        return fmt::format("{} ({})", right, fmt::join(columns, ", "));
    }
    if (!policy::sets(verb) || !steps.of_status) return right;
    return right + (steps.of_object ? ", also of status" : " of status");
}

}  // namespace

Result<core::Plan> compiled(const policy::Policy& policy) {
    return core::compile(policy,
                         policies::usual_settings(Shared<policy::Policy>(policy), Mode::kOff));
}

std::string needs_text(const policy::Policy& policy) {
    std::string text;
    if (const Result<core::Plan> plan = compiled(policy)) {
        for (const std::string& line : published_of(policy, *plan)) {
            text += fmt::format("publishes {}\n", line);
        }
    }
    for (const std::string& line : rights_of(policy)) text += fmt::format("needs     {}\n", line);
    for (const policy::Role& role : policy.roles) {
        if (role.kind != Kind::kRow) continue;
        const auto key = connectors::postgres::Correlation::of(role.key);
        if (key) text += fmt::format("looks up  {}: WHERE {} = NAME\n", role.name, key->sql());
    }
    return text;
}

std::vector<std::string> rights_of(const policy::Policy& policy) {
    std::vector<std::string> lines;
    for (const policy::Role& role : policy.roles) {
        const Steps steps = steps_on(policy, role.name);
        std::set<std::string> writes;
        for (const Verb verb : steps.verbs) {
            writes.insert(write_right(role.kind, verb, steps));
        }
        writes.erase("");
        lines.push_back(fmt::format("{}: {}{}{}", role.name, read_right(role.kind),
                                    writes.empty() ? "" : "; ", fmt::join(writes, ", ")));
    }
    return lines;
}

std::vector<std::string> published_of(const policy::Policy& policy, const core::Plan& plan) {
    std::vector<std::string> lines;
    for (const core::PlanRole& role : plan.roles) {
        std::set<std::string> fields;
        for (const core::PlanField& field : role.fields) {
            if (field.from == core::PlanField::From::kSent) fields.insert(field.name);
        }
        const policy::Role* text = policy::find_role(policy, role.name);
        for (std::string& field : policy::fields_of(text->key)) fields.insert(std::move(field));
        lines.push_back(fmt::format("{}: {}", role.name, fmt::join(fields, ", ")));
    }
    return lines;
}

}  // namespace trueup::apps
