#include "engine/core/facts.h"

#include "engine/core/by_itself.h"
#include "engine/core/source_state.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace trueup::core {

using Kind = PlanValue::Kind;

std::uint64_t said_to(const Plan& plan, const PlanRule& rule, const Subject& subject,
                      const Settings& settings) {
    std::uint64_t sum = 0;
    for (const Facet& facet : subject.facets) {
        const Role number = settings.sources[facet.source].role;
        if (!facet.present() || number >= plan.roles.size()) continue;
        const PlanRole& role = plan.roles[number];
        const Seen seen = as_seen(facet, settings, nullptr);
        for (const PlanCase& each : rule.cases) {
            if (each.mentions[number].empty()) continue;
            const std::size_t state = (vetoed(facet) ? 1U : 0U) + (deleting(facet) ? 2U : 0U) +
                                      (ours(role, facet) ? 4U : 0U);
            sum = digest(sum, state, {Kind::kText, facet.object_id});
            for (const std::uint16_t field : each.mentions[number]) {
                if (!derived(role.fields[field]))
                    sum = digest(sum, field, value_of(role, field, seen));
            }
        }
    }
    return sum;
}

Bits may_be(const Plan& plan, const std::vector<SourceState>& sources, const Word& word) {
    Bits may = word.shown;
    for (std::uint32_t left = plan.sourced & ~word.roles; left != 0; left &= left - 1) {
        const PlanRole& role = plan.roles[static_cast<std::size_t>(std::countr_zero(left))];
        const auto unknown = [&](SourceId id) { return !sources[id].known; };
        if (std::any_of(role.sources.begin(), role.sources.end(), unknown)) may |= role.bits;
    }
    return may;
}

void look_at(const Plan& plan, const Subject& subject, const Settings& settings,
             const std::vector<SourceState>& sources, Facts& facts) {
    facts.seen.clear();
    facts.word = {};
    const Ledger* ledger = subject.ledger ? &*subject.ledger : nullptr;
    for (const Facet& facet : subject.facets) {
        const Role role = settings.sources[facet.source].role;
        if (!facet.present() || role >= plan.roles.size()) continue;
        Seen& seen = facts.seen.emplace_back();
        fill(seen, facet, settings, ledger);
        if (!kept(plan, facet)) keep_answers(plan, facet, seen);
        facts.word.add(role, *seen.answers);
    }
    facts.may = may_be(plan, sources, facts.word);
}

bool owned_by(const Plan& plan, const PlanRule& rule, const Facts& facts, std::string_view who) {
    return std::any_of(facts.seen.begin(), facts.seen.end(), [&](const Seen& seen) {
        if (seen.role != rule.owner.role) return false;
        const PlanValue owner = value_of(plan.roles[seen.role], rule.owner.field, seen);
        return owner.kind == Kind::kText && owner.text == who;
    });
}

}  // namespace trueup::core
