#include "executors/update_row.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "executors/row_write.h"

#include <algorithm>
#include <utility>

namespace trueup::executors {
namespace {

void add_once(std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

class UpdateRow final : public WriteTarget {
  public:
    explicit UpdateRow(const TargetAccess& access)
        : access_(access),
          source_(access.sources.rows.find(target().source)->second),
          pk_(pk_of(source_, target().object_id)),
          guarded_(access.read_set.target_columns(source_)) {
        for (const std::string& column : source_.key_columns) add_once(guarded_, column);
        columns_ = guarded_;
        for (const Assignment& set : action().sets) add_once(columns_, set.column);
    }

    StepResult read(SteadyTime now) override;
    StepResult check(Answer answer) override;
    StepResult write(Millis send_within, SteadyTime now) override;
    StepResult judge_write(Answer answer) override;
    StepResult judge_read_back(Answer answer, const std::string& because) override;

  private:
    const Target& target() const { return access_.command.draft.target; }
    const Action& action() const { return access_.command.draft.action; }
    std::string what(std::string_view verb) const {
        return std::string(verb) + ' ' + target().object_id;
    }
    /// Does the column say which subject the row belongs to?
    bool names_row(const std::string& column) const {
        const auto& names = source_.key_columns;
        return std::find(names.begin(), names.end(), column) != names.end();
    }

    const TargetAccess access_;
    const RowSource& source_;
    std::optional<std::string> pk_;
    std::vector<std::string> guarded_;  ///< in the WHERE
    std::vector<std::string> columns_;  ///< read: guarded ones and those that are set
    Row row_;                           ///< as it was judged
    std::string place_;                 ///< where it was read; asked only if another role writes
};

StepResult UpdateRow::read(SteadyTime now) {
    if (Standing asked = asked_of(target().source, source_); !asked.ok()) {
        return StepResult::stopped(std::move(asked));
    }
    if (!source_.table.query.empty()) return StepResult::ended(OutcomeKind::kFailed, kOnlyRead);
    if (!pk_) {
        return StepResult::ended(OutcomeKind::kFailed,
                                 "the target is not a row of the source's table");
    }
    if (action().sets.empty()) {
        return StepResult::ended(OutcomeKind::kFailed, "the command sets no column");
    }
    return StepResult::asked(access_.calls.read_rows(
        access_.owner, *source_.database,
        {source_.table, source_.pk_columns, columns_, pk_, {}, {}, source_.writer != nullptr},
        now));
}

StepResult UpdateRow::check(Answer answer) {
    if (answer.failed) return StepResult::stopped(failure_of(answer, what("SELECT")));
    if (source_.writer != nullptr) place_ = take_place(answer);
    Result<std::vector<Row>> rows = decode_rows(answer, columns_);
    if (!rows) {
        return StepResult::ended(OutcomeKind::kFailed, what("SELECT") + ": " + rows.error().what);
    }
    if ((*rows).empty()) return StepResult::ended(OutcomeKind::kRefused, "the row is gone");
    if ((*rows).size() > 1) {
        return StepResult::ended(OutcomeKind::kFailed,
                                 "the primary key names several rows; check pk columns");
    }
    row_ = std::move((*rows).front());
    // Before any veto and predicate: what is so already needs nobody's leave, and the predicates
    // are about the values from before the write.
    if (has_values(row_, action().sets)) {
        return StepResult::ended(OutcomeKind::kAlreadyDone, "the row already has all values");
    }
    if (row_held(source_, row_) && TRUEUP_GUARD("hold_check")) {
        return StepResult::ended(OutcomeKind::kRefused,
                                 "veto: " + source_.veto_column + " is set on the row");
    }
    Standing standing = access_.read_set.holds_on_row(source_, row_);
    if (!standing.ok() && TRUEUP_GUARD("target_check"))
        return StepResult::stopped(std::move(standing));
    return StepResult::next();
}

StepResult UpdateRow::write(Millis send_within, SteadyTime now) {
    TRUEUP_CHECK(pk_.has_value() && !row_.xmin.empty());
    ports::UpdateRow request{source_.table, source_.pk_columns, *pk_, row_.xmin, {}, {}};
    // The xmin alone would do, but a restored database may give it again, to another row version.
    for (const std::string& column : guarded_) {
        const bool bound = names_row(column) ? TRUEUP_GUARD("row_key_precondition")
                                             : TRUEUP_GUARD("row_precondition");
        // The predicates hold, so that what was read is what the command relies on.
        if (bound) request.guards.push_back({column, row_.columns[column]});
    }
    for (const Assignment& set : action().sets) {
        request.sets.push_back({set.column, set.value});
    }
    request.send_within = send_within;
    if (source_.writer == nullptr) {
        return StepResult::asked(
            access_.calls.update_row(access_.owner, *source_.database, request, now));
    }
    // Another role may be logged in to another server: the UPDATE itself asks whether it is the
    // one where the row was read.
    if (place_.empty()) {
        return StepResult::ended(OutcomeKind::kFailed, "the database did not identify itself",
                                 true);
    }
    request.only_at = place_;
    return StepResult::asked(
        access_.calls.update_row(access_.owner, *source_.writer, request, now));
}

StepResult UpdateRow::judge_write(Answer answer) {
    return judge_row_write(answer, what("UPDATE"), "update_row", place_, "updated");
}

StepResult UpdateRow::judge_read_back(Answer answer, const std::string& because) {
    if (!answer.failed && source_.writer != nullptr) place_ = take_place(answer);
    return judge_row_read_back(answer, columns_, action().sets, because);
}

}  // namespace

std::unique_ptr<WriteTarget> update_row(const TargetAccess& access) {
    return std::make_unique<UpdateRow>(access);
}

}  // namespace trueup::executors
