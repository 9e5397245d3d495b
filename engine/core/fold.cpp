#include "engine/core/fold.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/core/budget.h"
#include "engine/core/command_id.h"
#include "engine/core/fold_run.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

namespace trueup::core {

void FoldReport::clear() {
    findings.clear();
    commands.clear();
    gaps.clear();
    parked.clear();
    wants_epoch.clear();
    more_work = false;
}

void adopt_waits(State& state, const Subject& subject) {
    for (const Wait& wait : subject.waits) state.waits.add(subject.key, wait);
}

void fold(State& state, const JournalView& record, FoldReport& report) {
    TRUEUP_CHECK(record.offset > state.meta.applied);
    if (!state.halted.empty()) return;
    FoldRun(state, record, report).run();
}

void FoldRun::run() {
    advance_time();
    if (record_.genesis) take_genesis(*record_.genesis);
    if (record_.settings) take_settings(*record_.settings);
    if (!state_.halted.empty()) return;
    take_items();
    if (state_.plan != nullptr) {
        budget_ = meta_.settings.sweep_step;
        tend_pass();
        tend_trial();
        judge_dependents();
        sweep_step();
        // What wakes has news as a rule, and telling them takes longer than a look.
        budget_ = std::min(budget_, std::max(meta_.settings.sweep_step / 2, 1U));
        wake();
        // Judged at the end and once each, so that no verdict of this record leans on half of it.
        for (std::size_t i = 0; i < marked_.size(); ++i) judge(i);
        for (const Marked& each : marked_) collect(*each.entry);
        end_trial();
        judge_dependents();  // of references that a sweep changed
    }
    for (SourceId id = 0; id < source_count(); ++id) {
        const SourceState& source = meta_.sources[id];
        const bool unwell = source.hole || unknown_by(source.quarantine);
        if (unwell && !source.open) report_.wants_epoch.push_back(id);
    }
    meta_.applied = record_.offset;
    meta_.record = record_.digest;
}

/// Some items at a time, so that the subjects of all of them are on their way from memory at once.
void FoldRun::take_items() {
    constexpr std::size_t kGroup = SubjectTable::kMostAhead;
    const auto before = meta_.counters.items;
    std::array<std::string_view, kGroup> keys;
    std::array<Entry*, kGroup> seem{};
    const std::span<const ItemView> items(record_.items);
    for (std::size_t from = 0; from < items.size(); from += kGroup) {
        const auto group = items.subspan(from, std::min(kGroup, items.size() - from));
        std::size_t count = 0;
        for (const ItemView& item : group) {
            const auto* change = std::get_if<ChangeView>(&item.body);
            if (change != nullptr && !change->subject_key.empty()) {
                keys[count++] = change->subject_key;
            }
        }
        state_.subjects.prefetch(std::span(keys).first(count), seem);
        count = 0;
        for (const ItemView& item : group) {
            const auto* change = std::get_if<ChangeView>(&item.body);
            const bool known = change != nullptr && !change->subject_key.empty();
            seems_ = known ? seem[count++] : nullptr;
            take_item(item);
        }
    }
    seems_ = nullptr;
    // Before anything is ordered. What brings nothing new leaves the chain alone.
    if (meta_.counters.items == before) return;
    meta_.chain = extend_chain(meta_.chain, record_.digest);
}

/// Journal time is watched time: a step that is longer than max_clock_step was not watched, so it
/// counts as max_clock_step only, nothing that was proven before it is fresh any more (design
/// §4.8), and create windows begin anew at its end (docs/adr/0020).
void FoldRun::advance_time() {
    const BrokerTime before = meta_.broker_now;
    const bool first = before == BrokerTime{};
    const Millis step = first ? Millis{0} : Millis(record_.append_time - before);
    const Millis longest = meta_.settings.max_clock_step;
    const bool unwatched = step < Millis{0} || (step > longest && TRUEUP_GUARD("max_clock_step"));
    if (unwatched) {
        ++meta_.counters.clamped_steps;
        for (SourceState& source : meta_.sources) source.complete_as_of = BrokerTime{};
        meta_.now += step < Millis{0} ? Millis{0} : longest;
        if (TRUEUP_GUARD("window_is_watched")) {
            meta_.watched_since = std::max(before, record_.append_time);
        }
    } else {
        meta_.now += step;
    }
    meta_.broker_now = std::max(before, record_.append_time);
}

void FoldRun::take_genesis(const Genesis& genesis) {
    // Two engines may both have written one to an empty journal; the first one counts.
    if (!meta_.journal_id.none()) return;
    meta_.journal_id = genesis.journal_id;
    meta_.partitions = genesis.partitions;
    meta_.shard = genesis.shard;
}

/// Has every subject judged, some with each record.
void FoldRun::judge_all() {
    // One that has not begun yet will do.
    const bool waiting =
        std::any_of(meta_.sweeps.begin(), meta_.sweeps.end(), [](const Sweep& sweep) {
            return sweep.what == Sweep::What::kJudgement && sweep.cursor.empty();
        });
    if (!waiting) meta_.sweeps.push_back({});
}

void FoldRun::take_item(const ItemView& item) {
    Offset& last = meta_.last[static_cast<std::size_t>(item.topic)];
    if (item.offset <= last && TRUEUP_GUARD("duplicate_dropped")) {
        ++meta_.counters.duplicates;
        return;
    }
    if (item.prev_offset > last && TRUEUP_GUARD("gap_not_folded")) {
        ++meta_.counters.gaps;
        const Gap gap{item.topic, last};
        if (std::find(report_.gaps.begin(), report_.gaps.end(), gap) == report_.gaps.end()) {
            report_.gaps.push_back(gap);
        }
        return;
    }
    last = std::max(last, item.offset);
    ++meta_.counters.items;
    if (const auto* change = std::get_if<ChangeView>(&item.body)) {
        take_change(item, *change);
    } else if (const auto* outcome = std::get_if<Outcome>(&item.body)) {
        take_outcome(item, *outcome);
    } else if (const auto* request = std::get_if<Request>(&item.body)) {
        take_request(item, *request);
    } else if (!item.bytes.empty()) {  // an empty record is an executor's heartbeat
        park(item, std::get<Undecodable>(item.body).reason);
    }
}

void FoldRun::park(const ItemView& item, std::string reason) {
    ++meta_.counters.parked;
    report_.parked.push_back({item.topic, item.offset, std::move(reason), std::string(item.bytes)});
}

FoldRun::Entry* FoldRun::find(std::string_view key) { return state_.subjects.find(key); }

/// Has the subject judged at the end of this record. Epochs that are still on their way over the
/// subjects count for it at once.
void FoldRun::mark(Entry& entry) {
    if (state_.plan == nullptr) return;  // nobody is judged
    if (entry.marked == 0) {
        marked_.push_back({&entry, {}});
        entry.marked = static_cast<std::uint32_t>(marked_.size());
    }
    if (!meta_.sweeps.empty()) apply_sweeps(entry);
    count(entry);
}

/// What the plan's conditions make of the subject now.
void FoldRun::look(Entry& entry, Facts& facts) {
    look_at(*state_.plan, entry.subject, meta_.settings, meta_.sources, facts);
}

/// Keeps the policy's tallies: what the subject counts for now in place of what it counted before.
/// Of one that is to be judged it is remembered what its objects came to.
void FoldRun::count(Entry& entry) {
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
void FoldRun::note_reference(const Entry& entry, SourceId id) {
    if (!entry.subject.reference() || state_.plan == nullptr) return;
    const Role role = meta_.settings.sources[id].role;
    if (role != kNoRole && state_.plan->roles[role].reference) reference_changed_ = true;
}

void FoldRun::judge_dependents() {
    if (!std::exchange(reference_changed_, false)) return;
    judge_all();
    report_.more_work = true;
}

const Subject& FoldRun::about(SourceId source, std::string_view name) {
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

bool FoldRun::counting() const {
    return std::any_of(meta_.sweeps.begin(), meta_.sweeps.end(), [](const Sweep& sweep) {
        return sweep.what == Sweep::What::kEpoch || sweep.what == Sweep::What::kPolicy;
    });
}

/// Marks them, and takes the names away.
void FoldRun::rouse(std::vector<std::string>& keys) {
    state_.subjects.read_ahead(keys);
    for (const std::string& key : keys) {
        Entry* entry = find(key);
        if (entry == nullptr) continue;
        entry->woken = true;
        mark(*entry);
    }
    keys.clear();
}

/// Marks the subjects whose wait is over, as many as the budget of this record allows.
void FoldRun::wake() {
    std::vector<std::string> keys;
    const auto take = [&](auto&& next) {
        for (; budget_ > 0; --budget_) {
            std::optional<std::string> key = next();
            if (!key) return;
            keys.push_back(*std::move(key));
        }
        report_.more_work = true;
    };
    take([&] { return state_.waits.take_due(meta_.now); });
    for (SourceId id = 0; id < source_count(); ++id) {
        take([&] { return state_.waits.take_seen(id, meta_.sources[id].complete_as_of); });
    }
    const auto rules = static_cast<std::uint8_t>(meta_.rules.size());
    for (std::uint8_t number = 0; number < rules; ++number) {
        const RuleNumber rule(number);
        std::uint64_t room = left_of(meta_.settings.rules[rule.value()].budget,
                                     meta_.rules[rule.value()].spending, meta_);
        take([&] {
            return room-- > 0 ? state_.waits.take_turn(rule) : std::optional<std::string>();
        });
    }
    rouse(keys);
    if (counting()) return;
    const auto tallies = static_cast<TallyId>(state_.plan->tallies.size());
    for (TallyId tally = 0; tally < tallies; ++tally) {
        if (meta_.tallies[tally] != 0) continue;
        take([&] { return state_.waits.take_none_of(tally); });
    }
    rouse(keys);
}

}  // namespace trueup::core
