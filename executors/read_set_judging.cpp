// What the answers of a read set's reads mean for its predicates.
#include "engine/base/check.h"
#include "executors/read_set.h"

#include <algorithm>
#include <utility>

namespace trueup::executors {
namespace {

using Kind = Predicate::Kind;

Standing compare(const Predicate& predicate, const std::optional<std::string>& value) {
    if (value == predicate.value) return Standing::holds();
    return Standing::refused(describe(predicate) + ": it is " + shown(value) + " now");
}

Standing judge_in_scope(const Predicate& predicate, const PodSource& source, const Pod& pod) {
    return compare(predicate, source.selector.matches(pod.labels) ? "true" : "false");
}

Standing judge_on_pod(const Predicate& predicate, const PodSource& source, const Pod& pod) {
    switch (predicate.kind) {
        case Kind::kExists:
            return Standing::holds();
        case Kind::kNoVeto:
            if (!pod.held) return Standing::holds();
            return Standing::refused(describe(predicate) + ": veto: " + source.veto_label +
                                     " is set on the pod");
        case Kind::kField: {
            if (predicate.field == "in_scope") return judge_in_scope(predicate, source, pod);
            const auto value = pod.field(predicate.field);
            if (!value) return cannot_tell(predicate, "a pod has no such field");
            return compare(predicate, *value);
        }
        case Kind::kNone:
        case Kind::kNoneBut:
        case Kind::kOnly:
        case Kind::kReadBy:
        case Kind::kUnspecified:
            break;
    }
    return cannot_tell(predicate, "unknown predicate");
}

Standing judge_on_row(const Predicate& predicate, const RowSource& source, const Row& row) {
    switch (predicate.kind) {
        case Kind::kExists:
            return Standing::holds();
        case Kind::kNoVeto:
            if (!row_held(source, row)) return Standing::holds();
            return Standing::refused(describe(predicate) + ": veto: " + source.veto_column +
                                     " is set on the row");
        case Kind::kField: {
            const auto column = row.columns.find(predicate.field);
            if (column == row.columns.end()) return cannot_tell(predicate, "column was not read");
            return compare(predicate, column->second);
        }
        case Kind::kNone:
        case Kind::kNoneBut:
        case Kind::kOnly:
        case Kind::kReadBy:
        case Kind::kUnspecified:
            break;
    }
    return cannot_tell(predicate, "unknown predicate");
}

Standing gone(const Predicate& predicate) {
    if (predicate.kind == Kind::kNoVeto) return Standing::holds();  // Nothing is left to hold.
    return Standing::refused(describe(predicate) + ": the object is gone");
}

}  // namespace

Standing ReadSet::others() const {
    TRUEUP_CHECK(complete());
    // A refusal is certain whatever else could not be read.
    Standing result = Standing::holds();
    for (const Question& question : questions_) {
        Standing standing = judge(question);
        if (standing.kind == Standing::Kind::kRefused) return standing;
        if (!standing.ok() && result.ok()) result = std::move(standing);
    }
    return result;
}

Standing ReadSet::judge(const Question& question) const {
    const Read& read = reads_[question.read];
    if (!read.trouble.ok()) return read.trouble;
    TRUEUP_CHECK(read.answer.has_value());
    const Predicate& predicate = *question.predicate;
    const auto pods = sources_.pods.find(predicate.source);
    if (pods != sources_.pods.end()) return judge_pod(predicate, pods->second, read);
    return judge_row(predicate, sources_.rows.find(predicate.source)->second, read);
}

Standing ReadSet::judge_pod(const Predicate& predicate, const PodSource& source,
                            const Read& read) const {
    if (is_by_name(predicate) && predicate.field.starts_with("label.")) {
        return judge_label(predicate, read);
    }
    const Answer& answer = *read.answer;
    const std::string what = "GET pod " + read.name;
    if (!answer.failed && answer.status == 404 &&
        says_not_found(answer.body, read.name, source.resource.plural)) {
        return is_by_name(predicate) ? Standing::holds() : gone(predicate);
    }
    if (answer.failed || answer.status != 200) {
        Standing failure = failure_of(answer, what);
        failure.reason = describe(predicate) + ": " + failure.reason;
        return failure;
    }
    const Result<Pod> pod = decode_pod(answer.body, source.veto_label, source.paths);
    if (!pod) return Standing::failed(true, describe(predicate) + ": " + pod.error().what);
    const std::string uid = (*pod).uid;
    if (predicate.kind == Kind::kNone) {
        return Standing::refused(describe(predicate) + ": there is one, uid " + uid);
    }
    if (predicate.kind == Kind::kNoneBut) {
        if (uid != predicate.object_id) {
            return Standing::refused(describe(predicate) +
                                     ": another object has taken the name: uid " + uid);
        }
        // Its source may have lost sight of it, as of one that left the selector.
        if ((*pod).deleting) return Standing::holds();
        return Standing::refused(describe(predicate) + ": it is not being deleted");
    }
    if (uid != predicate.object_id) {
        return Standing::refused(describe(predicate) + ": recreated: uid is now " + uid);
    }
    return judge_on_pod(predicate, source, *pod);
}

Standing ReadSet::judge_label(const Predicate& predicate, const Read& read) {
    const Answer& answer = *read.answer;
    if (answer.failed || answer.status != 200) {
        Standing failure = failure_of(answer, "LIST " + predicate.field);
        failure.reason = describe(predicate) + ": " + failure.reason;
        return failure;
    }
    const auto holders =
        decode_holders(answer.body, predicate.field.substr(6), predicate.value.value_or(""));
    if (!holders) {
        return Standing::failed(holders.error().next != Next::kSkip,
                                describe(predicate) + ": " + holders.error().what);
    }
    std::vector<std::string> known = predicate.besides;
    if (predicate.kind == Kind::kOnly) known.push_back(predicate.object_id);
    for (const std::string& uid : *holders) {
        if (std::find(known.begin(), known.end(), uid) != known.end()) continue;
        return Standing::refused(describe(predicate) + ": uid " + uid + " has it now");
    }
    return Standing::holds();
}

Standing ReadSet::judge_row(const Predicate& predicate, const RowSource& source,
                            const Read& read) const {
    if (read.answer->failed) {
        Standing failure = failure_of(*read.answer, "read of " + source.table.name);
        failure.reason = describe(predicate) + ": " + failure.reason;
        return failure;
    }
    const Result<std::vector<Row>> rows = decode_rows(*read.answer, read.columns);
    if (!rows) return Standing::failed(false, describe(predicate) + ": " + rows.error().what);
    if (is_by_name(predicate)) {
        std::vector<std::optional<std::string>> but;
        if (predicate.kind == Kind::kNoneBut) {
            but.push_back(pk_of(source, predicate.object_id));
            for (const std::string& id : predicate.besides) but.push_back(pk_of(source, id));
        }
        for (const Row& row : *rows) {
            if (std::find(but.begin(), but.end(), row.pk) != but.end()) continue;
            return Standing::refused(describe(predicate) + ": row " + row.pk + " has it now");
        }
        return Standing::holds();
    }
    if ((*rows).empty()) return gone(predicate);
    // A query only claims that its primary key tells rows apart.
    if ((*rows).size() > 1 || (*rows).front().pk != pk_of(source, predicate.object_id)) {
        return cannot_tell(predicate, "several rows have that primary key, or another spelling");
    }
    return judge_on_row(predicate, source, (*rows).front());
}

Standing ReadSet::holds_on_pod(const PodSource& source, const Pod& pod) const {
    for (const Predicate& predicate : command_.draft.read_set) {
        if (!on_target(predicate)) continue;
        Standing standing = judge_on_pod(predicate, source, pod);
        if (!standing.ok()) return standing;
    }
    return Standing::holds();
}

Standing ReadSet::holds_on_row(const RowSource& source, const Row& row) const {
    for (const Predicate& predicate : command_.draft.read_set) {
        if (!on_target(predicate)) continue;
        Standing standing = judge_on_row(predicate, source, row);
        if (!standing.ok()) return standing;
    }
    return Standing::holds();
}

}  // namespace trueup::executors
