#include "engine/core/plan.h"

#include "engine/core/meta.h"
#include "engine/core/plan_compiler.h"
#include "engine/core/told.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

namespace {

constexpr std::size_t kMostConditions = 64;
constexpr std::size_t kMostRules = 254;  // over the life of a journal, those that left included

Error refusal(std::string what) { return {Next::kStop, Code::kConfiguration, std::move(what)}; }

}  // namespace

Result<Plan> PlanCompiler::run() {
    if (const Status fits = check_text(); !fits) return fits.error();
    name_fields();
    for (std::size_t i = 0; i < policy_.roles.size(); ++i) begin_role(static_cast<Role>(i));
    for (std::size_t i = 0; i < policy_.roles.size(); ++i) date(static_cast<Role>(i));
    for (std::size_t i = 0; i < policy_.roles.size(); ++i) {
        PlanNode live = node(policy_.roles[i].live, static_cast<Role>(i));
        plan_.roles[i].claims = bit_of(live, static_cast<Role>(i), false);
        plan_.roles[i].live = std::move(live);
    }
    for (const policy::NamedCondition& condition : policy_.conditions) add(condition);
    if (policy_.ledger) add(*policy_.ledger);
    for (const policy::Count& count : policy_.counts) add(count);
    for (const RuleSettings& rule : settings_.rules) add(rule);
    check_roles();
    check_totals();
    for (PlanRole& role : plan_.roles) {
        for (std::size_t i = 0; i < std::min(role.tests.size(), PlanRole::kMostTests); ++i) {
            role.fields[role.tests[i].field].tests |= std::uint64_t{1} << i;
        }
        if (flaw_.empty()) tell_apart(role);
    }
    count_unknown_words();
    if (!flaw_.empty()) return refusal(std::move(flaw_));
    return std::move(plan_);
}

/// What no plan has room for, or could tell apart.
Status PlanCompiler::check_text() const {
    if (policy_.roles.empty() || policy_.roles.size() > kMostRoles) {
        return refusal("the policy has " + std::to_string(policy_.roles.size()) +
                       " roles; this build has room for 1 to " + std::to_string(kMostRoles));
    }
    for (std::size_t i = 0; i < policy_.roles.size(); ++i) {
        if (number(policy_.roles[i].name) != i) {
            return refusal("the policy has two roles '" + policy_.roles[i].name + "'");
        }
    }
    if (policy_.conditions.size() > kMostConditions || settings_.rules.size() > kMostRules) {
        return refusal("the policy has " + std::to_string(policy_.conditions.size()) +
                       " conditions and " + std::to_string(settings_.rules.size()) +
                       " rules; this build has room for " + std::to_string(kMostConditions) +
                       " and " + std::to_string(kMostRules));
    }
    return Done{};
}

void PlanCompiler::check_roles() {
    for (const PlanRole& role : plan_.roles) {
        if (role.fields.size() > PlanRole::kMostFields) {
            flaw("the policy reads " + std::to_string(role.fields.size()) + " fields of " +
                 role.name + "; this build has room for " + std::to_string(PlanRole::kMostFields));
        }
        if (role.tests.size() > PlanRole::kMostTests) {
            flaw("the policy asks " + std::to_string(role.tests.size()) + " different things of " +
                 role.name + "; this build has room for " + std::to_string(PlanRole::kMostTests));
        }
    }
}

void PlanCompiler::check_totals() {
    if (next_bit_ > Bits::kMost) {
        flaw("the policy has " + std::to_string(next_bit_) +
             " different conditions; this build has room for " + std::to_string(Bits::kMost));
    }
    if (plan_.tallies.size() > kMostTallies) {
        flaw("the policy counts " + std::to_string(plan_.tallies.size()) +
             " things; this build has room for " + std::to_string(kMostTallies));
    }
}

/// kNoRole: there is none of that name.
Role PlanCompiler::number(const std::string& name) const {
    for (std::size_t i = 0; i < policy_.roles.size(); ++i) {
        if (policy_.roles[i].name == name) return static_cast<Role>(i);
    }
    return kNoRole;
}

/// The same where there must be one.
Role PlanCompiler::named(const std::string& name) {
    const Role role = number(name);
    if (role != kNoRole) return role;
    flaw("the policy has no role '" + name + "'");
    return 0;
}

RuleNumber Plan::rule(std::string_view name) const {
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (rules[i].name == name) return RuleNumber(static_cast<std::uint8_t>(i));
    }
    return kEveryRule;
}

TallyId Plan::tally(std::string_view name) const {
    for (std::size_t i = 0; i < tallies.size(); ++i) {
        if (tallies[i].name == name) return static_cast<TallyId>(i);
    }
    return kNoTally;
}

std::string_view Plan::count_reason(TallyId count) const {
    if (count == kNoTally) return {};
    const std::string_view reason = tallies[count].reason;
    return reason == name_of(Reason::kUncorrelatedRows) ? std::string_view() : reason;
}

std::vector<std::string> Plan::count_reasons() const {
    std::vector<std::string> reasons;
    for (const PlanRule& rule : rules) {
        for (const PlanCase& found : rule.cases) {
            for (const TallyId count : found.asks) {
                const std::string& reason = tallies[count].reason;
                const bool known =
                    std::find(reasons.begin(), reasons.end(), reason) != reasons.end();
                if (!known) reasons.push_back(reason);
            }
        }
    }
    return reasons;
}

Result<Plan> compile(const policy::Policy& policy, const Settings& settings) {
    return PlanCompiler(policy, settings).run();
}

}  // namespace trueup::core
