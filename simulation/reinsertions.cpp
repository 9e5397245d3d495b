#include "simulation/reinsertions.h"

namespace trueup::simulation {

void Reinsertions::told_gone(const std::string& pk) {
    const auto found = rows_.find(pk);
    if (found == rows_.end() || found->second.listed) return;
    if (!found->second.told) found->second.told = scheduler_.steady_now();
}

/// Two lists in a row do not show that a row was deleted and inserted again, as it was, in between.
void Reinsertions::list_begins() {
    for (auto& [pk, row] : rows_) row.listed = row.listed || !row.told;
}

const Reinsertions::Reinserted* Reinsertions::find(const std::string& pk) const {
    const auto found = rows_.find(pk);
    return found == rows_.end() ? nullptr : &found->second;
}

}  // namespace trueup::simulation
