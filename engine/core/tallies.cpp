// What a subject counts for.
#include "engine/core/facts.h"

#include <algorithm>

namespace trueup::core {

namespace {

using policy::Quantifier;

bool counts(const std::vector<PlanCount::Part>& parts, const Facts& facts) {
    return std::all_of(parts.begin(), parts.end(), [&](const PlanCount::Part& part) {
        switch (part.quantifier) {
            case Quantifier::kNone:
                return !facts.is.has(part.bit);
            case Quantifier::kSurplus:
                return facts.two.has(part.bit);
            default:  // by what is there alone: what a source is silent of changes no count
                return facts.shown.has(part.bit);
        }
    });
}

/// A row whose key cannot be told may be anybody's, as long as it may be live.
bool keyless_counts(const Plan& plan, const std::vector<PlanCount::Part>& parts,
                    const Facts& facts) {
    return std::any_of(parts.begin(), parts.end(), [&](const PlanCount::Part& part) {
        if (part.quantifier == Quantifier::kNone) return false;
        const PlanRole& role = plan.roles[part.role];
        return role.kind == policy::Kind::kRow && facts.shown.has(role.claims);
    });
}

void add(Tally& tally, std::size_t which) {
    if (tally[which] < 0xff) ++tally[which];
}

void add_unlisted(const Plan& plan, const Seen& seen, Tally& tally) {
    for (std::size_t i = 0; i < plan.tallies.size(); ++i) {
        const FieldAt& field = plan.tallies[i].unlisted;
        if (field.role != seen.role) continue;
        if ((plan.roles[field.role].fields[field.field].tests & seen.unlisted) != 0) add(tally, i);
    }
}

}  // namespace

Tally tally_of(const Plan& plan, const Subject& subject, const Facts& facts) {
    Tally tally{};
    for (const PlanCount& count : plan.counts) {
        if (!count.objects) {
            if (subject.ending) continue;
            const bool any = std::any_of(
                count.any.begin(), count.any.end(), [&](const std::vector<PlanCount::Part>& parts) {
                    return subject.reference() ? keyless_counts(plan, parts, facts)
                                               : counts(parts, facts);
                });
            if (any) add(tally, count.first);
            continue;
        }
        for (const Seen& seen : facts.seen) {
            if (!seen.answers.may.has(count.objects->bit)) continue;
            if (count.words.empty()) add(tally, count.first);
            for (std::size_t word = 0; word < count.words.size(); ++word) {
                if (seen.answers.sure.has(count.words[word])) add(tally, count.first + word);
            }
        }
    }
    for (const Seen& seen : facts.seen) {
        if (seen.unlisted != 0) add_unlisted(plan, seen, tally);
    }
    return tally;
}

}  // namespace trueup::core
