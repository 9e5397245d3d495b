// What a subject counts for.
#include "engine/core/facts.h"

#include <algorithm>

namespace trueup::core {

namespace {

/// By what is there alone: what a source is silent of changes no count. A row whose key cannot be
/// told may be anybody's, as long as it may be live.
bool counts(const PlanCount& count, const Subject& subject, const Facts& facts) {
    if (subject.ending) return false;
    if (subject.reference()) return facts.shown.has_any(count.keyless);
    return std::any_of(count.any.begin(), count.any.end(), [&](const Mask& mask) {
        return facts.shown.has_all(mask.may) && facts.two.has_all(mask.pairs) &&
               !facts.is.has_any(mask.never);
    });
}

void add(Tally& tally, std::size_t which) {
    if (tally[which] < 0xff) ++tally[which];
}

void add_unlisted(const Plan& plan, Role role, std::uint64_t unlisted, Tally& tally) {
    for (std::size_t i = 0; i < plan.tallies.size(); ++i) {
        const FieldAt& field = plan.tallies[i].unlisted;
        if (field.role != role) continue;
        if ((plan.roles[role].fields[field.field].tests & unlisted) != 0) add(tally, i);
    }
}

}  // namespace

Tally tally_of(const Plan& plan, const Subject& subject, const Facts& facts) {
    Tally tally{};
    for (const PlanCount& count : plan.counts) {
        if (!count.objects) {
            if (counts(count, subject, facts)) add(tally, count.first);
            continue;
        }
        if (!facts.shown.has(*count.objects)) continue;
        for (const Seen& seen : facts.seen) {
            if (!seen.answers->may.has(*count.objects)) continue;
            if (count.words.empty()) add(tally, count.first);
            for (std::size_t word = 0; word < count.words.size(); ++word) {
                if (seen.answers->sure.has(count.words[word])) add(tally, count.first + word);
            }
        }
    }
    for (const Seen& seen : facts.seen) {
        if (seen.worked_out && seen.worked_out->unlisted != 0) {
            add_unlisted(plan, seen.role, seen.worked_out->unlisted, tally);
        }
    }
    return tally;
}

}  // namespace trueup::core
