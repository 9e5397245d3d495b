// What the sources said, without any cleverness: maps, no cursors, no caches. The fold is held
// against it. Only what is seen, not what is judged: owners, holes, epochs, progress, facets.
#pragma once

#include "engine/model/journal.h"
#include "engine/model/object.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace trueup::testing {

class NaiveModel {
  public:
    using ObjectKey = std::pair<std::string, std::string>;  ///< subject, object
    struct Object {
        bool present = false;
        bool removed = false;
        Incarnation owner = kNoOffset;
        Version version;
        std::string fields;
        std::uint64_t gone_since = 0;
    };
    struct OpenEpoch {
        std::uint64_t wire = 0;
        Version as_of;
        std::uint64_t items = 0;
        std::set<ObjectKey> listed;
        bool rewound = false;
    };
    struct Source {
        Topic topic = Topic::kUnspecified;
        Incarnation owner = kNoOffset;
        std::uint64_t next_seq = 1;
        bool known = false;
        bool hole = false;
        std::uint64_t complete_epochs = 0;
        bool dropped = false;
        bool rewound = false;
        std::uint64_t quarantined_at = 0;
        std::uint64_t newest = 0;
        std::uint64_t newest_of_former = 0;
        std::optional<OpenEpoch> open;
        BrokerTime fresh_until{};
        std::map<ObjectKey, Object> objects;

        std::uint64_t population() const {
            return static_cast<std::uint64_t>(std::count_if(
                objects.begin(), objects.end(), [](const auto& o) { return o.second.present; }));
        }
    };

    void fold(const JournalView& record) {
        const Millis step = before_ == BrokerTime{} ? Millis{0} : record.append_time - before_;
        before_ = std::max(before_, record.append_time);
        if (step < Millis{0} || step > max_clock_step_) {
            for (auto& [name, source] : sources) source.fresh_until = {};
        }
        if (record.settings && record.settings_after == settings_at_) {
            settings_at_ = record.offset;
            max_clock_step_ = record.settings->max_clock_step;
            for (const SourceSettings& s : record.settings->sources) {
                sources[s.name].topic = s.topic;
            }
        }
        for (const ItemView& item : record.items) {
            Offset& end = ends_[item.topic];
            if (item.offset < end || item.prev_offset >= end) continue;
            end = next(item.offset);
            if (const auto* change = std::get_if<ChangeView>(&item.body)) take(item, *change);
        }
        for (auto& [name, source] : sources) {
            std::erase_if(source.objects, [&](const auto& o) {
                return !o.second.present && source.complete_epochs >= o.second.gone_since + 2;
            });
        }
    }

    std::map<std::string, Source> sources;

  private:
    static void forget_proofs(Source& source) {
        source.known = false;
        source.open.reset();
        source.fresh_until = {};
    }

    void take(const ItemView& item, const ChangeView& change) {
        const auto found = sources.find(std::string(change.source));
        if (change.kind == ChangeKind::kIncarnationStart) return;
        if (found == sources.end() || found->second.topic != item.topic) return;
        Source& source = found->second;
        if (change.incarnation < kFirstOffset || change.incarnation < source.owner) return;
        if (change.incarnation > source.owner) {
            forget_proofs(source);
            source.owner = change.incarnation;
            source.newest_of_former = source.newest;
            source.next_seq = 1;
            source.hole = false;
        }
        if (change.seq < source.next_seq) return;
        if (change.seq > source.next_seq) {
            forget_proofs(source);
            source.hole = true;
        }
        source.next_seq = change.seq + 1;
        said(source, item, change);
    }

    void said(Source& source, const ItemView& item, const ChangeView& change) {
        const ObjectKey key{change.subject_key, change.object_id};
        if (change.kind == ChangeKind::kUpsert || change.kind == ChangeKind::kRemove) {
            source.newest = std::max(source.newest, change.version.hi);
        }
        switch (change.kind) {
            case ChangeKind::kUpsert: {
                if (source.open && change.epoch != 0 && source.open->wire == change.epoch) {
                    ++source.open->items;
                    source.open->listed.insert(key);
                }
                Object& object = source.objects[key];
                const bool newer =
                    object.owner != change.incarnation ||
                    (object.present || object.removed ? change.version > object.version
                                                      : change.version >= object.version);
                if (!newer) return;
                object.owner = change.incarnation;
                const bool known = object.present && item.topic == Topic::kChangesRows;
                object.fields = fill_unchanged(ObjectView(change.object),
                                               ObjectView(known ? object.fields : ""));
                object.version = change.version;
                object.present = true;
                object.removed = false;
                return;
            }
            case ChangeKind::kRemove: {
                Object& object = source.objects[key];
                const bool ours = object.owner == change.incarnation;
                if (ours && change.version < object.version) return;
                object = {false,          true, change.incarnation,
                          change.version, {},   source.complete_epochs};
                return;
            }
            case ChangeKind::kSnapshotBegin:
                source.open = OpenEpoch{change.epoch,
                                        change.version,
                                        0,
                                        {},
                                        change.version.hi < source.newest_of_former};
                return;
            case ChangeKind::kSnapshotEnd:
                return ended(source, change);
            case ChangeKind::kProgress:
                if (source.known && change.complete_as_of <= item.append_time) {
                    source.fresh_until = std::max(source.fresh_until, change.complete_as_of);
                }
                return;
            default:
                return;
        }
    }

    static void ended(Source& source, const ChangeView& change) {
        if (!source.open || source.open->wire != change.epoch) return;
        const OpenEpoch epoch = *source.open;
        source.open.reset();
        if (epoch.items != change.count) return;
        const std::uint64_t there = source.population();
        const std::uint64_t before =
            source.dropped ? std::max(there, source.quarantined_at) : there;
        const std::uint64_t lost = before > epoch.items ? before - epoch.items : 0;
        if (lost > 0 && (epoch.items == 0 || (lost > 10 && lost * 2 > before))) {
            forget_proofs(source);
            source.dropped = true;
            source.quarantined_at = before;
            return;
        }
        const bool news = source.dropped || epoch.rewound;
        source.dropped = false;
        source.rewound = source.rewound || epoch.rewound;
        if (news) source.quarantined_at = source.rewound ? there : 0;
        source.newest = epoch.rewound ? epoch.as_of.hi : std::max(source.newest, epoch.as_of.hi);
        source.newest_of_former = std::min(source.newest_of_former, source.newest);
        source.hole = false;
        source.known = true;
        ++source.complete_epochs;
        for (auto& [key, object] : source.objects) {
            if (!object.present || epoch.listed.count(key) != 0) continue;
            if (object.owner >= source.owner && object.version > epoch.as_of) continue;
            object.present = false;
            object.fields.clear();
            object.gone_since = source.complete_epochs;
        }
    }

    Millis max_clock_step_{10'000};
    BrokerTime before_{};
    std::map<Topic, Offset> ends_;
    Offset settings_at_ = kNoOffset;
};

}  // namespace trueup::testing
