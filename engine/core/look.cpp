#include "engine/core/look.h"

#include "engine/core/why.h"
#include "engine/model/subject_key.h"

#include <algorithm>
#include <string>
#include <utility>

namespace trueup::core {

namespace {

/// As the fold's own (Marks::references), but that nothing is brought up to date on the way.
/// `none` outlives them: it stands for a reference that has no facets.
References references_of(State& state, const Subject& none) {
    const bool sweeping =
        std::any_of(state.meta.sweeps.begin(), state.meta.sweeps.end(), [](const Sweep& sweep) {
            return sweep.what == Sweep::What::kEpoch || sweep.what == Sweep::What::kPolicy;
        });
    return {state.meta.sources,
            state.meta.broker_now,
            state.meta.watched_since,
            state.meta.tallies,
            sweeping,
            [&state, &none](SourceId source, std::string_view name) -> const Subject& {
                const std::string key =
                    reference_prefix(state.meta.sources[source].name) + std::string(name);
                const SubjectTable::Entry* entry = state.subjects.find(key);
                return entry == nullptr ? none : entry->subject;
            }};
}

}  // namespace

std::optional<SubjectLook> look_at(State& state, std::string_view key) {
    const SubjectTable::Entry* entry = state.subjects.find(key);
    if (entry == nullptr || entry->erased) return std::nullopt;
    SubjectLook look{entry->subject, {}, state.meta.applied, {}};
    look.proposals.resize(look.subject.findings.size());
    if (state.plan == nullptr) return look;
    Facts facts;
    look_at(*state.plan, look.subject, state.meta.settings, state.meta.sources, facts);
    const Subject none;
    const References references = references_of(state, none);
    look.why = trace(state, look.subject, facts, references);
    for (std::size_t i = 0; i < look.subject.findings.size(); ++i) {
        const Finding& finding = look.subject.findings[i];
        if (finding.command) continue;
        const auto rule =
            std::find_if(look.why.begin(), look.why.end(), [&](const RuleTrace& each) {
                return each.rule == state.plan->rules[finding.rule.value()].name;
            });
        const bool acts = rule != look.why.end() && rule->kind == Verdict::Kind::kAct;
        if (acts && rule->object_id == finding.object_id) look.proposals[i] = *rule->draft;
    }
    return look;
}

}  // namespace trueup::core
