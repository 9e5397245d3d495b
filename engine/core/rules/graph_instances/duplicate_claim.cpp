#include "engine/core/rules/graph_instances/duplicate_claim.h"

#include "engine/core/rules/graph_instances/facts.h"

namespace trueup::core::graph_instances {

Verdict judge_duplicate_claim(const Subject& subject, const References& /*references*/,
                              const Settings& settings, std::uint8_t /*self*/,
                              JournalTime /*now*/) {
    const PresentFacets all_rows(subject, settings.source(kRows));
    if (pods_of(subject) < 2 && all_rows.size() < 2) return Verdict::healthy();
    std::size_t pods = 0;
    std::size_t rows = 0;
    const Facet* last = nullptr;
    for (const Facet& facet : subject.facets) {
        if (!facet.present()) continue;
        if (facet.source == settings.source(kPods) && !deleting(facet) && ++pods > 1) last = &facet;
        if (facet.source == settings.source(kRows) && live(facet) && ++rows > 1) last = &facet;
    }
    if (last == nullptr) return Verdict::healthy();
    return Verdict::waiting(Reason::kDuplicateClaim, {}, last->object_id);
}

}  // namespace trueup::core::graph_instances
