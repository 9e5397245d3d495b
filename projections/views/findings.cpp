#include "projections/views/findings.h"

#include <algorithm>
#include <tuple>

namespace trueup::projections {

void FindingsView::take(const FindingEdge& edge) {
    const MutexLock lock(mutex_);
    const auto shard = static_cast<std::size_t>(edge.shard.value());
    if (shard >= seen_.size()) seen_.resize(shard + 1, kNoOffset);
    seen_[shard] = std::max(seen_[shard], edge.offset);
    const auto known = open_.find(edge.id);
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
        open_.emplace(edge.id, edge);
        if (!edge.opened && hidden_ > 0) --hidden_;  // it was counted, and has room now
    } else if (edge.opened) {
        ++hidden_;  // counted once
    }
}

std::optional<FindingEdge> FindingsView::find(const FindingId& id) const {
    const MutexLock lock(mutex_);
    const auto found = open_.find(id);
    if (found == open_.end()) return std::nullopt;
    return found->second;
}

FindingsView::Page FindingsView::list(const FindingsFilter& filter) const {
    const MutexLock lock(mutex_);
    Page page;
    page.seen = seen_;
    page.hidden = hidden_;
    std::vector<const FindingEdge*> meant;
    for (const auto& [id, edge] : open_) {
        const bool matches = (filter.id.empty() || to_hex(id).starts_with(filter.id)) &&
                             (filter.rule.empty() || edge.rule == filter.rule) &&
                             (filter.reason.empty() || edge.reason_name() == filter.reason) &&
                             (filter.subject.empty() || edge.subject == filter.subject);
        if (matches) meant.push_back(&edge);
    }
    std::stable_sort(meant.begin(), meant.end(), [](const FindingEdge* a, const FindingEdge* b) {
        return std::tie(a->subject, a->rule) < std::tie(b->subject, b->rule);
    });
    const std::size_t shown = std::min(meant.size(), filter.limit);
    for (std::size_t i = 0; i < shown; ++i) page.findings.push_back(*meant[i]);
    page.more = meant.size() - shown;
    return page;
}

}  // namespace trueup::projections
