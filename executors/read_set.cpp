#include "executors/read_set.h"

#include "engine/base/check.h"
#include "engine/world/hold.h"
#include "engine/world/row_text.h"

#include <algorithm>
#include <utility>

namespace trueup::executors {
namespace {

using Kind = Predicate::Kind;

/// The field of a `none` over rows that means the source's whole correlation expression.
constexpr std::string_view kKeyField = "key";

std::string shown(const std::optional<std::string>& value) { return value ? *value : "null"; }

void add_once(std::vector<std::string>& names, const std::string& name) {
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
    names.push_back(name);
}

/// A predicate about what there is under a name, whoever it is, not about one known object.
bool is_by_name(const Predicate& predicate) {
    return predicate.kind == Kind::kNone || predicate.kind == Kind::kNoneBut;
}

Standing cannot_tell(const Predicate& predicate, std::string_view why) {
    return Standing::failed(false,
                            describe(predicate) + ": cannot be evaluated: " + std::string(why));
}

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

namespace {

std::string listed(const std::vector<std::string>& ids) {
    std::string text;
    for (const std::string& id : ids) text += ", " + id;
    return text;
}

}  // namespace

std::string describe(const Predicate& predicate) {
    const std::string about = predicate.source + ", ";
    switch (predicate.kind) {
        case Kind::kExists:
            return "exists(" + about + predicate.object_id + ")";
        case Kind::kNoVeto:
            return "no_veto(" + about + predicate.object_id + ")";
        case Kind::kNone:
            return "none(" + about + predicate.field + " = " + shown(predicate.value) + ")";
        case Kind::kNoneBut:
            return "none_but(" + about + predicate.field + " = " + shown(predicate.value) + ", " +
                   predicate.object_id + listed(predicate.besides) + ")";
        case Kind::kField:
            return "field(" + about + predicate.object_id + ", " + predicate.field + " = " +
                   shown(predicate.value) + ")";
        case Kind::kUnspecified:
            break;
    }
    return "unspecified(" + about + predicate.object_id + ")";
}

Standing failure_of(const Answer& answer, std::string_view what) {
    const std::string call(what);
    if (answer.failed && !answer.sqlstate.empty()) {
        const std::string_view state = std::string_view(answer.sqlstate).substr(0, 2);
        // 55P03: somebody else holds the row, longer than we wait for it.
        const bool transient = state == "08" || state == "57" || state == "53" || state == "40" ||
                               answer.sqlstate == "55P03";
        std::string why = call + ": " + answer.error.what + " (SQLSTATE " + answer.sqlstate + ")";
        if (answer.sqlstate == "42501") {
            why += "; GRANT SELECT, UPDATE on the table to the executor's database user";
        }
        return Standing::failed(transient, std::move(why));
    }
    if (answer.failed) {
        return Standing::failed(answer.error.next != Next::kSkip, call + ": " + answer.error.what);
    }
    const std::string said =
        call + ": HTTP " + std::to_string(answer.status) + ": " + message_of(answer.body);
    if (answer.status == 403) {
        return Standing::failed(!answer.for_good,
                                said + "; allow the executor to get and delete pods");
    }
    // 401: a token that was rotated is read again by the transport. 404 without the server's own
    // word is a wrong path or a proxy (S3).
    const bool transient = answer.status == 401 || answer.status == 404 || answer.status == 408 ||
                           answer.status == 429 || answer.status >= 500;
    return Standing::failed(transient, said);
}

Result<std::vector<Row>> decode_rows(const Answer& answer,
                                     const std::vector<std::string>& columns) {
    std::vector<Row> rows;
    for (const ports::SqlRow& values : answer.rows) {
        if (values.size() != columns.size() + 2 || !values[0] || !values[1]) {
            return Error{Next::kSkip, Code::kInvalid,
                         "the database's answer has an unexpected shape"};
        }
        Row row{*values[0], *values[1], {}};
        for (std::size_t i = 0; i < columns.size(); ++i) row.columns[columns[i]] = values[i + 2];
        rows.push_back(std::move(row));
    }
    return rows;
}

std::optional<std::string> pk_of(const RowSource& source, std::string_view object_id) {
    const std::string prefix = source.table.schema + '.' + source.table.name + '/';
    if (object_id.substr(0, prefix.size()) != prefix) return std::nullopt;
    return std::string(object_id.substr(prefix.size()));
}

bool row_held(const RowSource& source, const Row& row) {
    if (source.veto_column.empty()) return false;
    const auto column = row.columns.find(source.veto_column);
    if (column == row.columns.end()) return true;  // Not read: unknown is a veto (S23).
    return world::column_holds(column->second);
}

ReadSet::ReadSet(const Command& command, const Sources& sources, AsyncCalls& calls, Owner owner)
    : command_(command), sources_(sources), calls_(calls), owner_(owner) {}

bool ReadSet::on_target(const Predicate& predicate) const {
    const Target& target = command_.draft.target;
    return !is_by_name(predicate) && predicate.source == target.source &&
           predicate.object_id == target.object_id;
}

// A predicate names a pod by its uid, but the API is asked by name. The name comes from the read
// set itself, from the target, or from the subject, whose name is the correlation key. A wrong
// guess is harmless: the uid must be equal.
std::string ReadSet::pod_name_for(const Predicate& predicate) const {
    if (is_by_name(predicate)) return predicate.value.value_or("");
    for (const Predicate& other : command_.draft.read_set) {
        const bool same = !is_by_name(other) && other.source == predicate.source &&
                          other.object_id == predicate.object_id;
        if (same && other.field == "name" && other.value) return *other.value;
    }
    if (!command_.draft.target.name.empty()) return command_.draft.target.name;
    return command_.subject.substr(command_.subject.find('/') + 1);
}

std::optional<ports::GetObject> ReadSet::locate(const PodSource& source, std::string name) const {
    ports::GetObject request{source.resource, std::move(name)};
    const std::string& wanted = command_.draft.target.name_space;
    if (request.resource.name_space.empty()) request.resource.name_space = wanted;
    const bool elsewhere = !wanted.empty() && wanted != request.resource.name_space;
    if (request.resource.name_space.empty() || elsewhere || request.name.empty()) {
        return std::nullopt;
    }
    return request;
}

ReadSet::Read& ReadSet::read_for(const Predicate& predicate, std::string key) {
    const auto same = [&](const Read& read) { return read.key == key; };
    auto found = std::find_if(reads_.begin(), reads_.end(), same);
    if (found == reads_.end()) {
        reads_.push_back({});
        found = reads_.end() - 1;
        found->key = std::move(key);
    }
    questions_.push_back({&predicate, static_cast<std::size_t>(found - reads_.begin())});
    return *found;
}

void ReadSet::start(SteadyTime now) {
    calls_.cancel_all(owner_);
    reads_.clear();
    questions_.clear();
    waiting_ = 0;
    for (const Predicate& predicate : command_.draft.read_set) {
        if (on_target(predicate)) continue;
        const auto pods = sources_.pods.find(predicate.source);
        const auto rows = sources_.rows.find(predicate.source);
        if (pods != sources_.pods.end()) {
            ask_pod(predicate, pods->second, now);
        } else if (rows != sources_.rows.end()) {
            ask_row(predicate, rows->second, now);
        } else {
            read_for(predicate, "!" + describe(predicate)).trouble =
                cannot_tell(predicate, "this executor has no source of that name");
        }
    }
}

void ReadSet::give_up(const Predicate& predicate, std::string_view why) {
    read_for(predicate, "!" + describe(predicate)).trouble = cannot_tell(predicate, why);
}

template <typename Source>
bool ReadSet::in_doubt(const Predicate& predicate, const Source& source) {
    Standing standing = asked_of(predicate.source, source);
    if (standing.ok()) return false;
    standing.reason = describe(predicate) + ": " + standing.reason;
    read_for(predicate, "!" + describe(predicate)).trouble = std::move(standing);
    return true;
}

void ReadSet::ask_pod(const Predicate& predicate, const PodSource& source, SteadyTime now) {
    if (in_doubt(predicate, source)) return;
    if (is_by_name(predicate)) {
        if (predicate.field != "name" && predicate.field != kKeyField) {
            return give_up(predicate, "pods are only looked up by name");
        }
        // A pod of any name may carry the key: that none has this name proves nothing.
        if (!source.key_label.empty()) {
            return give_up(predicate, "the source's pods are known by their label " +
                                          source.key_label + ", and are only looked up by name");
        }
        // Of such a name there never is a pod, but there may be the one that was meant.
        const std::string name = pod_name_for(predicate);
        if (world::named_in(name) != name) {
            return give_up(predicate, "no pod can have that name; correct the row's name");
        }
    }
    const auto request = locate(source, pod_name_for(predicate));
    if (!request) {
        return give_up(predicate, "name or namespace is missing or outside of the source");
    }
    Read& read = read_for(predicate, predicate.source + '\n' + request->name);
    if (read.call != 0) return;
    read.name = request->name;
    read.call = calls_.get(owner_, *source.cluster, *request, now);
    ++waiting_;
}

void ReadSet::ask_row(const Predicate& predicate, const RowSource& source, SteadyTime now) {
    if (in_doubt(predicate, source)) return;
    ports::ReadRows request{source.table, source.pk_columns, {}, std::nullopt, {}, {}};
    std::string key = predicate.source + '\n';
    // Of none_but it is the row that may have the name; all that have it are read.
    const std::optional<std::string> pk = pk_of(source, predicate.object_id);
    if (predicate.kind != Kind::kNone && !pk) {
        return give_up(predicate, "the object is not of the source's table");
    }
    if (is_by_name(predicate)) {
        const bool whole = predicate.field == kKeyField || predicate.field.empty();
        const std::string_view value = predicate.value ? std::string_view(*predicate.value) : "";
        request.key_expression =
            whole ? source.key_expression : world::named_in_sql(predicate.field);
        request.key = whole ? value : world::named_in(value);
        if (request.key_expression.empty() || request.key.empty()) {
            return give_up(predicate, "key expression or value is missing");
        }
        key += request.key_expression + '\n' + request.key;
    } else {
        request.pk = pk;
        request.columns = other_columns(source, predicate);
        key += predicate.object_id;
    }
    Read& read = read_for(predicate, std::move(key));
    if (read.call != 0) return;
    read.columns = request.columns;
    read.call = calls_.read_rows(owner_, *source.database, request, now);
    ++waiting_;
}

std::vector<std::string> ReadSet::other_columns(const RowSource& source,
                                                const Predicate& about) const {
    std::vector<std::string> columns;
    for (const Predicate& predicate : command_.draft.read_set) {
        const bool same =
            predicate.source == about.source && predicate.object_id == about.object_id;
        if (same && predicate.kind == Kind::kField) add_once(columns, predicate.field);
    }
    add_once(columns, source.veto_column);
    return columns;
}

std::vector<std::string> ReadSet::target_columns(const RowSource& source) const {
    std::vector<std::string> columns;
    for (const Predicate& predicate : command_.draft.read_set) {
        if (on_target(predicate) && predicate.kind == Kind::kField) {
            add_once(columns, predicate.field);
        }
    }
    add_once(columns, source.veto_column);
    return columns;
}

bool ReadSet::answered(Answer& answer) {
    for (Read& read : reads_) {
        if (read.call == 0 || read.call != answer.call || read.answer) continue;
        read.answer = std::move(answer);
        --waiting_;
        return true;
    }
    return false;
}

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
    const Result<Pod> pod = decode_pod(answer.body, source.veto_label);
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
