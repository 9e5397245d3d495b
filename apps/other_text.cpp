#include "apps/other_text.h"

#include "engine/core/rule_text.h"
#include "policies/shipped.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trueup::apps {

namespace {

const policy::Rule* find_rule(const policy::Policy& policy, const std::string& name) {
    const auto found = std::find_if(policy.rules.begin(), policy.rules.end(),
                                    [&](const policy::Rule& rule) { return rule.name == name; });
    return found == policy.rules.end() ? nullptr : &*found;
}

Hash128 meaning(const Settings& settings, const std::string& rule) {
    return core::rule_text(*settings.text, settings.sources, rule).text;
}

Error refusal(std::string what) { return {Next::kStop, Code::kConfiguration, std::move(what)}; }

/// The text, its roles keyed as those of the journal are: a configuration may have said another key
/// than the file does.
policy::Policy keyed_as(const policy::Policy& recorded, policy::Policy text) {
    for (policy::Role& role : text.roles) {
        const policy::Role* known = policy::find_role(recorded, role.name);
        if (known == nullptr) continue;
        role.key = known->key;
        role.also = known->also;
    }
    return text;
}

/// The number of the source's role in `text`; kNoRole: it has none there.
Result<Role> role_in(const SourceSettings& source, const policy::Policy& recorded,
                     const OtherText& other) {
    if (source.role == kNoRole) return kNoRole;
    const policy::Role& was = recorded.roles[source.role];
    const Role number = policies::role_number(*other.text, was.name);
    if (number == kNoRole || other.text->roles[number].kind == was.kind) return number;
    return refusal(fmt::format(
        "the role {} is of another kind in {} than in the journal, where the source {} plays it: "
        "write the kind that was recorded, or give the role another name",
        was.name, other.called, source.name));
}

/// The operator's word on a rule of the text, from before where there was one.
RuleSettings set_as(const Settings& recorded, const policy::Rule& rule) {
    const auto known =
        std::find_if(recorded.rules.begin(), recorded.rules.end(),
                     [&](const RuleSettings& each) { return each.rule == rule.name; });
    const policy::Rule* was = find_rule(*recorded.text, rule.name);
    if (known == recorded.rules.end() || was == nullptr) {
        const Mode mode = rule.off ? Mode::kOff : Mode::kEnforce;
        return {rule.name, mode, rule.grace, rule.create_window, Budget{}};
    }
    RuleSettings settings = *known;
    if (settings.grace == was->grace) settings.grace = rule.grace;
    if (settings.create_window == was->create_window) settings.create_window = rule.create_window;
    return settings;
}

}  // namespace

std::string not_comparable(const OtherText& before, const OtherText& now) {
    if (before.text->name != now.text->name) {
        return fmt::format("{} is policy {}, and {} is policy {}: name two texts of one policy",
                           before.called, before.text->name, now.called, now.text->name);
    }
    for (const policy::Role& role : now.text->roles) {
        const policy::Role* was = policy::find_role(*before.text, role.name);
        if (was == nullptr || was->key == role.key) continue;
        return fmt::format(
            "the role {} has another key in {} than in {}: objects are recorded under the subjects "
            "that the key named, so a journal cannot tell what another key would find. Leave "
            "--journal out, or compare texts of one key; `trueup plan` shows what the new one "
            "finds",
            role.name, now.called, before.called);
    }
    return {};
}

Result<Settings> with_text(const Settings& recorded, const OtherText& other) {
    const policy::Policy& was = *recorded.text;
    if (was.name != other.text->name) {
        return refusal(
            fmt::format("the journal is of policy {}, and {} is policy {}: name the "
                        "journal of that policy, or texts of this one",
                        was.name, other.called, other.text->name));
    }
    Settings ours = recorded;
    ours.text = keyed_as(was, *other.text);
    for (SourceSettings& source : ours.sources) {
        const Result<Role> role = role_in(source, was, other);
        if (!role) return role.error();
        source.role = *role;
    }
    for (std::size_t i = 0; i < ours.text->roles.size(); ++i) {
        const policy::Role& role = ours.text->roles[i];
        if (role.optional || ours.source(static_cast<Role>(i)) != kNoSource) continue;
        return refusal(
            fmt::format("{} has the role {}, which no source of the journal plays, so "
                        "what its rules would find was not recorded: write optional: "
                        "true if they do without it, else use `trueup plan`",
                        other.called, role.name));
    }
    if (recorded.stale_after == was.stale_after) ours.stale_after = ours.text->stale_after;
    // In the recorded order: rules have their numbers by it, and findings are filed under these.
    ours.rules.clear();
    for (const RuleSettings& rule : recorded.rules) {
        const policy::Rule* said = find_rule(*ours.text, rule.rule);
        ours.rules.push_back(said == nullptr ? rule : set_as(recorded, *said));
        if (said == nullptr) ours.rules.back().mode = Mode::kOff;
    }
    for (const policy::Rule& rule : ours.text->rules) {
        const bool listed =
            std::any_of(recorded.rules.begin(), recorded.rules.end(),
                        [&](const RuleSettings& each) { return each.rule == rule.name; });
        if (!listed) ours.rules.push_back(set_as(recorded, rule));
    }
    return ours;
}

std::set<std::string> other_rules(const Settings& recorded, const Settings& ours) {
    std::set<std::string> names;
    for (const policy::Rule& rule : ours.text->rules) {
        if (meaning(recorded, rule.name) != meaning(ours, rule.name)) names.insert(rule.name);
    }
    return names;
}

void translate(Request& request, const Settings& recorded, const Settings& ours) {
    const bool enables = request.kind == RequestKind::kEnable;
    if (!enables && request.kind != RequestKind::kDisable) return;
    std::vector<NamedRule> rules;
    for (NamedRule named : request.rules) {
        if (find_rule(*ours.text, named.rule) == nullptr) continue;
        if (named.text == meaning(recorded, named.rule)) named.text = meaning(ours, named.rule);
        rules.push_back(std::move(named));
    }
    // To name none is to name all.
    if (!rules.empty()) request.rules = std::move(rules);
}

std::vector<std::string> unrecorded(const Settings& recorded, const Settings& ours,
                                    const std::string& called) {
    std::vector<std::string> sentences;
    for (const policy::Role& role : ours.text->roles) {
        const policy::Role* was = policy::find_role(*recorded.text, role.name);
        if (was == nullptr) continue;
        for (const policy::Field& field : role.fields) {
            const policy::Field* known = policy::find_field(*was, field.name);
            if (known != nullptr && known->path == field.path) continue;
            sentences.push_back(
                fmt::format("{} reads {}.{}, which may not be in the journal: there it counts as "
                            "not sent, and what comes of rules that ask for it says nothing",
                            called, role.name, field.name));
        }
    }
    return sentences;
}

}  // namespace trueup::apps
