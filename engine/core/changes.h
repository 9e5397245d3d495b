// What a source says of one object becomes the facet of that object.
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/fold.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace trueup::core {

class Findings;
class Marks;
class Sources;

class Changes {
  public:
    using Entry = SubjectTable::Entry;

    Changes(State& state, const JournalView& record, FoldReport& report, Sources& sources,
            Marks& marks, Findings& findings)
        : state_(state),
          meta_(state.meta),
          record_(record),
          report_(report),
          sources_(sources),
          marks_(marks),
          findings_(findings) {}

    /// `seems`: the subject that the change is about, as SubjectTable::find has it.
    void take_change(const ItemView& item, const ChangeView& change, Entry* seems);

  private:
    void upsert(SourceId id, const ItemView& item, const ChangeView& change);
    void same(SourceId id, const ItemView& item, const ChangeView& change);
    void remove(SourceId id, const ItemView& item, const ChangeView& change);
    void refresh(Entry& entry, Facet& facet, SourceId id, const ItemView& item,
                 const ChangeView& change);
    Facet& facet_of(Entry& entry, SourceId id, const ItemView& item, std::string_view object_id);
    const Facet* known_facet(SourceId id, const ChangeView& change);
    std::optional<std::uint64_t> said(const Entry& entry, const Facet& facet) const;
    void count_in(Facet& facet, SourceId id);
    void begin_anew(Entry& entry, Facet& facet, const ItemView& item);

    State& state_;  ///< the plan; its subjects are only marked as dirty
    Meta& meta_;
    const JournalView& record_;  ///< its offset
    FoldReport& report_;         ///< what is parked
    Sources& sources_;
    Marks& marks_;
    Findings& findings_;      ///< what was found of a former object is retracted
    Entry* seems_ = nullptr;  ///< the subject of the change that is taken; or not
};

}  // namespace trueup::core
