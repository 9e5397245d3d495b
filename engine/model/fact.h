// What a connector's machine has to say of its source. A plain value; the log has it as a change
// (change.h), in the envelope of the task that drives the machine.
#pragma once

#include "engine/base/time.h"
#include "engine/model/change.h"

#include <cstdint>
#include <string>

namespace trueup {

/// What a connector's machine wants published, in order. The task that drives it adds source,
/// incarnation, seq and epoch, so that no machine can get them wrong.
struct Fact {
    enum class Kind : std::uint8_t {
        kUpsert,         ///< object_id, subject_key, version, object; `in_epoch` if copied
        kRemove,         ///< object_id, subject_key, version
        kSnapshotBegin,  ///< version = as_of; rewound
        kSnapshotEnd,    ///< the task adds the counts
        kMarker,         ///< please append a marker and tell me its append time
        kProgress,       ///< complete_as_of, source_clock
        kAlive,
        kConfirm,  ///< publishes nothing; answered by delivered(confirm) once durable
    };
    Kind kind = Kind::kAlive;
    bool in_epoch = false;
    bool rewound = false;  ///< the source went back in time since this connector's last epoch
    std::string event_id;
    std::string object_id;
    std::string subject_key;
    Version version;
    SourceTime source_time{};
    std::string object;
    BrokerTime complete_as_of{};
    SourceTime source_clock{};
    std::uint64_t confirm = 0;
};

}  // namespace trueup
