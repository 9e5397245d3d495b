#include "engine/core/visits.h"

#include "engine/core/budget.h"
#include "engine/core/marks.h"
#include "engine/core/passes.h"
#include "engine/core/trust.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace trueup::core {

void Visits::sweep_step() {
    std::uint32_t wanted = meta_.settings.sweep_step;
    while (!meta_.sweeps.empty() && wanted > 0) {
        Sweep& sweep = meta_.sweeps.front();
        const std::vector<Entry*> entries = state_.subjects.after(sweep.cursor, wanted);
        // Marking applies this sweep too, so the cursor moves only after it.
        for (std::size_t i = 0; i < entries.size(); ++i) {
            SubjectTable::prefetch_behind(i, entries.size(),
                                          [&](std::size_t at) -> Entry& { return *entries[at]; });
            marks_.mark(*entries[i]);
        }
        if (!entries.empty()) sweep.cursor = entries.back()->subject.key;
        wanted -= static_cast<std::uint32_t>(entries.size());
        if (wanted == 0) break;
        // What a pass has shown may begin another sweep, which moves this one.
        const Sweep::What what = sweep.what;
        if (what == Sweep::What::kPass) passes_.end_pass();
        if (what == Sweep::What::kTrial) trust_.hear_trial();
        meta_.sweeps.erase(meta_.sweeps.begin());
    }
    if (!meta_.sweeps.empty()) report_.more_work = true;
}

/// Marks them, and takes the names away.
void Visits::rouse(std::vector<std::string>& keys) {
    state_.subjects.read_ahead(keys);
    for (const std::string& key : keys) {
        Entry* entry = marks_.find(key);
        if (entry == nullptr) continue;
        entry->woken = true;
        marks_.mark(*entry);
    }
    keys.clear();
}

/// Marks the subjects whose wait is over, as many as a record allows.
void Visits::wake() {
    // What wakes has news as a rule, and telling them takes longer than a look.
    std::uint32_t room = std::max(meta_.settings.sweep_step / 2, 1U);
    std::vector<std::string> keys;
    const auto take = [&](auto&& next) {
        for (; room > 0; --room) {
            std::optional<std::string> key = next();
            if (!key) return;
            keys.push_back(*std::move(key));
        }
        report_.more_work = true;
    };
    take([&] { return state_.waits.take_due(meta_.now); });
    for (SourceId id = 0; id < meta_.source_count(); ++id) {
        take([&] { return state_.waits.take_seen(id, meta_.sources[id].complete_as_of); });
    }
    const auto rules = static_cast<std::uint8_t>(meta_.rules.size());
    for (std::uint8_t number = 0; number < rules; ++number) {
        const RuleNumber rule(number);
        std::uint64_t left = left_of(meta_.settings.rules[rule.value()].budget,
                                     meta_.rules[rule.value()].spending, meta_);
        take([&] {
            return left-- > 0 ? state_.waits.take_turn(rule) : std::optional<std::string>();
        });
    }
    rouse(keys);
    if (marks_.counting()) return;
    const auto tallies = static_cast<TallyId>(state_.plan->tallies.size());
    for (TallyId tally = 0; tally < tallies; ++tally) {
        if (meta_.tallies[tally] != 0) continue;
        take([&] { return state_.waits.take_none_of(tally); });
    }
    rouse(keys);
}

}  // namespace trueup::core
