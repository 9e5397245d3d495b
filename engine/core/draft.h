// The command of a step, with its read set: everything that the matched case looked at must still
// be so when an executor looks again. Nobody lists it; it follows from what the text mentions:
//
//   R1  of each object that was bound, or that a `none` looked past: it is still there, every field
//       that was read, for this case or one before it, still says the same, its source's selector
//       still matches it, and nobody put a hold on it; the same of what only cases before it asked
//       for
//   R2  of the target the same, last: its own precondition makes that atomic
//   R3  of a `none` without an object: there is none of that key, nor of a field that may be the
//       whole key by itself
//   R4  before something is taken away, set in an object, inserted or created: no other row has
//   come under
//       the key of a row that is bound, and those that were there beside it still say the same;
//       before anything at all: the same of the other sources of the role of what is bound
//   R5  of each reference that was looked up: it is still there under its name, no other row is,
//   and
//       its fields say the same; or there is none of that name
//   R6  of what is taken as one too many: the better ones are still there
//   R7  of what somebody asked for: it is still theirs
//   R8  of what is made: there is none of that name
//
// Thread-safe: keeps no state.
#pragma once

#include "engine/core/evaluate.h"

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::core {

/// Of kAct. Equal arguments give equal drafts.
CommandDraft draft_of(const Judgement& on, const Decision& decision);

/// Takes it nothing away? Something is looked at, or only what was null is filled in. What is
/// inserted, or created by a template, counts as taken: it stands where its owner would put his.
bool harmless(const Decision& decision);

/// The text; nullopt: a value of it is not known. `bound` by role.
std::optional<std::string> text_of(const Plan& plan, const Settings& settings, const PlanText& text,
                                   const Subject& subject, const Bound& bound);

/// The same of what a step sets, as its source says it; nullopt: null is set, or a value is not
/// known.
std::optional<std::string> written(const Plan& plan, const Settings& settings,
                                   const PlanAssigned& set, const Subject& subject,
                                   const Bound& bound);
/// What a command of the step sets.
std::vector<Assignment> assignments(const Plan& plan, const Settings& settings,
                                    const PlanStep& step, const Subject& subject,
                                    const Bound& bound);
/// A value of that field, however it is spelled: two of one spelling are one value.
std::string_view spelled(const PlanAssigned& set, std::string_view value);

/// What an update of the object is for, whose subject has that name, and what it is.
Target written_to(const PlanRole& role, const std::string& source, const Facet& object,
                  std::string subject);
/// What an executor is told to do for the step, which the plan's build can (PlanRule::unable).
Action::Kind action_by(const PlanRole& role, const PlanStep& step);

/// Removes exactly this object; its read set says that it is there, without a hold.
CommandDraft removal(const PlanRole& role, const PlanStep& step, const std::string& source,
                     const Facet& object);
/// Where a label says whose the object is: that it still says so. `subject` is called so.
std::optional<Predicate> still_labelled(const PlanRole& role, const std::string& source,
                                        const Facet& object, std::string subject);
/// A pod that is deleted has the time that the operator gives it, else the policy, else its own.
void give_time(const Settings& settings, RuleNumber rule, CommandDraft& draft);

/// The predicate "this object still says what was read", for each of the fields, and that nobody
/// put a hold on it.
std::vector<Predicate> still_says(const std::string& source, const Facet& object,
                                  std::span<const std::string> fields);

}  // namespace trueup::core
