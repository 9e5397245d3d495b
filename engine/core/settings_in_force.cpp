// Settings that come into force: whether this build can go by them, the numbers that they give to
// rules and sources, and what changes with them.
#include "engine/core/settings_in_force.h"

#include "engine/base/guard.h"
#include "engine/core/enablings.h"
#include "engine/core/marks.h"
#include "engine/core/sources.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

namespace {

/// What follows on "journal offset 5"; empty: this build has that logic.
std::string flaw_of_logic(std::uint32_t logic, std::uint32_t newest) {
    if (logic >= kOldestLogic && logic <= newest) return {};
    const std::string oldest = kOldestLogic == newest ? "" : std::to_string(kOldestLogic) + " to ";
    return " puts logic version " + std::to_string(logic) +
           " in force, and this build has version " + oldest + std::to_string(newest) +
           ": use the build that has it, or begin a new journal";
}

/// Of which rule of their policy these settings say nothing; empty: of none.
std::string flaw_of_rules(const Settings& settings) {
    for (const policy::Rule& rule : settings.text->rules) {
        const bool said =
            std::any_of(settings.rules.begin(), settings.rules.end(),
                        [&](const RuleSettings& each) { return each.rule == rule.name; });
        if (said) continue;
        return " puts the policy '" + settings.text->name +
               "' in force, and says nothing of its rule " + rule.name;
    }
    return {};
}

/// What is counted over all subjects, each shard would count over its own: which rule would act by
/// that. Empty: none.
std::string flaw_of_shards(const Settings& settings, std::int32_t partitions) {
    if (partitions <= 1) return {};
    for (const policy::Rule& rule : settings.text->rules) {
        const bool asks =
            std::any_of(rule.cases.begin(), rule.cases.end(),
                        [](const policy::Case& one) { return !one.ask_while.empty(); });
        const bool acting = std::any_of(
            settings.rules.begin(), settings.rules.end(),
            [&](const RuleSettings& each) { return each.rule == rule.name && acts(each.mode); });
        if (!asks || !acting) continue;
        return " lets " + rule.name + " act, which asks while a count is not 0, and of " +
               std::to_string(partitions) +
               " shards each counts for itself: write partitions: 1, or mode: observe, or take "
               "ask_while out of the policy";
    }
    return {};
}

/// Why this build cannot go by these settings, which it compiles into `plan` and numbers; empty: it
/// can.
std::string flaw_of(const Settings& settings, std::uint32_t newest, std::int32_t partitions,
                    std::uint32_t number, std::shared_ptr<const Plan>& plan) {
    if (std::string logic = flaw_of_logic(settings.logic, newest); !logic.empty()) return logic;
    if (!settings.text) return " puts no policy in force";
    const std::string policy = " puts the policy '" + settings.text->name + "' in force";
    for (std::size_t i = 0; i < std::min(settings.text->roles.size(), kMostRoles); ++i) {
        const policy::Role& role = settings.text->roles[i];
        const bool played = settings.source(static_cast<Role>(i)) != kNoSource;
        if (!played && !role.optional) return " names no source of " + role.name;
    }
    Result<Plan> compiled = compile(*settings.text, settings);
    if (!compiled) return policy + ", which this build cannot read: " + compiled.error().what;
    if (std::string flaw = flaw_of_rules(settings); !flaw.empty()) return flaw;
    if (std::string flaw = flaw_of_shards(settings, partitions); !flaw.empty()) return flaw;
    for (std::size_t i = 0; i < settings.rules.size(); ++i) {
        if (settings.rules[i].mode == Mode::kOff || compiled->rules[i].unable.empty()) continue;
        return policy + " with " + settings.rules[i].rule + " switched on, and " +
               compiled->rules[i].unable;
    }
    for (const SourceSettings& source : settings.sources) {
        if (source.role == kNoRole || source.role < compiled->roles.size()) continue;
        return " gives " + source.name + " a role that the policy does not have";
    }
    compiled->number = number;
    plan = std::make_shared<const Plan>(std::move(*compiled));
    return {};
}

/// The numbers, a byte each, of the rules that mean something else than before.
std::string changed_rules(const Plan& before, const Plan& after) {
    std::string numbers;
    for (std::size_t i = 0; i < before.rules.size(); ++i) {
        if (before.rules[i].text != after.rules[i].text) numbers += static_cast<char>(i);
    }
    return numbers;
}

bool same_view(const policy::Role& before, const policy::Role& after) {
    return before.name == after.name && before.key == after.key;
}

}  // namespace

std::string flaw_of(const Settings& settings, std::uint32_t newest, std::int32_t partitions) {
    std::shared_ptr<const Plan> plan;
    return flaw_of(settings, newest, partitions, 0, plan);
}

void adopt_meta(State& state, Meta meta) {
    state.meta = std::move(meta);
    state.meta.enabling.resize(state.meta.settings.rules.size());
    state.plan = nullptr;
    if (!state.meta.settings.text) return;
    const std::string flaw = flaw_of(state.meta.settings, state.newest_logic, state.meta.partitions,
                                     ++state.plans, state.plan);
    if (!flaw.empty()) state.halted = "the journal of these rows" + flaw;
}

/// Of sources that left, and of those that play another role now, or whose objects are filed by
/// another key: that is another view of the world, until it was listed anew.
void SettingsInForce::forget_other_views(const Settings& former, const Settings& ours) {
    const auto known = static_cast<SourceId>(former.sources.size());
    for (SourceId id = 0; id < known; ++id) {
        const Role was = former.sources[id].role;
        const Role is = ours.sources[id].role;
        if (is == kNoRole) {
            const bool leaves = was != kNoRole;
            if (leaves && TRUEUP_GUARD("who_left_says_nothing")) sources_.forget_source(id);
            continue;
        }
        // Each by the number that its role has in its own text: roles come and go before it.
        if (was != kNoRole && same_view(former.text->roles[was], ours.text->roles[is])) continue;
        sources_.forget_source(id);
        report_.wants_epoch.push_back(id);
    }
}

void SettingsInForce::take_settings(const Settings& settings) {
    const Settings& former = meta_.settings;
    // An append that was long under way, of an engine that has ended: who wrote it did not know
    // what is in force by now, and may bring back what somebody has switched off since.
    const bool late = record_.settings_after != meta_.settings_at;
    if (late && TRUEUP_GUARD("settings_name_those_before")) return;
    // An engine of the build before that has not read on yet: it halts when it does.
    if (settings.logic < former.logic && former.text) return;
    Settings ours = settings;
    ours.rules = numbered(settings.rules);
    std::vector<SourceState> sources = meta_.sources;
    ours.sources = numbered(settings.sources, sources);
    std::shared_ptr<const Plan> plan;
    std::string flaw = flaw_of(ours, state_.newest_logic, meta_.partitions, ++state_.plans, plan);
    // A rule that is known from before is off where nothing is said of it: that hides it there.
    if (flaw.empty()) flaw = flaw_of_rules(settings);
    if (!flaw.empty()) {
        state_.halted = "journal offset " + std::to_string(record_.offset.value()) + flaw;
        return;
    }
    meta_.settings_at = record_.offset;
    meta_.sources = std::move(sources);
    const std::shared_ptr<const Plan> former_plan = std::exchange(state_.plan, std::move(plan));
    meta_.rules.resize(ours.rules.size());
    meta_.enabling.resize(ours.rules.size());
    if (ours == former) return;
    if (ours.reconcile_every != former.reconcile_every)
        meta_.pass.next = meta_.now + ours.reconcile_every;
    std::string changed =
        former_plan == nullptr ? std::string() : changed_rules(*former_plan, *state_.plan);
    const bool other = former.text && (ours.text != former.text || !changed.empty());
    forget_other_views(former, ours);
    meta_.settings = std::move(ours);
    for (SourceId id = 0; id < meta_.source_count(); ++id) sources_.compare_mapping(id);
    if (former_plan != nullptr) enablings_.note_texts(*former_plan, changed);
    enablings_.enable_by_settings();
    if (!other) return marks_.judge_all();  // once under the new settings
    // What the new text compares may have changed a moment ago without being news to the old one.
    if (TRUEUP_GUARD("window_of_a_new_text")) meta_.watched_since = meta_.broker_now;
    // What is counted is another thing, and so is what a rule of the same name finds.
    Sweep sweep;
    sweep.what = Sweep::What::kPolicy;
    sweep.changed = std::move(changed);
    sweep.since = meta_.now;
    meta_.sweeps.push_back(std::move(sweep));
}

/// The rules by their numbers, which they keep for ever: findings are filed under them. One that
/// left the policy is off.
std::vector<RuleSettings> SettingsInForce::numbered(const std::vector<RuleSettings>& listed) const {
    std::vector<RuleSettings> rules;
    const auto in = [](const std::vector<RuleSettings>& all, const std::string& name) {
        return std::find_if(all.begin(), all.end(),
                            [&](const RuleSettings& each) { return each.rule == name; });
    };
    for (const RuleSettings& known : meta_.settings.rules) {
        const auto wanted = in(listed, known.rule);
        rules.push_back(wanted == listed.end() ? known : *wanted);
        if (wanted == listed.end()) rules.back().mode = Mode::kOff;
    }
    for (const RuleSettings& each : listed) {
        if (in(rules, each.rule) == rules.end()) rules.push_back(each);
    }
    return rules;
}

/// The sources by their numbers, which they keep for ever: facets are filed under them. One that is
/// not listed any more plays no role. New ones are added to `states`.
std::vector<SourceSettings> SettingsInForce::numbered(const std::vector<SourceSettings>& listed,
                                                      std::vector<SourceState>& states) const {
    for (const SourceSettings& wanted : listed) {
        const bool known =
            std::any_of(states.begin(), states.end(),
                        [&](const SourceState& source) { return source.name == wanted.name; });
        if (known) continue;
        SourceState fresh;
        fresh.name = wanted.name;
        fresh.topic = wanted.topic;
        fresh.unknown_since = meta_.broker_now;
        states.push_back(std::move(fresh));
    }
    std::vector<SourceSettings> sources;
    for (const SourceState& source : states) {
        const auto wanted =
            std::find_if(listed.begin(), listed.end(),
                         [&](const SourceSettings& s) { return s.name == source.name; });
        sources.push_back({source.name, source.topic, kNoRole, {}});
        if (wanted == listed.end()) continue;
        sources.back().role = wanted->role;
        sources.back().scope = wanted->scope;
        sources.back().at_least = wanted->at_least;
        sources.back().selects = wanted->selects;
        sources.back().mapping = wanted->mapping;
    }
    return sources;
}

}  // namespace trueup::core
