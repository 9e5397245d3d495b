// Who owns a source, and what that owner has proven (design §4.2 to §4.6).
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/meta.h"
#include "engine/model/change.h"
#include "engine/model/journal.h"

namespace trueup::core {

class Trust;

class Sources {
  public:
    Sources(Meta& meta, Trust& trust) : meta_(meta), trust_(trust) {}

    /// Who wrote the item; kNoSource: none that the settings name.
    SourceId source_of(const ItemView& item, const ChangeView& change);
    bool owned(SourceId id, const ChangeView& change);
    /// Of what a misread source tells, that which is so by whatever it is read.
    static void pass_over(SourceState& source, const ChangeView& change);
    /// Once its owner has said by what it reads, and again when the settings change.
    void compare_mapping(SourceId id);
    void begin_epoch(SourceState& source, const ChangeView& change);
    void end_epoch(SourceId id, const ChangeView& change);
    void take_progress(SourceState& source, const ItemView& item, const ChangeView& change);
    void forget_source(SourceId id);

  private:
    Meta& meta_;
    Trust& trust_;  ///< asked whether an epoch is believed
};

}  // namespace trueup::core
