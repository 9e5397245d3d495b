// The rules of a plan: their cases, in the order in which patterns bind, and their steps.
#include "engine/core/plan_compiler.h"
#include "engine/core/rule_text.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

namespace {

using policy::Condition;
using policy::Quantifier;

/// `delete pods, delete services, update rows`
std::string told(const std::vector<policy::Case>& cases) {
    std::string text;
    std::set<std::string> known;
    for (const policy::Case& each : cases) {
        for (const policy::Step& step : each.steps) {
            if (!policy::acts(step.verb)) continue;
            const std::string one = std::string(policy::name_of(step.verb)) + ' ' + step.role;
            if (!known.insert(one).second) continue;
            text += text.empty() ? one : ", " + one;
        }
    }
    return text;
}

void add_others(const Condition& condition, std::set<std::string>& roles) {
    roles.insert(condition.test.other.role);
    for (const Condition& part : condition.parts) add_others(part, roles);
}

std::set<std::string> leans_on(const policy::Pattern& pattern) {
    std::set<std::string> roles{pattern.named.role, pattern.in.role};
    add_others(pattern.condition, roles);
    for (const policy::Ranking& ranking : pattern.keep) add_others(ranking.condition, roles);
    roles.erase("");
    roles.erase(pattern.role);
    return roles;
}

/// Each pattern behind those whose objects it asks for, and `none` last: the checks of the text
/// know that there is such an order.
std::vector<const policy::Pattern*> in_order(const std::vector<policy::Pattern>& all) {
    std::vector<const policy::Pattern*> order;
    std::vector<const policy::Pattern*> open;
    std::set<std::string> bound;
    for (const policy::Pattern& pattern : all) {
        if (pattern.quantifier != Quantifier::kNone) open.push_back(&pattern);
    }
    while (!open.empty()) {
        auto next = std::find_if(open.begin(), open.end(), [&](const policy::Pattern* each) {
            const std::set<std::string> needs = leans_on(*each);
            return std::all_of(needs.begin(), needs.end(),
                               [&](const std::string& role) { return bound.count(role) > 0; });
        });
        if (next == open.end()) next = open.begin();
        bound.insert((*next)->role);
        order.push_back(*next);
        open.erase(next);
    }
    for (const policy::Pattern& pattern : all) {
        if (pattern.quantifier == Quantifier::kNone) order.push_back(&pattern);
    }
    return order;
}

}  // namespace

/// One that left the text keeps its number.
void PlanCompiler::add(const RuleSettings& settings) {
    PlanRule made;
    made.name = settings.rule;
    const auto text =
        std::find_if(policy_.rules.begin(), policy_.rules.end(),
                     [&](const policy::Rule& rule) { return rule.name == settings.rule; });
    if (text == policy_.rules.end()) {
        made.unable = "the policy has no such rule any more";
        plan_.rules.push_back(std::move(made));
        return;
    }
    RuleText means = rule_text(policy_, settings_.sources, settings.rule);
    made.text = means.text;
    made.roles = std::move(means.roles);
    made.finds = text->finds;
    made.does = told(text->cases);
    made.since_first_seen = text->since_first_seen;
    made.keyless = text->keyless;
    made.backoff = text->backoff;
    made.may_recur =
        !text->backoff.empty() || !text->requested.empty() || text->acknowledges(policy::kMayRecur);
    request(text->requested, made);
    for (const policy::Case& each : text->cases) {
        made.cases.push_back(planned(each, made.cases));
        mask(made.cases.back(), made);
        if (settings.mode != Mode::kOff) {
            plan_.masks.push_back({RuleNumber(static_cast<std::uint8_t>(plan_.rules.size())),
                                   made.cases.back().mask});
        }
        rank_in_one(made, made.cases.back());
        if (made.cases.back().ends()) end_by(made, made.cases.back());
        for (const policy::Step& step : each.steps) {
            if (made.unable.empty()) made.unable = unable(step);
            const std::string wrong = policy::making_flaw(policy_, each, step);
            if (made.unable.empty() && !wrong.empty()) {
                made.unable = "it cannot " + std::string(policy::name_of(step.verb)) + ' ' +
                              step.role + ": " + wrong;
            }
        }
    }
    for (PlanCase& each : made.cases) {
        each.by_ledger = plan_.ledger && (!made.backoff.empty() || asks_ledger(each));
    }
    plan_.rules.push_back(std::move(made));
}

/// Who may ask for what the rule does; empty: it needs no request.
void PlanCompiler::request(const std::string& name, PlanRule& made) {
    if (name.empty()) return;
    const auto found = policy_.requests.find(name);
    if (found == policy_.requests.end()) {
        flaw("the policy has no request '" + name + "'");
    } else {
        made.requested = name;
        made.owner = at(found->second);
    }
}

bool PlanCompiler::asks_ledger(const PlanCase& found) const {
    for (std::size_t role = 0; role < found.mentions.size(); ++role) {
        for (const std::uint16_t field : found.mentions[role]) {
            const PlanField::From from = plan_.roles[role].fields[field].from;
            if (from == PlanField::From::kFailures || from == PlanField::From::kSucceeded) {
                return true;
            }
        }
    }
    return false;
}

PlanCase PlanCompiler::planned(const policy::Case& text, const std::vector<PlanCase>& before) {
    PlanCase made;
    made.duplicates = text.duplicates;
    for (const std::string& name : text.ask_while) made.asks.push_back(tally(name));
    for (const policy::Pattern& pattern : text.when) {
        const Role role = named(pattern.role);
        if (std::find(made.roles.begin(), made.roles.end(), role) == made.roles.end()) {
            made.roles.push_back(role);
        }
    }
    for (const policy::Pattern* pattern : in_order(text.when)) {
        made.patterns.push_back(planned(*pattern));
    }
    if (text.past) {
        const auto* field = std::get_if<policy::FieldRef>(&text.past->length);
        made.past = PlanDeadline{at(text.past->from), Millis{0}};
        if (field != nullptr) {
            made.past->length = at(*field);
        } else {
            made.past->length = std::get<Millis>(text.past->length);
        }
    }
    hold_bound(text, made);
    if (text.steps.empty()) flaw("a rule says nothing of what is to be done");
    for (const policy::Step& step : text.steps) {
        made.steps.push_back(planned(step));
        for (const policy::FieldRef& field : step.reads) made.reads.push_back(at(field));
    }
    mention(made, before);
    hold_sources(made);
    return made;
}

/// What a case asks for, and what its steps are about, somebody must have.
void PlanCompiler::hold_sources(const PlanCase& made) {
    for (const auto* patterns : {&made.patterns, &made.looked_up}) {
        for (const PlanPattern& pattern : *patterns) {
            const PlanRole& role = plan_.roles[pattern.role];
            if (!role.sources.empty()) continue;
            flaw("a rule asks for " + role.name + ", and no source has any");
        }
    }
    for (const PlanStep& step : made.steps) {
        // What is to be deleted where nobody has any is gone.
        if (step.role == kNoRole || policy::removes(step.verb)) continue;
        const PlanRole& role = plan_.roles[step.role];
        if (!role.sources.empty()) continue;
        flaw("a rule would " + std::string(policy::name_of(step.verb)) + ' ' + role.name +
             ", and no source has any");
    }
}

/// What a deadline and a step speak of is what a pattern bound.
void PlanCompiler::hold_bound(const policy::Case& text, const PlanCase& found) {
    const auto need = [&](const std::string& role, std::string_view what) {
        if (!binds(found, number(role)))
            flaw("no pattern binds " + role + ", which " + std::string(what));
    };
    if (text.past) {
        need(text.past->from.role, "a deadline begins at");
        const auto* length = std::get_if<policy::FieldRef>(&text.past->length);
        if (length != nullptr) need(length->role, "a deadline is as long as");
    }
    for (const policy::Step& step : text.steps) {
        if (policy::sets(step.verb)) need(step.role, "is to be written");
    }
}

TallyId PlanCompiler::tally(const std::string& name) {
    for (std::size_t i = 0; i < policy_.counts.size(); ++i) {
        if (policy_.counts[i].name != name) continue;
        if (!plan_.counts[i].words.empty())
            flaw("a rule asks while " + name + ", which has many numbers");
        return plan_.counts[i].first;
    }
    flaw("the policy has no count '" + name + "'");
    return 0;
}

/// The bits without which the case cannot be anything but healthy. What a request waits for may
/// be missing.
void PlanCompiler::mask(PlanCase& found, const PlanRule& rule) const {
    for (const PlanRole& role : plan_.roles) {
        if (!found.duplicates || role.several || role.reference) continue;
        found.mask.pairs.set(role.claims);
        found.mask.asks_pairs = true;
    }
    const Role taken = found.steps.empty() ? kNoRole : found.steps.front().role;
    for (const PlanPattern& pattern : found.patterns) {
        if (plan_.roles[pattern.role].reference || pattern.bit >= Bits::kMost) continue;
        if (pattern.quantifier == Quantifier::kNone) {
            found.mask.never.set(pattern.bit);
        } else if (!rule.on_request() || pattern.role != taken) {
            found.mask.may.set(pattern.bit);
        }
    }
}

}  // namespace trueup::core
