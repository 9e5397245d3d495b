#include "engine/core/facts.h"

#include "engine/core/by_itself.h"
#include "engine/core/references.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace trueup::core {

using Kind = PlanValue::Kind;

namespace {

/// What the rule reads of one object that is there.
std::uint64_t said_by(std::uint64_t sum, const Plan& plan, const PlanRule& rule, const Facet& facet,
                      const Settings& settings) {
    const Role number = settings.sources[facet.source].role;
    const PlanRole& role = plan.roles[number];
    const Seen seen = as_seen(facet, settings, nullptr);
    for (const PlanCase& each : rule.cases) {
        if (each.mentions[number].empty()) continue;
        const std::size_t state =
            (vetoed(facet) ? 1U : 0U) + (deleting(facet) ? 2U : 0U) + (ours(role, facet) ? 4U : 0U);
        sum = digest(sum, state, {Kind::kText, facet.object_id});
        for (const std::uint16_t field : each.mentions[number]) {
            if (!derived(role.fields[field])) {
                sum = digest(sum, field, value_of(role, field, seen));
            }
        }
    }
    return sum;
}

}  // namespace

void each_reference(const Plan& plan, const PlanRule& rule, const Subject& subject,
                    const Settings& settings, const References& references,
                    const std::function<void(const Facet&)>& then) {
    const auto look_up = [&](const PlanPattern& pattern, std::string_view name) {
        for (const SourceId source : plan.roles[pattern.role].sources) {
            if (!may_be_named(references.sources[source].name, name)) continue;
            for (const Facet& facet : references.about(source, name).facets) {
                if (facet.source == source) then(facet);
            }
        }
    };
    const auto look_all_up = [&](const PlanPattern& pattern) {
        if (!plan.roles[pattern.role].reference) return;
        if (!pattern.named_literal.empty()) return look_up(pattern, pattern.named_literal);
        for (const Facet& by : subject.facets) {
            const Role number = settings.sources[by.source].role;
            if (!by.present() || number != pattern.named.role) continue;
            const Seen seen = as_seen(by, settings, nullptr);
            look_up(pattern, value_of(plan.roles[number], pattern.named.field, seen).text);
        }
    };
    for (const PlanCase& each : rule.cases) {
        for (const PlanPattern& pattern : each.patterns) look_all_up(pattern);
        for (const PlanPattern& pattern : each.looked_up) look_all_up(pattern);
    }
}

/// Of what is looked up also since when: it may have changed and be what it was, before the subject
/// is judged for it.
std::uint64_t said_to(const Plan& plan, const PlanRule& rule, const Subject& subject,
                      const Settings& settings, const References& references) {
    std::uint64_t sum = 0;
    for (const Facet& facet : subject.facets) {
        const Role number = settings.sources[facet.source].role;
        if (!facet.present() || number >= plan.roles.size()) continue;
        sum = said_by(sum, plan, rule, facet, settings);
    }
    each_reference(plan, rule, subject, settings, references, [&](const Facet& facet) {
        const auto since = facet.evidence.time_since_epoch().count();
        sum = digest(sum, 0, static_cast<std::uint64_t>(since));
        if (facet.present()) sum = said_by(sum, plan, rule, facet, settings);
    });
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
