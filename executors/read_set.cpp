#include "executors/read_set.h"

#include "engine/base/guard.h"
#include "engine/base/hash.h"
#include "engine/world/hold.h"
#include "engine/world/row_text.h"

#include <algorithm>
#include <utility>

namespace trueup::executors {
namespace {

using Kind = Predicate::Kind;

/// The field of a `none` over rows that means the source's whole correlation expression.
constexpr std::string_view kKeyField = "key";
constexpr std::string_view kLabel = "label.";

/// As the API server takes it; an empty one would be asked for as any other, and tells nothing.
bool is_label_value(std::string_view text) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    };
    return !text.empty() && text.size() <= 63 && plain(text.front()) && plain(text.back()) &&
           std::all_of(text.begin(), text.end(),
                       [&](char c) { return plain(c) || c == '-' || c == '_' || c == '.'; });
}

void add_once(std::vector<std::string>& names, const std::string& name) {
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
    names.push_back(name);
}

}  // namespace

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
    if (predicate.source != target.source) return false;
    // Of what is made that there is none: it may be our own already.
    if (makes(command_.draft.action.kind)) {
        return predicate.kind == Kind::kNone;
    }
    return !is_by_name(predicate) && predicate.object_id == target.object_id;
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

std::optional<ports::GetObject> ReadSet::locate(const std::string& name_of_source,
                                                const PodSource& source, std::string name) const {
    ports::GetObject request{source.resource, std::move(name)};
    if (request.name.empty()) return std::nullopt;
    if (request.resource.cluster_scoped) return request;
    const Target& target = command_.draft.target;
    const std::string& wanted = target.name_space;
    if (request.resource.name_space.empty()) request.resource.name_space = wanted;
    // Another source looks where it looks, as into another cluster.
    const bool elsewhere =
        name_of_source == target.source && !wanted.empty() && wanted != request.resource.name_space;
    if (request.resource.name_space.empty() || elsewhere) return std::nullopt;
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
    // By another key nothing that is seen, or is not, says anything.
    if (const Predicate* other = known_otherwise()) {
        read_for(*other, {}).trouble = Standing::failed(
            true, describe(*other) +
                      ": this executor has another configuration of the source than the engine; "
                      "start anew whichever of the two has the older one");
        return;
    }
    for (const Predicate& predicate : command_.draft.read_set) {
        if (on_target(predicate)) continue;
        // It is known by that.
        if (predicate.kind == Kind::kReadBy && mapping_here(predicate.source)) continue;
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

std::optional<std::uint64_t> ReadSet::mapping_here(const std::string& source) const {
    const auto pods = sources_.pods.find(source);
    if (pods != sources_.pods.end()) return pods->second.mapping;
    const auto rows = sources_.rows.find(source);
    if (rows != sources_.rows.end()) return rows->second.mapping;
    return std::nullopt;
}

const Predicate* ReadSet::known_otherwise() const {
    if (!TRUEUP_GUARD("looks_by_the_same_key")) return nullptr;
    for (const Predicate& predicate : command_.draft.read_set) {
        if (predicate.kind != Kind::kReadBy) continue;
        // Of a source that it does not have at all something else is said.
        const std::optional<std::uint64_t> ours = mapping_here(predicate.source);
        if (ours && predicate.value != to_hex(*ours)) return &predicate;
    }
    return nullptr;
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
    if (is_by_name(predicate) && predicate.kind != Kind::kNoneBut &&
        predicate.field.starts_with(kLabel)) {
        return ask_label(predicate, source, now);
    }
    if (is_by_name(predicate)) {
        if (predicate.field != "name" && predicate.field != kKeyField) {
            return give_up(predicate, "pods are only looked up by name, or by a label");
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
    const auto request = locate(predicate.source, source, pod_name_for(predicate));
    if (!request) {
        return give_up(predicate, "name or namespace is missing or outside of the source");
    }
    Read& read = read_for(predicate, predicate.source + '\n' + request->name);
    if (read.call != 0) return;
    read.name = request->name;
    read.call = calls_.get(owner_, *source.cluster, *request, now);
    ++waiting_;
}

/// By the label alone: one that the source does not select has the key all the same.
void ReadSet::ask_label(const Predicate& predicate, const PodSource& source, SteadyTime now) {
    const std::string value = predicate.value.value_or("");
    if (!is_label_value(value)) {
        return give_up(predicate, "no label can have that value; correct the name");
    }
    ports::ListPage request;
    request.resource = source.resource;
    request.label_selector = predicate.field.substr(kLabel.size()) + '=' + value;
    Read& read = read_for(predicate, predicate.source + "\n?" + request.label_selector);
    if (read.call != 0) return;
    read.call = calls_.list(owner_, *source.cluster, request, now);
    ++waiting_;
}

ports::RowName ReadSet::name_in(const Predicate& predicate, const RowSource& source) {
    const bool whole = predicate.field == kKeyField || predicate.field.empty();
    const std::string_view value = predicate.value ? std::string_view(*predicate.value) : "";
    if (whole) return {source.key_expression, std::string(value)};
    return {world::named_in_sql(predicate.field), std::string(world::named_in(value))};
}

std::vector<ports::RowName> ReadSet::target_names(const RowSource& source) const {
    std::vector<ports::RowName> names;
    for (const Predicate& predicate : command_.draft.read_set) {
        if (!on_target(predicate) || !is_by_name(predicate)) continue;
        ports::RowName name = name_in(predicate, source);
        if (name.expression.empty() || name.value.empty()) return {};
        names.push_back(std::move(name));
    }
    return names;
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
        const ports::RowName name = name_in(predicate, source);
        if (name.expression.empty() || name.value.empty()) {
            return give_up(predicate, "key expression or value is missing");
        }
        request.key_expression = name.expression;
        request.key = name.value;
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

}  // namespace trueup::executors
