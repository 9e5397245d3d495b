#include "engine/core/marks.h"

#include "engine/base/check.h"

#include <algorithm>
#include <string>
#include <utility>

namespace trueup::core {

/// Has every subject judged, some with each record.
void Marks::judge_all() {
    // One that has not begun yet will do.
    const bool waiting =
        std::any_of(meta_.sweeps.begin(), meta_.sweeps.end(), [](const Sweep& sweep) {
            return sweep.what == Sweep::What::kJudgement && sweep.cursor.empty();
        });
    if (!waiting) meta_.sweeps.push_back({});
}

Marks::Entry* Marks::find(std::string_view key) { return state_.subjects.find(key); }

/// Has the subject judged at the end of this record. Epochs that are still on their way over the
/// subjects count for it at once.
void Marks::mark(Entry& entry) {
    if (state_.plan == nullptr) return;  // nobody is judged
    if (entry.marked == 0) {
        marked_.push_back({&entry, {}});
        entry.marked = static_cast<std::uint32_t>(marked_.size());
    }
    if (!meta_.sweeps.empty()) apply_sweeps(entry);
    count(entry);
}

/// Keeps the policy's tallies: what the subject counts for now in place of what it counted before.
/// Of one that is to be judged it is remembered what its objects came to.
void Marks::count(Entry& entry) {
    Word unmarked;
    Word& word = entry.marked == 0 ? unmarked : marked_[entry.marked - 1].word;
    const Tally now = tally_of(*state_.plan, entry.subject, meta_.settings, word);
    Tally& before = entry.subject.counted;
    if (now == before) return;
    for (std::size_t i = 0; i < now.size(); ++i) {
        meta_.tallies[i] = meta_.tallies[i] + now[i] - before[i];
    }
    before = now;
    state_.subjects.mark_dirty(entry);
}

/// Whoever needs this object is to be judged again.
void Marks::note_reference(const Entry& entry, SourceId id) {
    if (!entry.subject.reference() || state_.plan == nullptr) return;
    const Role role = meta_.settings.sources[id].role;
    if (role != kNoRole && state_.plan->roles[role].reference) reference_changed_ = true;
}

void Marks::judge_dependents() {
    if (!std::exchange(reference_changed_, false)) return;
    judge_all();
    report_.more_work = true;
}

const Subject& Marks::about(SourceId source, std::string_view name) {
    TRUEUP_CHECK(source < meta_.sources.size());
    std::string key = "!";
    key += meta_.sources[source].name;
    key += '/';
    key += name;
    Entry* entry = find(key);
    if (entry == nullptr) return nobody_;
    apply_sweeps(*entry);
    return entry->subject;
}

bool Marks::counting() const {
    return std::any_of(meta_.sweeps.begin(), meta_.sweeps.end(), [](const Sweep& sweep) {
        return sweep.what == Sweep::What::kEpoch || sweep.what == Sweep::What::kPolicy;
    });
}

}  // namespace trueup::core
