// One source as a shard sees it: who owns it, how far it has proven itself, and whether it is
// believed.
//
// Plain values; const access is thread-safe.
#pragma once

#include "engine/base/time.h"
#include "engine/model/change.h"
#include "engine/model/topic.h"

#include <cstdint>
#include <optional>
#include <string>

namespace trueup::core {

/// An epoch whose SnapshotBegin was folded and whose End was not.
struct OpenEpoch {
    std::uint64_t id = 0;    ///< this shard's own number, unique over incarnations
    std::uint64_t wire = 0;  ///< the number that the connector's items carry
    Version as_of;
    std::uint64_t count = 0;  ///< items of it so far
    bool rewound = false;     ///< the source went back in time before it
    bool operator==(const OpenEpoch&) const = default;
};

/// Why a source is not believed, or nothing is taken away on its word.
enum class Quarantine : std::uint8_t {
    kNone = 0,
    // It is unknown until an epoch is believed.
    kDrop = 1,   ///< it lost suspiciously much at once
    kEmpty = 2,  ///< its first epoch listed fewer objects than it is expected to have
    // It is known, and rules find what they find; nothing is taken away until an operator vouches.
    kWrong = 3,    ///< by its first epoch more than half of all subjects are wrong
    kRewound = 4,  ///< it went back in time: what was made since then is missing in it
};

/// One source as this shard sees it.
struct SourceState {
    std::string name;
    Topic topic = Topic::kUnspecified;
    Incarnation incarnation = kNoOffset;
    std::uint64_t next_seq = 1;
    /// The owner's own epoch is complete and no hole came after it: what is not listed is absent.
    bool known = false;
    bool hole = false;           ///< seq skipped; healed by an epoch that begins after it
    std::uint64_t mapping = 0;   ///< of its owner, by its own word; 0: it has not said
    bool misread = false;        ///< that is not the settings' one: nothing of it is taken
    bool rewound = false;        ///< it went back in time meanwhile: its next epoch did, then
    BrokerTime unknown_since{};  ///< of one not known: append time of the record that made it so
    std::optional<OpenEpoch> open;
    std::uint64_t last_epoch = 0;  ///< id of the newest epoch that began
    std::uint64_t epochs = 0;      ///< complete ones, ever
    std::uint64_t population = 0;  ///< present facets
    std::uint64_t newest = 0;      ///< `Version::hi` of the newest that it said
    /// The same as it was when its owner began: an epoch of before that went back in time.
    std::uint64_t floor = 0;
    Quarantine quarantine = Quarantine::kNone;
    /// kDrop: population before it. kEmpty: objects listed. kWrong: subjects that would be wrong.
    /// kRewound: population before it.
    std::uint64_t quarantined_at = 0;
    Quarantine beneath = Quarantine::kNone;  ///< comes back once an epoch is believed
    bool on_trial = false;        ///< its first epoch was not held against the other sources' yet
    bool believe_next = false;    ///< an operator vouched for the epoch that begins next ...
    bool believed = false;        ///< ... or for the one that is open
    BrokerTime complete_as_of{};  ///< proven progress; 0: not fresh
    SourceTime source_clock{};
    bool operator==(const SourceState&) const = default;
};

/// Its word is not taken at all until an epoch is believed.
bool unknown_by(Quarantine quarantine);

/// Has somebody to do something before it is believed?
inline bool set_aside(const SourceState& source) {
    return source.misread || source.quarantine != Quarantine::kNone;
}

/// Has it shown everything up to this moment?
inline bool proven_past(const SourceState& source, BrokerTime time) {
    return source.known && source.complete_as_of > time;
}

/// What was proven is proven no more: the source is unknown until the owner's next complete epoch.
void break_source(SourceState& source, BrokerTime now);

/// Is nothing to be taken away on its word?
inline bool doubted(const SourceState& source) {
    return source.on_trial || source.quarantine == Quarantine::kWrong ||
           source.quarantine == Quarantine::kRewound;
}

}  // namespace trueup::core
