#include "engine/core/fold.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/core/aftermaths.h"
#include "engine/core/approvals.h"
#include "engine/core/brake.h"
#include "engine/core/changes.h"
#include "engine/core/command_id.h"
#include "engine/core/enablings.h"
#include "engine/core/endings.h"
#include "engine/core/findings.h"
#include "engine/core/judging.h"
#include "engine/core/marks.h"
#include "engine/core/outcomes.h"
#include "engine/core/park.h"
#include "engine/core/passes.h"
#include "engine/core/requests.h"
#include "engine/core/settings_in_force.h"
#include "engine/core/sources.h"
#include "engine/core/trust.h"
#include "engine/core/visits.h"

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

void park(Meta& meta, FoldReport& report, const ItemView& item, std::string reason) {
    ++meta.counters.parked;
    report.parked.push_back({item.topic, item.offset, std::move(reason), std::string(item.bytes)});
}

namespace {

/// One `fold` call: the order of one record, over the parts that do the work. Each part names what
/// it may touch.
class FoldRun {
  public:
    FoldRun(State& state, const JournalView& record, FoldReport& report)
        : state_(state),
          meta_(state.meta),
          record_(record),
          report_(report),
          brakes_(state),
          findings_(state, record, report),
          marks_(state, record, report, findings_),
          aftermaths_(state, marks_),
          endings_(state, findings_, marks_, aftermaths_),
          outcomes_(state, findings_, marks_, endings_, aftermaths_, brakes_),
          judging_(state, findings_, marks_, endings_, outcomes_, aftermaths_, brakes_),
          trust_(state, state.meta, report, marks_),
          sources_(state.meta, trust_),
          changes_(state, record, report, sources_, marks_, findings_),
          enablings_(state, state.meta, record, marks_),
          approvals_(state, state.meta, marks_, findings_, endings_, aftermaths_),
          requests_(state, report, marks_, approvals_, enablings_, trust_, brakes_),
          settings_(state, record, report, sources_, enablings_, marks_),
          passes_(state.meta, enablings_),
          visits_(state, report, marks_, passes_, trust_) {}

    void run();

  private:
    using Entry = SubjectTable::Entry;

    void advance_time();
    void take_genesis(const Genesis& genesis);
    void take_items();
    void take_item(const ItemView& item, Entry* seems);

    State& state_;
    Meta& meta_;
    const JournalView& record_;
    FoldReport& report_;
    // Each refers to earlier ones only.
    const Brakes brakes_;
    Findings findings_;
    Marks marks_;
    Aftermaths aftermaths_;
    Endings endings_;
    Outcomes outcomes_;
    Judging judging_;
    Trust trust_;
    Sources sources_;
    Changes changes_;
    Enablings enablings_;
    Approvals approvals_;
    Requests requests_;
    SettingsInForce settings_;
    Passes passes_;
    Visits visits_;
};

void FoldRun::run() {
    advance_time();
    if (record_.genesis) take_genesis(*record_.genesis);
    if (record_.settings) settings_.take_settings(*record_.settings);
    if (!state_.halted.empty()) return;
    take_items();
    if (state_.plan != nullptr) {
        passes_.tend_pass();
        trust_.tend_trial();
        marks_.judge_dependents();
        visits_.sweep_step();
        visits_.wake();
        // Judged at the end and once each, so that no verdict of this record leans on half of it.
        for (std::size_t i = 0; i < marks_.all().size(); ++i) {
            marks_.prefetch(i);
            judging_.judge(marks_.all()[i]);
        }
        marks_.collect_all();
        trust_.end_trial();
        marks_.judge_dependents();  // of references that a sweep changed
    }
    for (SourceId id = 0; id < meta_.source_count(); ++id) {
        const SourceState& source = meta_.sources[id];
        // Another list of what is misread would not help.
        const bool unwell = !source.misread && (source.hole || unknown_by(source.quarantine));
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
            take_item(item, known ? seem[count++] : nullptr);
        }
    }
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

void FoldRun::take_item(const ItemView& item, Entry* seems) {
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
        changes_.take_change(item, *change, seems);
    } else if (const auto* outcome = std::get_if<Outcome>(&item.body)) {
        outcomes_.take_outcome(item, *outcome);
    } else if (const auto* request = std::get_if<Boxed<Request>>(&item.body)) {
        requests_.take_request(item, **request);
    } else if (!item.bytes.empty()) {  // an empty record is an executor's heartbeat
        park(meta_, report_, item, std::get<Undecodable>(item.body).reason);
    }
}

}  // namespace

void fold(State& state, const JournalView& record, FoldReport& report) {
    TRUEUP_CHECK(record.offset > state.meta.applied);
    if (!state.halted.empty()) return;
    FoldRun(state, record, report).run();
}

}  // namespace trueup::core
