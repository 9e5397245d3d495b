// What a subject counts for.
#include "engine/core/by_itself.h"
#include "engine/core/facts.h"

#include <algorithm>

namespace trueup::core {

namespace {

/// By what is there alone: what a source is silent of changes no count. A row whose key cannot be
/// told may be anybody's, as long as it may be live.
bool counts(const PlanCount& count, const Subject& subject, const Word& word) {
    if (subject.ending) return false;
    if (subject.reference()) return word.shown.has_any(count.keyless);
    return std::any_of(count.any.begin(), count.any.end(), [&](const Mask& mask) {
        return word.shown.has_all(mask.may) && word.two.has_all(mask.pairs) &&
               !word.is.has_any(mask.never);
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

void add_object(const Plan& plan, Role role, const Answers& answers, Tally& tally) {
    for (const std::uint16_t index : plan.roles[role].counted) {
        const PlanCount& count = plan.counts[index];
        if (!answers.may.has(*count.objects)) continue;
        if (count.words.empty()) add(tally, count.first);
        for (std::size_t word = 0; word < count.words.size(); ++word) {
            if (!answers.sure.has(count.words[word])) continue;
            add(tally, count.first + word);
            if (count.one_word) break;
        }
    }
}

}  // namespace

Tally tally_of(const Plan& plan, const Subject& subject, const Settings& settings, Word& word) {
    Tally tally{};
    word = {};
    for (const Facet& facet : subject.facets) {
        const Role role = settings.sources[facet.source].role;
        if (!facet.present() || role >= plan.roles.size()) continue;
        if (kept(plan, facet)) {
            add_object(plan, role, facet.answers, tally);
            word.add(role, facet.answers);
            continue;
        }
        Seen seen = as_seen(facet, settings, subject.ledger ? &*subject.ledger : nullptr);
        keep_answers(plan, facet, seen);
        add_object(plan, role, *seen.answers, tally);
        word.add(role, *seen.answers);
        if (seen.worked_out) add_unlisted(plan, role, seen.worked_out->unlisted, tally);
    }
    for (const std::uint16_t index : plan.of_subjects) {
        const PlanCount& count = plan.counts[index];
        if (counts(count, subject, word)) add(tally, count.first);
    }
    return tally;
}

}  // namespace trueup::core
