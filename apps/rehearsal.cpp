#include "apps/rehearsal.h"

#include "apps/rehearsal_stage.h"
#include "engine/core/windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace trueup::apps {

namespace {

constexpr Millis kForEver = std::chrono::hours(24 * 365);
constexpr std::uint64_t kMostWrong = 10;  // so many may be wrong, whatever share of all they are

/// As configured, but that every rule acts which is judged, and nothing is over before it is seen.
Settings enforced(Settings settings, bool whatever_is_shown) {
    for (RuleSettings& rule : settings.rules) {
        if (rule.mode != Mode::kOff) rule.mode = Mode::kEnforce;
    }
    // An empty first list is to be gone by here: it is what the answer is about.
    if (whatever_is_shown) {
        for (SourceSettings& source : settings.sources) source.at_least = 0;
    }
    settings.enabled_by = "plan";
    settings.windows.clear();
    settings.reconcile_every = Millis{0};
    settings.command_ttl = settings.emit_again = kForEver;
    settings.max_outbox = std::numeric_limits<std::uint32_t>::max();
    return settings;
}

Settings without_budgets(Settings settings) {
    for (RuleSettings& rule : settings.rules) {
        rule.budget.max = std::numeric_limits<std::uint32_t>::max();
    }
    return settings;
}

/// Beyond it every grace and every create window is over.
Millis horizon(const Settings& settings) {
    Millis longest{0};
    for (const RuleSettings& rule : settings.rules) {
        if (rule.mode != Mode::kOff) longest = std::max(longest, rule.grace + rule.create_window);
    }
    return longest + settings.max_broker_skew + 3 * settings.max_clock_step;
}

/// The rule's place in the settings, which have it.
RuleNumber number_of(const Settings& settings, std::string_view rule) {
    std::uint8_t number = 0;
    while (settings.rules[number].rule != rule) ++number;
    return RuleNumber(number);
}

Proposal proposal_of(const Stage::Found& found, const Settings& settings, bool in_window) {
    Proposal proposal;
    proposal.rule = found.edge.rule;
    proposal.subject = found.edge.subject;
    proposal.object_id = found.edge.object_id;
    const RuleNumber number = number_of(settings, proposal.rule);
    for (const policy::Rule& rule : settings.text->rules) {
        if (rule.name == proposal.rule) proposal.finds = rule.finds;
    }
    if (!found.command) {
        proposal.held = {std::string(found.edge.reason_name())};
        return proposal;
    }
    proposal.command = found.command->draft;
    const Mode mode = settings.rules[number.value()].mode;
    if (mode != Mode::kEnforce) proposal.held.push_back(fmt::format("mode {}", name_of(mode)));
    if (!in_window) proposal.held.emplace_back(name_of(Reason::kWindow));
    for (const auto& [reason, name] : found.holds) proposal.held.push_back(name);
    return proposal;
}

std::uint64_t subjects_of(const std::vector<Look>& looks) {
    std::set<std::string_view> keys;
    for (const Look& look : looks) {
        for (const Fact& fact : look.facts) {
            const bool names_one = !fact.subject_key.empty() && fact.subject_key.front() != '!';
            if (names_one) keys.insert(fact.subject_key);
        }
    }
    return keys.size();
}

/// From the first lists to beyond every grace.
Stage played(const Settings& acting, const std::vector<Look>& looks, BrokerTime now) {
    const Millis length = horizon(acting);
    Stage stage(acting, looks, now - 2 * length);
    stage.open();
    stage.wait(length);
    stage.vouch();
    stage.wait(length);
    stage.put_in_force(without_budgets(acting));
    stage.approve_all();
    return stage;
}

/// A disagreement: its rule, subject and object.
using Case = std::tuple<std::string, std::string, std::string>;

/// About which of them something is done.
std::set<Case> ordered(const Settings& acting, const std::vector<Look>& looks, BrokerTime now) {
    std::set<Case> cases;
    const Stage stage = played(acting, looks, now);
    for (const auto& [id, each] : stage.found()) {
        if (each.command) cases.insert({each.edge.rule, each.edge.subject, each.edge.object_id});
    }
    return cases;
}

std::vector<Rehearsed::TooFew> too_few(const Settings& settings, const std::vector<Look>& looks) {
    std::vector<Rehearsed::TooFew> found;
    for (const Look& look : looks) {
        for (const SourceSettings& source : settings.sources) {
            const bool enough = look.objects() >= source.at_least;
            if (source.name != look.source || source.role == kNoRole || enough) continue;
            found.push_back({source.name, look.objects(), source.at_least});
        }
    }
    return found;
}

}  // namespace

std::uint64_t Rehearsed::of_rule(std::string_view rule) const {
    return static_cast<std::uint64_t>(
        std::count_if(proposals.begin(), proposals.end(),
                      [&](const Proposal& proposal) { return proposal.rule == rule; }));
}

std::string Rehearsed::UnknownWords::text() const {
    return fmt::format(
        "{} objects have a word in {} that the policy does not list ({}) and that may mean "
        "anything: what depends on it waits (unknown_word)",
        objects, field, fmt::join(words, ", "));
}

bool Rehearsed::mostly_wrong() const { return wrong > kMostWrong && 2 * wrong > subjects; }

Rehearsed rehearse(const Settings& settings, const std::vector<Look>& looks, BrokerTime now) {
    const Stage stage = played(enforced(settings, true), looks, now);
    std::vector<const Stage::Found*> found;
    for (const auto& [id, each] : stage.found()) found.push_back(&each);
    std::sort(found.begin(), found.end(), [&](const auto* a, const auto* b) {
        const auto place = [&](const Stage::Found& one) {
            return std::tuple(number_of(settings, one.edge.rule), !one.command, one.turn,
                              std::string_view(one.edge.subject));
        };
        return place(*a) < place(*b);
    });
    const std::optional<Millis> opens = core::opens_in(settings.windows, now);
    Rehearsed result;
    result.subjects = subjects_of(looks);
    std::set<std::string_view> wrong;
    for (const Stage::Found* each : found) {
        result.proposals.push_back(proposal_of(*each, settings, opens && *opens == Millis{0}));
        if (each->command) wrong.insert(each->edge.subject);
    }
    result.wrong = wrong.size();
    result.too_few = too_few(settings, looks);
    result.unknown_words = stage.unknown_words();
    if (!result.quarantined()) return result;
    const std::set<Case> go =
        result.mostly_wrong() ? std::set<Case>() : ordered(enforced(settings, false), looks, now);
    const std::string quarantine(name_of(Reason::kQuarantine));
    for (Proposal& proposal : result.proposals) {
        std::vector<std::string>& held = proposal.held;
        const bool said = std::find(held.begin(), held.end(), quarantine) != held.end();
        const bool goes = go.count({proposal.rule, proposal.subject, proposal.object_id}) != 0;
        if (proposal.command && !said && !goes) held.push_back(quarantine);
    }
    return result;
}

}  // namespace trueup::apps
