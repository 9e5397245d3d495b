// What a source says of one object becomes the facet of that object. Versions are compared before
// anything is parsed: within one object an older word never overwrites a newer one (design §4.7).
#include "engine/core/changes.h"

#include "engine/base/guard.h"
#include "engine/core/ending.h"
#include "engine/core/findings.h"
#include "engine/core/marks.h"
#include "engine/core/park.h"
#include "engine/core/sources.h"

#include <algorithm>
#include <utility>

namespace trueup::core {

namespace {

/// Where the object is among the subject's, or belongs.
struct Place {
    std::vector<Facet>::iterator at;
    bool taken = false;
};

inline Place place_of(Subject& subject, SourceId source, std::string_view object_id) {
    auto at = subject.facets.begin();
    for (; at != subject.facets.end() && at->source <= source; ++at) {
        if (at->source < source) continue;
        const int order = at->object_id.compare(object_id);
        if (order >= 0) return {at, order == 0};
    }
    return {at};
}

/// Puts the object in place of the old one, without a copy of its own where nothing has to be
/// filled in. False: they are equal. Only a column that was not sent is as it was (unchanged
/// TOAST): of any other object it is said so that nobody can tell, and what it was is no answer.
bool take_object(Facet& facet, const ChangeView& change, bool row) {
    if (!change.partial || !row) {
        if (change.object == facet.object) return false;
        facet.object.clear();
        facet.object.append(change.object);
    } else {
        std::string filled = fill_unchanged(ObjectView(change.object), facet.fields());
        if (filled == facet.object) return false;
        facet.object = std::move(filled);
    }
    facet.answers.plan = 0;
    return true;
}

}  // namespace

void Changes::take_change(const ItemView& item, const ChangeView& change, Entry* seems) {
    seems_ = seems;
    if (change.kind == ChangeKind::kIncarnationStart) return;  // its offset is the news
    const SourceId id = sources_.source_of(item, change);
    if (id == kNoSource) {
        park(meta_, report_, item,
             "no source '" + std::string(change.source) + "' writes this topic");
        return;
    }
    SourceState& source = meta_.sources[id];
    if (!sources_.owned(id, change)) return;
    if (change.kind == ChangeKind::kRemove && change.subject_key.empty()) {
        return park(meta_, report_, item, "a remove without subject_key");
    }
    const bool speaks = change.kind == ChangeKind::kUpsert || change.kind == ChangeKind::kRemove ||
                        change.kind == ChangeKind::kSame;
    if (speaks) source.newest = std::max(source.newest, change.version.hi);
    if (source.misread) return Sources::pass_over(source, change);
    switch (change.kind) {
        case ChangeKind::kUpsert:
            return upsert(id, item, change);
        case ChangeKind::kRemove:
            return remove(id, item, change);
        case ChangeKind::kSame:
            return same(id, item, change);
        case ChangeKind::kSnapshotBegin:
            return sources_.begin_epoch(source, change);
        case ChangeKind::kSnapshotEnd:
            return sources_.end_epoch(id, change);
        case ChangeKind::kProgress:
            return sources_.take_progress(source, item, change);
        case ChangeKind::kAlive:
        case ChangeKind::kOwner:
        case ChangeKind::kMarker:
        case ChangeKind::kIncarnationStart:
        case ChangeKind::kUnspecified:
            return;
    }
}

/// The facet of this object; a new one is absent, so that any word on it is news.
Facet& Changes::facet_of(Entry& entry, SourceId id, const ItemView& item,
                         std::string_view object_id) {
    Subject& subject = entry.subject;
    const Place place = place_of(subject, id, object_id);
    if (place.taken) return *place.at;
    Facet& fresh = *subject.facets.emplace(place.at);
    fresh.source = id;
    fresh.object_id = object_id;
    fresh.absence = Absence::kSwept;
    fresh.first_seen = item.append_time;
    return fresh;
}

void Changes::upsert(SourceId id, const ItemView& item, const ChangeView& change) {
    SourceState& source = meta_.sources[id];
    Entry& entry = marks_.subject_of(change.subject_key, seems_);
    Facet& facet = facet_of(entry, id, item, change.object_id);
    // Listed first: a sweep that is still on its way must not take what this epoch lists.
    if (source.open && change.epoch != 0 && change.epoch == source.open->wire) {
        ++source.open->count;
        if (facet.epoch != source.open->id) {
            facet.epoch = source.open->id;
            state_.subjects.mark_dirty(entry);
        }
    }
    refresh(entry, facet, id, item, change);
}

/// The object is listed without its content, which was told under `base`. If that is not what is
/// here, it was told to nobody, or lost on the way: the source is not known until it lists all
/// anew.
void Changes::same(SourceId id, const ItemView& item, const ChangeView& change) {
    const Facet* facet = known_facet(id, change);
    const bool same_owner = facet != nullptr && facet->incarnation == change.incarnation;
    const bool as_told = same_owner && facet->present() && facet->version == change.base;
    // The stream knows better.
    const bool passed =
        same_owner && (facet->absence == Absence::kSwept ? change.version < facet->version
                                                         : change.version <= facet->version);
    if (!as_told && !passed && TRUEUP_GUARD("same_as_told")) {
        SourceState& source = meta_.sources[id];
        if (!source.hole) ++meta_.counters.holes;
        break_source(source, meta_.broker_now);
        source.hole = true;
        return;
    }
    if (facet == nullptr) return;
    ChangeView whole = change;
    whole.object = facet->object;
    whole.partial = facet->fields().has_unchanged();
    upsert(id, item, whole);
}

/// The facet of this object, with the epochs that are still on their way counted in; none: nullptr.
const Facet* Changes::known_facet(SourceId id, const ChangeView& change) {
    Entry* entry = marks_.find(change.subject_key);
    if (entry == nullptr) return nullptr;
    marks_.apply_sweeps(*entry);
    const Place place = place_of(entry->subject, id, change.object_id);
    return place.taken ? &*place.at : nullptr;
}

/// A digest of what the object says that a rule compares; nullopt: nothing is compared.
std::optional<std::uint64_t> Changes::said(const Entry& entry, const Facet& facet) const {
    if (state_.plan == nullptr || !facet.present()) return std::nullopt;
    if (meta_.settings.sources[facet.source].role >= state_.plan->roles.size()) return std::nullopt;
    return said_by(*state_.plan, meta_.settings, entry.subject, facet);
}

/// Takes a facet's new content, if it is news.
void Changes::refresh(Entry& entry, Facet& facet, SourceId id, const ItemView& item,
                      const ChangeView& change) {
    const bool same_owner = facet.incarnation == change.incarnation;
    const bool older = facet.absence == Absence::kRemoved ? change.version <= facet.version
                                                          : change.version < facet.version;
    if (same_owner && older && TRUEUP_GUARD("monotone_versions")) {
        ++meta_.counters.stale_versions;
        return;
    }
    if (same_owner && facet.present() && change.version == facet.version) {
        ++meta_.counters.unchanged;
        return;
    }
    const bool was_present = facet.present();
    const std::optional<std::uint64_t> before = said(entry, facet);
    if (facet.absence == Absence::kRemoved) begin_anew(entry, facet, item);
    facet.incarnation = change.incarnation;
    facet.version = change.version;
    const bool changed = take_object(facet, change, item.topic == Topic::kChangesRows);
    if (!changed && was_present) {
        state_.subjects.mark_dirty(entry);
        ++meta_.counters.unchanged;
        return;
    }
    if (!was_present) count_in(facet, id);
    facet.absence = Absence::kPresent;
    state_.subjects.mark_dirty(entry);
    const bool other = !before || before != said(entry, facet);
    if (other || !TRUEUP_GUARD("evidence_by_field")) facet.evidence = item.append_time;
    facet.changed = item.append_time;
    facet.offset = record_.offset;
    marks_.note_reference(entry, id);
    marks_.mark(entry);
}

void Changes::count_in(Facet& facet, SourceId id) {
    ++meta_.sources[id].population;
    // Said after the end of epochs whose sweeps are still on their way: they took it already, and
    // must not take it again, or it would count how far they are.
    for (const Sweep& sweep : meta_.sweeps) {
        if (sweep.source == id) facet.epoch = std::max(facet.epoch, sweep.epoch);
    }
}

/// The source said that the object is gone, and now that it is there: under one id it is another
/// one, as a row that was deleted and inserted in one commit. What was found of the former is over
/// (S17).
void Changes::begin_anew(Entry& entry, Facet& facet, const ItemView& item) {
    Subject& subject = entry.subject;
    facet.first_seen = item.append_time;
    for (std::size_t i = subject.findings.size(); i > 0; --i) {
        const Finding& finding = subject.findings[i - 1];
        if (finding.object_id != facet.object_id || finding.command || finding.dismissed ||
            ends(subject, finding)) {
            continue;
        }
        ++meta_.rules[finding.rule.value()].retracted;
        findings_.resolve(entry, i - 1, Reason::kRetracted);
    }
    if (!subject.ending) return;
    Ending& ending = *subject.ending;
    if (ending.target_source == facet.source && ending.target == facet.object_id) {
        ending.target.clear();  // it is gone; this one was not bound when the ending began
    }
}

void Changes::remove(SourceId id, const ItemView& item, const ChangeView& change) {
    SourceState& source = meta_.sources[id];
    Entry& entry = marks_.subject_of(change.subject_key, seems_);
    Facet& facet = facet_of(entry, id, item, change.object_id);
    const bool older = facet.incarnation == change.incarnation && change.version < facet.version;
    if (older && TRUEUP_GUARD("monotone_versions")) {
        ++meta_.counters.stale_versions;
        return;
    }
    if (facet.present()) --source.population;
    facet.absence = Absence::kRemoved;
    facet.incarnation = change.incarnation;
    facet.version = change.version;
    facet.evidence = facet.changed = item.append_time;
    facet.offset = record_.offset;
    facet.gone_since = source.epochs;
    facet.object.clear();
    facet.answers.plan = 0;
    state_.subjects.mark_dirty(entry);
    marks_.note_reference(entry, id);
    marks_.mark(entry);
}

}  // namespace trueup::core
