// The findings of a subject, from the first word of one to the last: each change of one is told as
// an edge, and a command is ordered in the name of one. Edges and commands of a record are numbered
// here, in the order in which they are told.
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/fold.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trueup::core {

/// Is a command of this rule without outcome? What it did may be in view before it is reported.
bool under_way(const Subject& subject, RuleNumber rule);
/// Is it of this rule, and this very one where an id is given?
bool is_about(const Finding& finding, RuleNumber rule, const std::optional<FindingId>& id);
bool waits_for_approval(const Finding& finding);

class Findings {
  public:
    using Entry = SubjectTable::Entry;

    Findings(State& state, const JournalView& record, FoldReport& report)
        : state_(state), meta_(state.meta), record_(record), report_(report) {}

    /// The rule's finding about this object; a new one is told of with its first edge.
    Finding& open(Entry& entry, RuleNumber rule, std::string_view object_id);
    void open_of_request(Entry& entry, RuleNumber rule);
    /// `count`: for which it waits, of kUncorrelatedRows. Another one is news.
    void set_waiting(Entry& entry, Finding& finding, Reason reason, std::string_view count = {});
    void resolve(Entry& entry, std::size_t index, Reason reason);
    /// Of one whose command is under way: does its rule find the same still? What is found again is
    /// another disagreement: its grace begins now, and no step of it was done.
    void note_found(Entry& entry, Finding& finding, bool found);
    void note_edge(Entry& entry, Finding& finding);
    void void_dismissals(Entry& entry);

    std::uint32_t approve(Entry& entry, const Approval& approval, std::optional<FindingId> only);
    void dismiss(Entry& entry, Finding& finding);
    std::string withdraw(Entry& entry, RuleNumber rule, const std::optional<FindingId>& id);

    void issue(Entry& entry, Finding& finding, CommandDraft draft, Millis lasts);
    /// Emits a command that was ordered by an earlier record once more.
    void say_again(const Command& command) {
        ++index_;
        report_.commands.push_back(command);
    }

  private:
    State& state_;  ///< the plan; its subjects are only marked as dirty
    Meta& meta_;
    const JournalView& record_;
    FoldReport& report_;
    std::uint32_t index_ = 0;  ///< of the next emission
};

}  // namespace trueup::core
