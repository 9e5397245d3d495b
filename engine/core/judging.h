// One subject is judged by the rules that may have something to say of it; what it waits for then,
// and what is kept of what it came through.
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/awaited.h"
#include "engine/core/carrying_on.h"
#include "engine/core/facts.h"
#include "engine/core/marks.h"
#include "engine/core/verdicts.h"

namespace trueup::core {

class Aftermaths;
class Brakes;
class Endings;
class Findings;
class Outcomes;

class Judging {
  public:
    using Entry = SubjectTable::Entry;

    Judging(State& state, Findings& findings, Marks& marks, Endings& endings, Outcomes& outcomes,
            Aftermaths& aftermaths, const Brakes& brakes)
        : state_(state),
          meta_(state.meta),
          findings_(findings),
          marks_(marks),
          endings_(endings),
          outcomes_(outcomes),
          aftermaths_(aftermaths),
          brakes_(brakes),
          awaited_(state),
          carrying_on_(state, findings, endings, awaited_, brakes),
          verdicts_(state, findings, marks, endings, awaited_, brakes) {}

    void judge(Marks::Marked& marked);

  private:
    void judge_rules(Entry& entry, const Word& word);
    void note_lapse(Entry& entry);
    void keep_ledger(Entry& entry, Word& word);
    void expire_request(Entry& entry);
    void forget_seen_writes(Entry& entry);
    void recount(Entry& entry);
    /// What the plan's conditions make of the subject now.
    void look(const Entry& entry) {
        look_at(*state_.plan, entry.subject, meta_.settings, meta_.sources, facts_);
    }

    State& state_;  ///< the plan and its judge; its subjects are only marked as dirty
    Meta& meta_;    ///< how many subjects are there, and wrong
    Findings& findings_;
    Marks& marks_;  ///< what a judgement may know beside the subject
    Endings& endings_;
    Outcomes& outcomes_;  ///< commands that nobody answered
    Aftermaths& aftermaths_;
    const Brakes& brakes_;
    // Of the subject being judged.
    Awaited awaited_;
    Facts facts_;
    CarryingOn carrying_on_;
    Verdicts verdicts_;
};

}  // namespace trueup::core
