// What a source says of one object becomes the facet of that object. Versions are compared before
// anything is parsed: within one object an older word never overwrites a newer one (design §4.7).
#include "engine/base/guard.h"
#include "engine/core/fold_run.h"

#include <algorithm>

namespace trueup::core {

namespace {

std::vector<Facet>::iterator place_of(Subject& subject, SourceId source,
                                      std::string_view object_id) {
    return std::find_if(subject.facets.begin(), subject.facets.end(), [&](const Facet& facet) {
        return facet.source > source ||
               (facet.source == source && std::string_view(facet.object_id) >= object_id);
    });
}

bool is(const Subject& subject, std::vector<Facet>::iterator place, SourceId source,
        std::string_view object_id) {
    return place != subject.facets.end() && place->source == source &&
           place->object_id == object_id;
}

}  // namespace

void FoldRun::take_change(const ItemView& item, const ChangeView& change) {
    if (change.kind == ChangeKind::kIncarnationStart) return;  // its offset is the news
    const SourceId id = source_of(item, change);
    if (id == kNoSource) {
        park(item, "no source '" + std::string(change.source) + "' writes this topic");
        return;
    }
    SourceState& source = meta_.sources[id];
    if (!owned(source, change)) return;
    if (change.kind == ChangeKind::kRemove && change.subject_key.empty()) {
        return park(item, "a remove without subject_key");
    }
    switch (change.kind) {
        case ChangeKind::kUpsert:
            return upsert(id, item, change);
        case ChangeKind::kRemove:
            return remove(id, item, change);
        case ChangeKind::kSnapshotBegin:
            return begin_epoch(source, change);
        case ChangeKind::kSnapshotEnd:
            return end_epoch(id, change);
        case ChangeKind::kProgress:
            return take_progress(source, item, change);
        case ChangeKind::kAlive:
        case ChangeKind::kOwner:
        case ChangeKind::kMarker:
        case ChangeKind::kIncarnationStart:
        case ChangeKind::kUnspecified:
            return;
    }
}

void FoldRun::upsert(SourceId id, const ItemView& item, const ChangeView& change) {
    SourceState& source = meta_.sources[id];
    Entry* entry = find(change.subject_key);
    if (entry == nullptr) {
        entry = &state_.subjects.at(change.subject_key);
        ++meta_.subjects;
    }
    apply_sweeps(*entry);
    Subject& subject = entry->subject;
    auto place = place_of(subject, id, change.object_id);
    if (!is(subject, place, id, change.object_id)) {
        Facet fresh;
        fresh.source = id;
        fresh.object_id = change.object_id;
        fresh.absence = Absence::kSwept;  // any word on it is news
        fresh.first_seen = item.append_time;
        place = subject.facets.insert(place, std::move(fresh));
    }
    // Listed first: a sweep that is still on its way must not take what this epoch lists.
    if (source.open && change.epoch != 0 && change.epoch == source.open->wire) {
        ++source.open->count;
        if (place->epoch != source.open->id) {
            place->epoch = source.open->id;
            state_.subjects.mark_dirty(*entry);
        }
    }
    refresh(*entry, *place, id, item, change);
}

/// Takes a facet's new content, if it is news.
void FoldRun::refresh(Entry& entry, Facet& facet, SourceId id, const ItemView& item,
                      const ChangeView& change) {
    const bool older = facet.absence == Absence::kRemoved ? change.version <= facet.version
                                                          : change.version < facet.version;
    if (older && TRUEUP_GUARD("monotone_versions")) {
        ++meta_.counters.stale_versions;
        return;
    }
    if (facet.present() && change.version == facet.version) {
        ++meta_.counters.unchanged;
        return;
    }
    const bool was_present = facet.present();
    std::string object = fill_unchanged(ObjectView(change.object), facet.fields());
    facet.version = change.version;
    state_.subjects.mark_dirty(entry);
    if (was_present && object == facet.object) {
        ++meta_.counters.unchanged;
        return;
    }
    if (!was_present) ++meta_.sources[id].population;
    facet.absence = Absence::kPresent;
    facet.object = std::move(object);
    facet.evidence = item.append_time;
    facet.offset = record_.offset;
    mark(entry);
}

void FoldRun::remove(SourceId id, const ItemView& item, const ChangeView& change) {
    SourceState& source = meta_.sources[id];
    Entry* entry = find(change.subject_key);
    if (entry == nullptr) {
        entry = &state_.subjects.at(change.subject_key);
        ++meta_.subjects;
    }
    apply_sweeps(*entry);
    Subject& subject = entry->subject;
    auto place = place_of(subject, id, change.object_id);
    if (!is(subject, place, id, change.object_id)) {
        Facet fresh;
        fresh.source = id;
        fresh.object_id = change.object_id;
        fresh.absence = Absence::kSwept;
        fresh.first_seen = item.append_time;
        place = subject.facets.insert(place, std::move(fresh));
    }
    Facet& facet = *place;
    if (change.version < facet.version && TRUEUP_GUARD("monotone_versions")) {
        ++meta_.counters.stale_versions;
        return;
    }
    if (facet.present()) --source.population;
    facet.absence = Absence::kRemoved;
    facet.version = change.version;
    facet.evidence = item.append_time;
    facet.offset = record_.offset;
    facet.gone_since = source.epochs;
    facet.object.clear();
    state_.subjects.mark_dirty(*entry);
    mark(*entry);
}

}  // namespace trueup::core
