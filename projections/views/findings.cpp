#include "projections/views/findings.h"

#include <algorithm>

namespace trueup::projections {

void FindingsView::take(const FindingEdge& edge) {
    const std::lock_guard lock(mutex_);
    seen_ = std::max(seen_, edge.offset);
    Place place{edge.subject, edge.rule, edge.id};
    const auto known = open_.find(place);
    if (edge.state == FindingState::kResolved) {
        if (known != open_.end()) {
            open_.erase(known);
        } else if (hidden_ > 0) {
            --hidden_;
        }
        return;
    }
    if (known != open_.end()) {
        known->second = edge;
    } else if (open_.size() < kMost) {
        open_.emplace(std::move(place), edge);
    } else if (edge.state == FindingState::kSuspected) {
        ++hidden_;  // its first edge: counted once
    }
}

FindingsView::Page FindingsView::list(const FindingsFilter& filter) const {
    const std::lock_guard lock(mutex_);
    Page page;
    page.seen = seen_;
    page.hidden = hidden_;
    for (const auto& [place, edge] : open_) {
        const bool meant = (filter.rule.empty() || edge.rule == filter.rule) &&
                           (filter.reason.empty() || name_of(edge.reason) == filter.reason) &&
                           (filter.subject.empty() || edge.subject == filter.subject);
        if (!meant) continue;
        if (page.findings.size() < filter.limit) {
            page.findings.push_back(edge);
        } else {
            ++page.more;
        }
    }
    return page;
}

}  // namespace trueup::projections
