// What is kept of a subject that something was done to: what a live look refused, the ending that
// is behind it, how long it is left alone.
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/fold.h"

#include <cstdint>
#include <optional>
#include <string>

namespace trueup::core {

class Marks;

class Aftermaths {
  public:
    using Entry = SubjectTable::Entry;

    Aftermaths(State& state, Marks& marks) : state_(state), meta_(state.meta), marks_(marks) {}

    /// Made if it is new.
    Aftermath& aftermath_of(Entry& entry);
    void tend_aftermath(Entry& entry);

    /// Of a subject that has an aftermath: when something of it is forgotten, if nothing else
    /// happens; nullopt: nothing is.
    std::optional<JournalTime> forgets_at(const Subject& subject) const;

    /// `command`: what it was done by; nullptr: by several, a list of steps.
    void note_mended(Entry& entry, RuleNumber rule, const std::string& object_id,
                     const Command* command);
    void note_refusal(Entry& entry, const Finding& finding, const Outcome& outcome);

  private:
    std::uint64_t said(const Subject& subject, RuleNumber rule) const;
    bool said_since(const Subject& subject, const Finding& finding) const;
    bool news_since(const Subject& subject, const Refusal& refusal) const;
    bool kept(const Subject& subject, const Mended& mended) const;
    bool over(const Subject& subject, const Ended& ended) const;

    State& state_;  ///< the plan; its subjects are only marked as dirty
    const Meta& meta_;
    Marks& marks_;  ///< what is looked up
};

}  // namespace trueup::core
