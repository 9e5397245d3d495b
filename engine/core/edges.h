// What is told of a finding: a line for people, the facts that it stands on, its last edge.
//
// Thread-safe: keeps no state.
#pragma once

#include "engine/core/meta.h"
#include "engine/core/plan.h"
#include "engine/model/finding_edge.h"
#include "engine/model/subject.h"

#include <string>
#include <string_view>
#include <vector>

namespace trueup::core {

/// Writes one line for people into `text`: what was found and where it is now.
void explain(const PlanRule& rule, const Subject& subject, const Finding& finding, JournalTime now,
             std::string& text);

/// Puts the journal offsets of the facts that the subject's facets stand on, ascending.
void put_evidence(const Subject& subject, std::vector<Offset>& offsets);

/// Fills in what a subject's row says of a finding: its last edge. Place and time of the record
/// that made it are left to the caller, who may know more than the finding's `last_change`.
void fill_edge(const Meta& meta, const Plan& plan, const Subject& subject, const Finding& finding,
               FindingEdge& edge);

}  // namespace trueup::core
