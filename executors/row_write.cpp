#include "executors/row_write.h"

#include <algorithm>
#include <utility>

namespace trueup::executors {

namespace {

/// Does the server's word leave open whether the statement was carried out?
bool result_unknown(const Answer& answer) {
    const std::string_view state = answer.sqlstate;
    return state.empty() || state.substr(0, 2) == "08" || state.substr(0, 2) == "57" ||
           state == "40003";
}

}  // namespace

bool has_values(const Row& row, const std::vector<Assignment>& sets) {
    const auto has = [&](const Assignment& set) {
        const auto column = row.columns.find(set.column);
        if (column == row.columns.end()) return false;
        return set.now ? column->second.has_value() : column->second == set.value;
    };
    return std::all_of(sets.begin(), sets.end(), has) &&
           !std::all_of(sets.begin(), sets.end(), [](const Assignment& set) { return set.now; });
}

std::string take_place(Answer& answer) {
    std::string place;
    for (ports::SqlRow& row : answer.rows) {
        if (row.empty()) continue;
        place = row.back().value_or("");
        row.pop_back();
    }
    // There was no row, and the place came by itself.
    std::erase_if(answer.rows, [](const ports::SqlRow& row) { return row.empty(); });
    return place;
}

StepResult judge_row_write(const Answer& answer, const std::string& what, std::string_view executor,
                           const std::string& place, std::string_view done) {
    if (answer.failed) {
        Standing failure = failure_of(answer, what);
        if (result_unknown(answer)) return StepResult::read_back(std::move(failure.reason));
        return StepResult::stopped(std::move(failure));
    }
    // Two values instead of one count: the statement compared the places, and wrote nothing.
    if (answer.rows.size() == 1 && answer.rows[0].size() == 2) {
        return StepResult::ended(
            OutcomeKind::kFailed,
            what + ": nothing was written: the connection of executors." + std::string(executor) +
                " reaches another database (" + answer.rows[0][1].value_or("unknown") +
                ") than the source's (" + place +
                "), as system id, timeline and name; use a connection to the same one");
    }
    const bool shaped = answer.rows.size() == 1 && answer.rows[0].size() == 1 && answer.rows[0][0];
    if (!shaped) return StepResult::read_back(what + ": no count of affected rows");
    const std::string& affected = *answer.rows[0][0];
    if (affected == "1") return StepResult::ended(OutcomeKind::kDone, std::string(done));
    if (affected == "0") return StepResult::repeat(what + ": the row changed during the write");
    return StepResult::ended(OutcomeKind::kFailed,
                             what + ": " + affected + " rows affected; check pk");
}

StepResult judge_row_read_back(const Answer& answer, const std::vector<std::string>& columns,
                               const std::vector<Assignment>& sets, const std::string& because) {
    const Result<std::vector<Row>> rows =
        answer.failed ? Result<std::vector<Row>>(answer.error) : decode_rows(answer, columns);
    if (!rows) return StepResult::read_back(because);
    if ((*rows).size() == 1 && has_values((*rows).front(), sets)) {
        return StepResult::ended(OutcomeKind::kDone,
                                 "read back: the row has all values, after: " + because);
    }
    // It is as it was before, or somebody changed it since: the whole round tells which.
    return StepResult::repeat(because);
}

}  // namespace trueup::executors
