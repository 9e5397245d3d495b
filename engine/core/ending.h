// Endings: what was begun by taking something away is carried to its end.
//
// A rule whose list of steps begins with a deletion judges only that. With its command, in the same
// journal record, an ending is born in the subject (engine/model/subject.h); from then on the fold
// carries out the rest, and no rule judges the subject before it is over. Nobody looks at a
// deadline or a budget again: what is half done is worse than what was done a minute too early.
//
//   taking    the first deletion is ordered, or what came of it is not known yet
//   between   something was taken; the next step waits for a proof, an operator, or its turn
//   ordered   a later step is ordered
//   halted    as between, but the rule that it goes on under does not act any more
//
// Invariants (docs/adr/0022-endings.md):
//   E1  At most one command is under way in a subject when an ending begins, and while it lives.
//   E2  A deletion is passed only by proof: its role's source shows, past our own last command,
//       nothing that is not on its way out. A write is passed when its object has the values, is
//       gone, or was closed by its owner.
//   E3  A later step names an object that was bound when the ending began, or that is of a role
//       which holds several; none is ordered once another object came under the name. Of a role
//       with several sources it is the source of the bound object that is emptied; what is dead in
//       another one stays, and what may live there ends the ending (docs/adr/0054).
//   E4  Pause, hold and a veto stop it; windows and budgets do not, and neither does the rule's own
//       condition. A subject with an ending is never forgotten.
//
// Thread-safe: keeps no state.
#pragma once

#include "engine/core/draft.h"
#include "engine/core/meta.h"
#include "engine/core/plan.h"
#include "engine/model/subject.h"

#include <string>

namespace trueup::core {

/// The step of the rule's list that this command carries out; the list's size: none of it.
std::size_t step_of(const PlanRule& rule, const Settings& settings, const Meta& meta,
                    const CommandDraft& draft);

/// Has the object all the values that the step sets, some time where it is one of issue?
bool has_values(const Plan& plan, const Settings& settings, const PlanStep& step,
                const Subject& subject, const Facet& object);

/// Can be told what the step writes?
bool values_known(const Plan& plan, const Settings& settings, const PlanStep& step,
                  const Subject& subject, const Facet& object);

/// The object is there, and nobody has asked yet that it go.
bool stays(const Facet& facet);
/// What is known of the object; nullptr: nothing.
const Facet* shown(const Subject& subject, SourceId source, std::string_view object_id);
/// The same, whichever source of the role tells of it.
const Facet* shown_by(const Subject& subject, const Settings& settings, Role role,
                      std::string_view object_id);
/// Whose object the command is about; kNoSource: no source has that name.
SourceId source_of(const Meta& meta, const CommandDraft& draft);
/// What the step's texts may speak of: its own object.
Bound bound_to(Role role, const Facet& object);

/// Is this the finding that the subject's ending began with, and that speaks for it?
bool ends(const Subject& subject, const Finding& finding);

/// What is behind an ending and what is not, for people: `2 of 4 steps done; left: delete
/// ingresses`.
std::string progress_of(const Plan& plan, const Ending& ending);

}  // namespace trueup::core
