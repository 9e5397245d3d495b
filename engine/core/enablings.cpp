// Who may act by himself (docs/adr/0034): a rule acts without an approval only while what it means,
// text for text, is among what somebody looked at and enabled.
#include "engine/core/enablings.h"

#include "engine/base/guard.h"
#include "engine/base/suggest.h"
#include "engine/core/answer.h"
#include "engine/core/marks.h"

#include <algorithm>

namespace trueup::core {

bool Enabling::has(const Hash128& text) const {
    return !text.none() && std::find(texts.begin(), texts.end(), text) != texts.end();
}

void Enabling::add(const Hash128& text) {
    take(text);
    texts.push_back(text);
    if (texts.size() > kMost) texts.erase(texts.begin());
}

void Enabling::take(const Hash128& text) {
    texts.erase(std::remove(texts.begin(), texts.end(), text), texts.end());
}

/// Those rules mean something else from now on than by the former plan.
void Enablings::note_texts(const Plan& former, const std::string& changed) {
    for (const char number : changed) {
        const auto rule = static_cast<std::uint8_t>(number);
        Enabling& enabling = meta_.enabling[rule];
        enabling.looked = kNoOffset;
        enabling.turned = meta_.broker_now;
        const bool was = enabling.has(former.rules[rule].text);
        if (was && !enabling.has(state_.plan->rules[rule].text)) enabling.left = meta_.now;
    }
}

/// What the command line enables, it enables unseen. What a person took back stays so, whatever it
/// means by now.
void Enablings::enable_by_settings() {
    if (meta_.settings.enabled_by.empty()) return;
    for (std::size_t rule = 0; rule < meta_.enabling.size(); ++rule) {
        const Hash128& text = state_.plan->rules[rule].text;
        Enabling& enabling = meta_.enabling[rule];
        if (!text.none() && enabling.disabled.none()) enabling.add(text);
    }
}

/// Does every source that the rule leans on show all that it has, and is it believed?
bool Enablings::shown_whole(const PlanRule& rule) const {
    for (SourceId id = 0; id < meta_.source_count(); ++id) {
        const Role role = meta_.settings.sources[id].role;
        const bool ours = std::find(rule.roles.begin(), rule.roles.end(), role) != rule.roles.end();
        const SourceState& source = meta_.sources[id];
        const bool whole = source.known && !source.on_trial && !set_aside(source);
        if (role != kNoRole && ours && !whole) return false;
    }
    return true;
}

/// A reconcile has ended: what can be looked at from now on. What the configuration enables is
/// enabled once it could have been looked at.
void Enablings::note_looks() {
    const bool on_its_way =
        std::any_of(meta_.sweeps.begin(), meta_.sweeps.end(),
                    [](const Sweep& sweep) { return sweep.what == Sweep::What::kPolicy; });
    if (on_its_way) return;
    const std::vector<Hash128>& wanted = meta_.settings.enabled;
    for (std::size_t rule = 0; rule < meta_.enabling.size(); ++rule) {
        const PlanRule& means = state_.plan->rules[rule];
        Enabling& enabling = meta_.enabling[rule];
        if (means.text.none()) continue;
        if (enabling.looked < kFirstOffset && shown_whole(means)) enabling.looked = record_.offset;
        const bool ours = std::find(wanted.begin(), wanted.end(), means.text) != wanted.end();
        if (!ours || enabling.looked < kFirstOffset || enabling.has(means.text)) continue;
        if (means.text == enabling.disabled) continue;
        enabling.add(means.text);
        marks_.judge_all();
    }
}

/// Why this rule cannot be enabled by who saw the journal up to there; empty: it can.
std::string Enablings::against_enabling(const NamedRule& named, Offset seen) const {
    const RuleNumber rule = state_.plan->rule(named.rule);
    if (rule == kEveryRule || state_.plan->rules[rule.value()].text.none()) {
        std::vector<std::string> names;
        for (const PlanRule& known : state_.plan->rules) {
            if (!known.text.none()) names.push_back(known.name);
        }
        return "there is no rule '" + named.rule + "'; " + did_you_mean(named.rule, names);
    }
    if (!TRUEUP_GUARD("enabling_looks_first")) return {};
    const Offset looked = meta_.enabling[rule.value()].looked;
    if (state_.plan->rules[rule.value()].text != named.text) {
        return named.rule + " has changed since you looked: look again";
    }
    if (looked < kFirstOffset) {
        return "no reconcile has ended since " + named.rule +
               " means this in which all its sources were synced and none was quarantined: wait "
               "for one, or ask for it with `trueup reconcile`, and look again";
    }
    if (seen < looked) {
        return "what you saw (journal offset " + std::to_string(seen.value()) +
               ") is older than the reconcile that showed what " + named.rule +
               " finds (journal offset " + std::to_string(looked.value()) + "): look again";
    }
    return {};
}

Answer Enablings::enable(const Request& request) {
    if (request.role != "admin" && TRUEUP_GUARD("enabling_needs_admin")) {
        return {false, "to enable a rule takes the role admin"};
    }
    const std::optional<Offset> seen = seen_in(request, meta_.shard);
    if (request.rules.empty() || !seen) {
        return {false,
                "an enabling names rules, what each of them means, and the journal offset of shard "
                "" + std::to_string(meta_.shard.value()) +
                    " that was looked at, as `trueup policy enable` does"};
    }
    if (std::string why = not_yet_written(meta_, *seen); !why.empty()) return {false, why};
    for (const NamedRule& named : request.rules) {
        if (std::string why = against_enabling(named, *seen); !why.empty()) return {false, why};
    }
    std::string names;
    for (const NamedRule& named : request.rules) {
        const RuleNumber rule = state_.plan->rule(named.rule);
        Enabling& enabling = meta_.enabling[rule.value()];
        enabling.add(state_.plan->rules[rule.value()].text);
        enabling.disabled = {};
        enabling.turned = meta_.broker_now;
        names += (names.empty() ? "" : ", ") + named.rule + " (mode " +
                 std::string(name_of(meta_.settings.rules[rule.value()].mode)) + ")";
    }
    marks_.judge_all();
    return {true, "enabled for as long as it means what was looked at: " + names};
}

Answer Enablings::disable(const Request& request) {
    std::vector<RuleNumber> rules;
    for (const NamedRule& named : request.rules) {
        const RuleNumber rule = state_.plan->rule(named.rule);
        if (rule == kEveryRule) return {false, "there is no rule '" + named.rule + "'"};
        rules.push_back(rule);
    }
    for (std::size_t rule = 0; request.rules.empty() && rule < meta_.enabling.size(); ++rule) {
        rules.emplace_back(static_cast<std::uint8_t>(rule));
    }
    for (const RuleNumber rule : rules) {
        const Hash128& text = state_.plan->rules[rule.value()].text;
        Enabling& enabling = meta_.enabling[rule.value()];
        if (enabling.has(text)) enabling.left = meta_.now;
        enabling.texts.clear();  // going back to a former one gives nothing back
        enabling.disabled = text;
        enabling.turned = meta_.broker_now;
    }
    marks_.judge_all();
    return {true, request.rules.empty() ? "every rule acts on approval only, until it is enabled"
                                        : "disabled: acts on approval only, until it is enabled"};
}

}  // namespace trueup::core
