// Who owns a source, and what that owner has proven (design §4.2 to §4.6).
#include "engine/core/sources.h"

#include "engine/base/guard.h"
#include "engine/core/trust.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

/// It plays no role any more: what it said says nothing, and it will begin anew if it comes back.
void Sources::forget_source(SourceId id) {
    SourceState& source = meta_.sources[id];
    break_source(source, meta_.broker_now);
    source.hole = false;
    source.epochs = source.newest = source.floor = 0;
    source.quarantine = source.beneath = Quarantine::kNone;
    source.quarantined_at = 0;
    source.rewound = false;
    source.on_trial = source.believe_next = source.believed = false;
}

/// Does its connector read it by what the settings say? One that was not restarted since then files
/// objects by another key, or does not tell a field that a rule reads by now, and would show a
/// world in which things are missing. What it tells is not taken, so that its objects are neither
/// filed where they do not belong nor counted.
void Sources::compare_mapping(SourceId id) {
    SourceState& source = meta_.sources[id];
    const std::uint64_t ours = meta_.settings.sources[id].mapping;
    const bool misread =
        ours != 0 && source.mapping != 0 && ours != source.mapping && TRUEUP_GUARD("one_mapping");
    if (misread == source.misread) return;
    source.misread = misread;
    if (misread) {
        source.believe_next = false;  // who vouched for it had another list before him
        return break_source(source, meta_.broker_now);
    }
    // Nothing was taken of what it told meanwhile.
    source.hole = meta_.settings.sources[id].role != kNoRole;
}

/// How new it was, and that it went back in time: its connector tells that once.
void Sources::pass_over(SourceState& source, const ChangeView& change) {
    if (change.kind != ChangeKind::kSnapshotBegin) return;
    if (change.rewound || change.version.hi < source.floor) source.rewound = true;
    source.newest = std::max(source.newest, change.version.hi);
}

SourceId Sources::source_of(const ItemView& item, const ChangeView& change) {
    for (SourceId id = 0; id < meta_.source_count(); ++id) {
        const SourceState& source = meta_.sources[id];
        if (source.topic == item.topic && source.name == change.source) return id;
    }
    return kNoSource;
}

void break_source(SourceState& source, BrokerTime now) {
    if (source.known || source.unknown_since == BrokerTime{}) {
        source.unknown_since = now;
    }
    source.known = false;
    source.open.reset();
    source.complete_as_of = BrokerTime{};
}

/// Is this the owner's next record? Takes over a higher token, drops lower ones and repetitions,
/// and notices holes. False: the change is not folded.
bool Sources::owned(SourceId id, const ChangeView& change) {
    SourceState& source = meta_.sources[id];
    // Tokens start at 0: a change without one is nobody's, also before the first owner came.
    if (change.incarnation < std::max(source.incarnation, kFirstOffset) &&
        TRUEUP_GUARD("one_owner")) {
        ++meta_.counters.foreign_tokens;
        return false;
    }
    if (change.incarnation > source.incarnation) {
        if (TRUEUP_GUARD("new_owner_knows_nothing")) break_source(source, meta_.broker_now);
        source.incarnation = change.incarnation;
        source.floor = source.newest;
        source.next_seq = 1;
        source.hole = source.misread = false;
        source.mapping = 0;
    }
    if (change.seq < source.next_seq && TRUEUP_GUARD("one_owner")) {
        ++meta_.counters.repeated_seq;
        return false;
    }
    if (change.seq > source.next_seq && TRUEUP_GUARD("seq_dense")) {
        ++meta_.counters.holes;
        break_source(source, meta_.broker_now);
        source.hole = true;
    }
    source.next_seq = change.seq + 1;
    if (change.mapping != 0 && change.mapping != source.mapping) {
        source.mapping = change.mapping;
        compare_mapping(id);
    }
    return true;
}

void Sources::begin_epoch(SourceState& source, const ChangeView& change) {
    // Its connector says so if it saw it happen. If none ran then, the versions do. What the same
    // owner said is no measure: its stream goes on, and is ahead of a list that is under way.
    const bool older = change.version.hi < source.floor && TRUEUP_GUARD("rewind_by_versions");
    source.open = OpenEpoch{++source.last_epoch, change.epoch, change.version, 0,
                            change.rewound || older || source.rewound};
    source.believed = std::exchange(source.believe_next, false);
}

void Sources::end_epoch(SourceId id, const ChangeView& change) {
    SourceState& source = meta_.sources[id];
    if (!source.open || source.open->wire != change.epoch) return;
    const OpenEpoch epoch = *source.open;
    source.open.reset();
    // Not all of it came: it proves nothing.
    if (epoch.count != change.count && TRUEUP_GUARD("epoch_counted")) return;
    if (!trust_.believable(id, epoch, change)) return;
    trust_.trust(id, epoch);
    source.newest = epoch.rewound ? epoch.as_of.hi : std::max(source.newest, epoch.as_of.hi);
    source.floor = std::min(source.floor, source.newest);
    source.hole = source.rewound = false;
    source.known = true;
    ++source.epochs;
    Sweep sweep;
    sweep.what = Sweep::What::kEpoch;
    sweep.source = id;
    sweep.epoch = epoch.id;
    sweep.incarnation = source.incarnation;
    sweep.as_of = epoch.as_of;
    meta_.sweeps.push_back(std::move(sweep));
}

void Sources::take_progress(SourceState& source, const ItemView& item, const ChangeView& change) {
    if (!source.known && TRUEUP_GUARD("epoch_before_progress")) return;
    // Up to its marker's append time, whatever the source's own clock shows and however long the
    // proof itself was under way.
    const BrokerTime proven = change.complete_as_of;
    // A proof lies in the past of the record that carries it.
    if (proven > item.append_time && TRUEUP_GUARD("proof_in_the_past")) return;
    source.complete_as_of = std::max(source.complete_as_of, proven);
    source.source_clock = change.source_clock;
}

}  // namespace trueup::core
