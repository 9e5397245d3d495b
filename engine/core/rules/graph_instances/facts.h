// How the graph-instances rules read a pod and an instance row: field names and what their values
// mean. Statuses of a row: starting, running, stopping, failed, hibernated.
#pragma once

#include "engine/core/sides.h"

namespace trueup::core::graph_instances {

/// Someone put a hold on the object itself.
bool vetoed(const Facet& facet);

/// The pod is on its way out and must not be touched again (G24).
bool terminating(const Facet& pod);
/// The pod no longer matches the source's selector: it exists, and it is none of our business.
bool out_of_scope(const Facet& pod);

/// The row wants a pod: `starting`, `running`, or a status that was not sent.
bool live(const Facet& row);

/// The predicate "this row still says what the rule read", for each of the columns.
std::vector<Predicate> row_still_says(const std::string& source, const Facet& row,
                                      std::initializer_list<std::string_view> columns);

/// The command that marks a row failed, with UNEXPECTED_TERMINATION and this message.
CommandDraft mark_failed(const std::string& source, const Facet& row, std::string message);

}  // namespace trueup::core::graph_instances
