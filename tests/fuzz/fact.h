// What a connector states must be a change that the engine's own codec takes: one that it refuses
// is parked, and the hole in `seq` makes the whole source unproven, over and over.
#pragma once

#include "engine/base/check.h"
#include "engine/codec/change_codec.h"
#include "engine/model/change.h"
#include "engine/model/fact.h"

#include <string>

namespace trueup::fuzz {

/// Enveloped as runtime/source_task.h does it; only of an upsert or a remove.
inline void check_publishable(const Fact& fact) {
    ChangeView change;
    change.kind = fact.kind == Fact::Kind::kUpsert ? ChangeKind::kUpsert : ChangeKind::kRemove;
    change.source = "source";
    change.incarnation = kFirstOffset;
    change.seq = 1;
    change.event_id = fact.event_id;
    change.object_id = fact.object_id;
    change.subject_key = fact.subject_key;
    change.version = fact.version;
    change.source_time = fact.source_time;
    change.object = fact.object;
    const std::string bytes = codec::encode_change(change);
    const Result<ChangeView> read = codec::decode_change(bytes);
    TRUEUP_CHECK(read.ok());
    TRUEUP_CHECK(read->object == fact.object);
}

}  // namespace trueup::fuzz
