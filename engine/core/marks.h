// Which subjects are judged at the end of this record; and what is on its way over all of them
// (core/meta.h, Sweep), which counts at once for whoever is looked at.
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/facts.h"
#include "engine/core/fold.h"
#include "engine/core/references.h"

#include <string_view>
#include <vector>

namespace trueup::core {

class Findings;

class Marks {
  public:
    using Entry = SubjectTable::Entry;
    /// One that is to be judged, and what its objects came to when it was counted.
    struct Marked {
        Entry* entry = nullptr;
        Word word;
    };

    Marks(State& state, const JournalView& record, FoldReport& report, Findings& findings)
        : state_(state), meta_(state.meta), record_(record), report_(report), findings_(findings) {
        marked_.reserve(record.items.size());  // about as many are marked, as a rule
    }

    void mark(Entry& entry);
    /// The marked ones, in the order in which they are judged.
    std::vector<Marked>& all() { return marked_; }
    /// Has the processor fetch what those behind the `i`th are made of.
    void prefetch(std::size_t i) const;
    void collect_all();
    void judge_all();
    void note_reference(const Entry& entry, SourceId id);
    void judge_dependents();
    void count(Entry& entry);

    /// The subject, or nullptr when there is none. Nothing that is on its way is counted in.
    Entry* find(std::string_view key);
    /// `seems`: as SubjectTable::find has it.
    Entry& subject_of(std::string_view key, Entry* seems = nullptr);
    /// Valid for as long as this is.
    References references();
    /// Is anything on its way that changes what is counted?
    bool counting() const;

    void apply_sweeps(Entry& entry);

  private:
    const Subject& about(SourceId source, std::string_view name);
    void collect(Entry& entry);
    bool heard_beside(const Facet& facet) const;
    void begin_anew(Entry& entry, const Sweep& sweep);

    State& state_;  ///< its subjects; the waits of one that is forgotten
    Meta& meta_;
    const JournalView& record_;
    FoldReport& report_;  ///< whether there is more work
    Findings& findings_;  ///< what a sweep approves or retracts
    std::vector<Marked> marked_;
    bool reference_changed_ = false;
    const Subject nobody_{};  ///< a reference that nobody spoke of
};

}  // namespace trueup::core
