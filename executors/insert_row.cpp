#include "executors/insert_row.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "executors/row_write.h"

#include <utility>

namespace trueup::executors {
namespace {

class InsertRow final : public WriteTarget {
  public:
    explicit InsertRow(const TargetAccess& access)
        : access_(access),
          source_(access.sources.rows.find(target().source)->second),
          names_(access.read_set.target_names(source_)) {
        for (const Assignment& set : action().sets) columns_.push_back(set.column);
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
        return std::string(verb) + ' ' + source_.table.schema + '.' + source_.table.name + " of " +
               target().name;
    }
    ports::Database& writer() const {
        return source_.writer == nullptr ? *source_.database : *source_.writer;
    }

    const TargetAccess access_;
    const RowSource& source_;
    std::vector<ports::RowName> names_;  ///< that no row may have
    std::vector<std::string> columns_;   ///< that are set
    std::string place_;                  ///< where was looked
    bool kept_out_ = false;              ///< the statement wrote nothing
};

StepResult InsertRow::read(SteadyTime now) {
    if (Standing asked = asked_of(target().source, source_); !asked.ok()) {
        return StepResult::stopped(std::move(asked));
    }
    if (!source_.table.query.empty()) return StepResult::ended(OutcomeKind::kFailed, kOnlyRead);
    if (names_.empty()) {
        return StepResult::ended(OutcomeKind::kFailed,
                                 "the command does not say of which key there must be no row");
    }
    if (source_.unique.empty()) {
        return StepResult::ended(OutcomeKind::kFailed,
                                 "the source does not say what keeps two rows of a key apart");
    }
    ports::ReadRows request{source_.table, source_.pk_columns, columns_, std::nullopt, {}, {}};
    request.key_expression = names_.front().expression;
    request.key = names_.front().value;
    request.also.assign(names_.begin() + 1, names_.end());
    request.tell_place = true;
    return StepResult::asked(
        access_.calls.read_rows(access_.owner, *source_.database, request, now));
}

StepResult InsertRow::check(Answer answer) {
    if (answer.failed) return StepResult::stopped(failure_of(answer, what("SELECT")));
    place_ = take_place(answer);
    const Result<std::vector<Row>> rows = decode_rows(answer, columns_);
    if (!rows) {
        return StepResult::ended(OutcomeKind::kFailed, what("SELECT") + ": " + rows.error().what);
    }
    if ((*rows).size() == 1 && has_values((*rows).front(), action().sets)) {
        return StepResult::ended(OutcomeKind::kAlreadyDone,
                                 "row " + (*rows).front().pk + " has all values already");
    }
    if (!(*rows).empty() && TRUEUP_GUARD("target_check")) {
        return StepResult::ended(OutcomeKind::kRefused, "there is none of the key " +
                                                            target().name + ": row " +
                                                            (*rows).front().pk + " has it now");
    }
    if (kept_out_) {
        return StepResult::ended(
            OutcomeKind::kFailed,
            what("INSERT") +
                ": nothing was written, and no row of that key is in sight: the key's "
                "type spells it otherwise, the unique index (" +
                source_.unique + ") or a trigger keeps it out, or one came and went");
    }
    return StepResult::next();
}

StepResult InsertRow::write(Millis send_within, SteadyTime now) {
    ports::InsertRow request;
    request.table = source_.table;
    request.unique = source_.unique;
    for (const Assignment& set : action().sets) request.sets.push_back({set.column, set.value});
    request.none_of = names_;
    request.key_columns = source_.key_columns;
    request.send_within = send_within;
    // An update is bound to the row that was read. Of what is not there nothing tells the server
    // but its place: another role may be logged in to another one, and so may we, once the
    // connection was lost after the look.
    if (place_.empty()) {
        return StepResult::ended(OutcomeKind::kFailed, "the database did not identify itself",
                                 true);
    }
    request.only_at = place_;
    return StepResult::asked(access_.calls.insert_row(access_.owner, writer(), request, now));
}

StepResult InsertRow::judge_write(Answer answer) {
    // 55000: the one that there is may be checked at the end of a transaction only.
    const bool late =
        answer.sqlstate == "55000" && answer.error.what.find("deferrable") != std::string::npos;
    if (answer.failed && (answer.sqlstate == "42P10" || late)) {
        return StepResult::ended(
            OutcomeKind::kFailed,
            what("INSERT") +
                ": nothing was written: two executors could insert it at once; make a "
                "unique index, neither partial nor deferrable, over (" +
                source_.unique + "): " + answer.error.what);
    }
    const bool shaped = !answer.failed && answer.rows.size() == 1 && !answer.rows[0].empty();
    if (shaped && answer.rows[0][0] == ports::InsertRow::kOther) {
        return StepResult::ended(OutcomeKind::kFailed,
                                 what("INSERT") +
                                     ": a trigger made it a row of another key; let it "
                                     "leave the key as it is, and delete that row");
    }
    if (shaped && answer.rows[0].size() == 2 && source_.writer == nullptr) {
        return StepResult::ended(OutcomeKind::kFailed,
                                 what("INSERT") +
                                     ": nothing was written: another database answers "
                                     "than the one that was looked at (" +
                                     answer.rows[0][1].value_or("unknown") + ", not " + place_ +
                                     ")",
                                 true);
    }
    kept_out_ = !answer.failed && answer.rows == std::vector<ports::SqlRow>{{"0"}};
    return judge_row_write(answer, what("INSERT"), "insert_row", place_, "inserted");
}

StepResult InsertRow::judge_read_back(Answer answer, const std::string& because) {
    if (!answer.failed) place_ = take_place(answer);
    return judge_row_read_back(answer, columns_, action().sets, because);
}

}  // namespace

std::unique_ptr<WriteTarget> insert_row(const TargetAccess& access) {
    return std::make_unique<InsertRow>(access);
}

}  // namespace trueup::executors
