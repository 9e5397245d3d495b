#include "connectors/postgres/stream.h"

#include "connectors/postgres/table_check.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors::postgres {

namespace {

Error out_of_order(const char* what) {
    return {Next::kRetry, Code::kCorrupt, std::string("replication stream: ") + what};
}

/// Values that the new row leaves out are those of the old one.
Tuple filled(const Tuple& row, const Tuple& old) {
    Tuple all = row;
    for (std::size_t i = 0; i < all.size() && i < old.size(); ++i) {
        if (all[i].kind == Cell::Kind::kUnchanged) all[i] = old[i];
    }
    return all;
}

template <typename... Handlers>
struct Overloaded : Handlers... {
    using Handlers::operator()...;
};
template <typename... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

}  // namespace

void Stream::reconnect(std::vector<std::string> pk_columns, bool partitioned) {
    pk_columns_ = std::move(pk_columns);
    partitioned_ = partitioned;
    ours_came_last_ = false;
    weak_leaves_.clear();
    // Each connection describes every table again before its first change.
    described_.clear();
    in_transaction_ = false;
    if (ours_) fit();
}

void Stream::replace_pk(std::vector<std::string> pk_columns, bool partitioned) {
    partitioned_ = partitioned;
    weak_leaves_.clear();  // the weakest of those that are there was just found to suffice
    if (pk_columns == pk_columns_) return;
    pk_columns_ = std::move(pk_columns);
    if (ours_) fit();
}

bool Stream::covered_by(Lsn as_of) {
    copied_ = as_of;
    if (hole_ != 0 && as_of <= hole_) return false;
    hole_ = 0;
    trouble_.clear();
    return true;
}

Result<StreamNote> Stream::take(const Payload& payload, std::vector<Fact>& out) {
    const Lsn hole = hole_;
    Result<StreamNote> note = read(payload, out);
    const auto* described = std::get_if<RelationMessage>(&payload);
    // Types of columns are described between a root and its partition.
    if (!std::holds_alternative<TypeMessage>(payload)) {
        ours_came_last_ = described != nullptr && is_ours(described->id);
    }
    if (note) note->doubtful = hole_ != hole;
    return note;
}

Result<StreamNote> Stream::read(const Payload& payload, std::vector<Fact>& out) {
    return std::visit(Overloaded{
                          [&](const BeginMessage& m) { return begin(m); },
                          [&](const CommitMessage& m) { return commit(m, out); },
                          [&](const RelationMessage& m) { return describe(m); },
                          [&](const InsertMessage& m) { return insert(m, out); },
                          [&](const UpdateMessage& m) { return update(m, out); },
                          [&](const DeleteMessage& m) { return erase(m, out); },
                          [&](const TruncateMessage& m) { return truncate(m, out); },
                          [](const auto&) { return Result<StreamNote>(StreamNote{}); },
                      },
                      payload);
}

Result<StreamNote> Stream::begin(const BeginMessage& message) {
    if (in_transaction_) return out_of_order("a transaction begins inside another");
    in_transaction_ = true;
    commit_lsn_ = message.final_lsn;
    ordinal_ = 0;
    commit_time_ = from_millis<SourceTime>(millis_of_postgres_time(message.commit_micros));
    return StreamNote{};
}

Result<StreamNote> Stream::commit(const CommitMessage& message, std::vector<Fact>& out) {
    if (!in_transaction_) return out_of_order("a commit without a transaction");
    in_transaction_ = false;
    Fact confirm;
    confirm.kind = Fact::Kind::kConfirm;
    confirm.confirm = message.end_lsn;
    out.push_back(std::move(confirm));
    StreamNote note;
    note.commit_end = message.end_lsn;
    return note;
}

bool Stream::same_shape(const Known& a, const Known& b) {
    const auto same_column = [](const RelationMessage::Column& x,
                                const RelationMessage::Column& y) {
        return x.key == y.key && x.type == y.type && x.modifier == y.modifier;
    };
    return a.shape.id == b.shape.id && a.shape.identity == b.shape.identity &&
           a.schema == b.schema && a.name == b.name && a.columns == b.columns &&
           std::equal(a.shape.columns.begin(), a.shape.columns.end(), b.shape.columns.begin(),
                      b.shape.columns.end(), same_column);
}

Result<bool> Stream::concerns_us(std::uint32_t relation) const {
    if (!described_.contains(relation)) return out_of_order("a change to an undescribed table");
    return is_ours(relation);
}

Result<StreamNote> Stream::describe(const RelationMessage& message) {
    const bool named =
        message.schema == settings_->table.schema && message.name == settings_->table.name;
    described_.insert(message.id);
    if (!named && !is_ours(message.id)) {
        describe_leaf(message);
        return StreamNote{};
    }
    Known known;
    known.shape = message;
    known.schema = message.schema;
    known.name = message.name;
    for (RelationMessage::Column& column : known.shape.columns) {
        known.columns.emplace_back(column.name);
        column.name = {};
    }
    known.shape.schema = {};
    known.shape.name = {};
    StreamNote note;
    note.relation_changed = ours_ && !same_shape(*ours_, known);
    // DDL fills and rewrites rows without streaming them, and a new table may take the name over:
    // what the rows hold now is settled by an epoch.
    if (note.relation_changed) skip();
    ours_ = std::move(known);
    fit();
    return note;
}

/// A server describes a partition right after its root, before the first change that it wrote. (So
/// it does, rarely, with tables that are truncated together: then an epoch is read for nothing.)
void Stream::describe_leaf(const RelationMessage& message) {
    if (!partitioned_ || !ours_came_last_) return;
    if (identity_suffices(message.identity, pk_columns_, *settings_)) {
        weak_leaves_.erase(message.id);
    } else {
        weak_leaves_.insert(message.id);
        skip();
    }
}

void Stream::fit() {
    trouble_.clear();
    map_.reset();
    if (ours_->schema != settings_->table.schema || ours_->name != settings_->table.name) {
        trouble_ = "table " + table_text(settings_->table) + " was renamed to " + ours_->schema +
                   "." + ours_->name;
        return;
    }
    Result<RowMap> map = RowMap::make(*settings_, pk_columns_, ours_->columns);
    if (!map) {
        trouble_ = map.error().what;
        return;
    }
    map_ = std::move(*map);
    if (!identity_suffices(ours_->shape.identity, pk_columns_, *settings_)) {
        trouble_ = identity_trouble(*settings_);
    }
}

Result<bool> Stream::admit(std::initializer_list<const Tuple*> tuples) {
    if (!in_transaction_) return out_of_order("a change outside of a transaction");
    ++ordinal_;
    for (const Tuple* tuple : tuples) {
        if (tuple->size() != ours_->columns.size()) {
            return out_of_order("a row has another number of columns than its table");
        }
    }
    if (!map_) skip();
    return map_.has_value();
}

/// Is it what a full old row is? One with nothing but its key may be of a partition that sends no
/// more, and what the new row leaves out for its size cannot have been null.
bool Stream::whole(const OldTuple& old, const Tuple& row) const {
    if (!partitioned_) return true;
    if (!weak_leaves_.empty()) return false;
    bool more = false;
    for (std::size_t i = 0; i < old.cells.size(); ++i) {
        const bool null = old.cells[i].kind == Cell::Kind::kNull;
        const std::string& name = ours_->columns[i];
        const bool key =
            std::find(pk_columns_.begin(), pk_columns_.end(), name) != pk_columns_.end();
        if (null && i < row.size() && row[i].kind == Cell::Kind::kUnchanged) return false;
        more = more || (!null && !key);
    }
    return more;
}

Tuple Stream::known_cells(const OldTuple& old, const Tuple& row) const {
    Tuple cells = old.cells;
    const bool full = old.kind == OldTuple::Kind::kFull;
    if (full && whole(old, row)) return cells;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        // What a partition sends of its key is true, whatever key that is.
        const bool sent = full ? cells[i].kind != Cell::Kind::kNull : ours_->shape.columns[i].key;
        if (!sent) cells[i] = {Cell::Kind::kUnchanged};
    }
    return cells;
}

Fact Stream::fact(Fact::Kind kind) const {
    Fact made;
    made.kind = kind;
    made.event_id = format_lsn(commit_lsn_) + ":" + std::to_string(ordinal_);
    // By the commit, which is the order in which the world saw them; the positions of changes are
    // mixed where transactions ran side by side.
    made.version = {commit_lsn_, ordinal_};
    made.source_time = commit_time_;
    return made;
}

/// A stream that comes behind an epoch tells what was before it. Of a row that is gone since then
/// it need not tell that: what a table did while it was not published is never sent.
void Stream::upsert(const Tuple& row, std::vector<Fact>& out) {
    if (commit_lsn_ < copied_) return;
    const std::optional<std::string> id = map_->object_id(row);
    const std::optional<std::string> subject = map_->subject_key(row);
    if (!id || !subject) return skip();
    Fact made = fact(Fact::Kind::kUpsert);
    made.object_id = *id;
    made.subject_key = *subject;
    made.object = map_->object(row);
    out.push_back(std::move(made));
}

bool Stream::remove(const Tuple& old, std::vector<Fact>& out) {
    const std::optional<std::string> id = map_->object_id(old);
    const std::optional<std::string> subject = map_->subject_key(old);
    if (!id || !subject) {
        skip();
        return false;
    }
    Fact made = fact(Fact::Kind::kRemove);
    made.object_id = *id;
    made.subject_key = *subject;
    out.push_back(std::move(made));
    return true;
}

Result<StreamNote> Stream::insert(const InsertMessage& message, std::vector<Fact>& out) {
    const Result<bool> ours = concerns_us(message.relation);
    if (!ours) return ours.error();
    if (!*ours) return StreamNote{};
    const Result<bool> readable = admit({&message.row});
    if (!readable) return readable.error();
    if (*readable) upsert(message.row, out);
    return StreamNote{};
}

Result<StreamNote> Stream::update(const UpdateMessage& message, std::vector<Fact>& out) {
    const Result<bool> ours = concerns_us(message.relation);
    if (!ours) return ours.error();
    if (!*ours) return StreamNote{};
    const bool has_old = message.old.kind != OldTuple::Kind::kNone;
    const Result<bool> readable =
        admit({&message.row, has_old ? &message.old.cells : &message.row});
    if (!readable) return readable.error();
    if (!*readable) return StreamNote{};
    const Tuple old = has_old ? known_cells(message.old, message.row) : Tuple{};
    const Tuple row = has_old ? filled(message.row, old) : message.row;
    if (has_old) {
        const bool same = map_->object_id(old) == map_->object_id(row) &&
                          map_->subject_key(old) == map_->subject_key(row);
        // A moved row, or one whose claim moved: first gone from where it was, then there.
        if (!same && remove(old, out)) out.back().event_id += ":from";
    } else {
        // Under FULL every update has its old row; one without is a partition's, which sends a key
        // at most.
        const char identity = ours_->shape.identity == 'f' ? 'd' : ours_->shape.identity;
        // Which name the row claimed before is not to be known.
        if (!identity_suffices(identity, pk_columns_, *settings_)) skip();
    }
    upsert(row, out);
    return StreamNote{};
}

Result<StreamNote> Stream::erase(const DeleteMessage& message, std::vector<Fact>& out) {
    const Result<bool> ours = concerns_us(message.relation);
    if (!ours) return ours.error();
    if (!*ours) return StreamNote{};
    const Result<bool> readable = admit({&message.old.cells});
    if (!readable) return readable.error();
    if (*readable) remove(known_cells(message.old, {}), out);
    return StreamNote{};
}

Result<StreamNote> Stream::truncate(const TruncateMessage& message, std::vector<Fact>& out) {
    StreamNote note;
    for (const std::uint32_t relation : message.relations) {
        const Result<bool> ours = concerns_us(relation);
        if (!ours) return ours.error();
        note.truncated = note.truncated || *ours;
    }
    if (!note.truncated) return note;
    const Result<bool> readable = admit({});
    if (!readable) return readable.error();
    // An epoch without rows: everything older than this position is gone, and proven so.
    out.push_back(fact(Fact::Kind::kSnapshotBegin));
    out.push_back(fact(Fact::Kind::kSnapshotEnd));
    return note;
}

}  // namespace trueup::connectors::postgres
