// What updating and inserting a row have in common. Thread-safe: keeps no state.
#pragma once

#include "engine/model/command.h"
#include "executors/async_calls.h"
#include "executors/read_set.h"
#include "executors/step_result.h"

#include <string>
#include <string_view>
#include <vector>

namespace trueup::executors {

/// Of what is addressed to a query.
inline constexpr const char* kOnlyRead =
    "the target is what a query answers, and nobody can write that";

/// Does the row have all values that the command sets? Of a time of issue only that there is one:
/// the server spells it its own way, and an earlier command of the same meaning wrote another one.
bool has_values(const Row& row, const std::vector<Assignment>& sets);

/// Takes off what an answer to ports::ReadRows says of its place; empty: it does not say.
std::string take_place(Answer& answer);

/// What became of a write that was conditioned on `place` (empty: on none), by the answer to it.
/// `what` is done, as `UPDATE public.workers/7`; `done` is what a person is told when it was.
StepResult judge_row_write(const Answer& answer, const std::string& what, std::string_view executor,
                           const std::string& place, std::string_view done);

/// What became of a write that nobody knows the result of, for the reason `because`, by an answer
/// to ports::ReadRows with these columns and without its place.
StepResult judge_row_read_back(const Answer& answer, const std::vector<std::string>& columns,
                               const std::vector<Assignment>& sets, const std::string& because);

}  // namespace trueup::executors
