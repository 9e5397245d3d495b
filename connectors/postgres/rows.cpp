#include "connectors/postgres/rows.h"

#include "engine/base/hash.h"
#include "engine/model/key.h"
#include "engine/model/object_builder.h"
#include "engine/model/subject_key.h"
#include "engine/world/hold.h"
#include "engine/world/row_text.h"

#include <algorithm>

namespace trueup::connectors::postgres {

namespace {

constexpr char kPkSeparator = '\x1f';
constexpr std::string_view kHoldField = "hold";
/// Does the part after the slash fit the key grammar?
bool fits(const std::string& prefix, std::string_view name) {
    return !name.empty() && name.find('/') == std::string_view::npos &&
           prefix.size() + name.size() <= kMaxSubjectKey;
}

}  // namespace

void leave_out_dropped(Settings& settings) {
    std::erase_if(settings.columns, [&settings](const std::string& column) {
        return settings.fields.of(column) == ports::Treatment::kDrop;
    });
}

std::vector<std::string> RowMap::needed(const Settings& settings,
                                        const std::vector<std::string>& pk_columns) {
    std::vector<std::string> all = settings.columns;
    all.insert(all.end(), pk_columns.begin(), pk_columns.end());
    const std::vector<std::string>& correlated = settings.correlate.columns();
    all.insert(all.end(), correlated.begin(), correlated.end());
    if (!settings.veto_column.empty()) all.push_back(settings.veto_column);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

Result<RowMap> RowMap::make(const Settings& settings, const std::vector<std::string>& pk_columns,
                            const std::vector<std::string>& names) {
    for (const std::string& column : needed(settings, pk_columns)) {
        if (std::find(names.begin(), names.end(), column) == names.end()) {
            return Error{Next::kStop, Code::kConfiguration,
                         "table " + table_text(settings.table) + " has no column " + column +
                             " any more, or it is not published"};
        }
    }
    const auto place = [&names](const std::string& column) {
        return static_cast<std::size_t>(std::find(names.begin(), names.end(), column) -
                                        names.begin());
    };
    RowMap map(settings);
    map.width_ = names.size();
    for (const std::string& column : pk_columns) map.pk_.push_back(place(column));
    for (const std::string& column : settings.correlate.columns()) {
        map.correlated_.push_back(place(column));
    }
    for (const std::string& column : settings.columns) {
        if (column == kHoldField && !settings.veto_column.empty()) continue;
        map.mapped_.push_back({column, place(column), settings.fields.of(column)});
    }
    if (!settings.veto_column.empty()) {
        map.mapped_.push_back(
            {std::string(kHoldField), place(settings.veto_column), ports::Treatment::kMap, true});
    }
    std::sort(map.mapped_.begin(), map.mapped_.end(),
              [](const Mapped& a, const Mapped& b) { return a.field < b.field; });
    return map;
}

std::optional<std::string> RowMap::pk_text(const Tuple& row) const {
    std::string text;
    for (std::size_t i = 0; i < pk_.size(); ++i) {
        const Cell& cell = row[pk_[i]];
        if (cell.kind != Cell::Kind::kText) return std::nullopt;
        if (i > 0) text += kPkSeparator;
        text += cell.text;
    }
    return text;
}

std::optional<std::string> RowMap::object_id(const Tuple& row) const {
    const std::optional<std::string> pk = pk_text(row);
    if (!pk) return std::nullopt;
    return table_text(settings_->table) + "/" + *pk;
}

Correlated RowMap::correlate(const Tuple& row) const {
    std::vector<Cell> cells;
    cells.reserve(correlated_.size());
    for (const std::size_t place : correlated_) cells.push_back(row[place]);
    return settings_->correlate.evaluate(cells);
}

std::optional<std::string> RowMap::subject_key(const Tuple& row) const {
    const std::optional<std::string> pk = pk_text(row);
    const Correlated name = correlate(row);
    if (!pk || name.kind == Correlated::Kind::kUnknown) return std::nullopt;
    // A row whose key could be no name is not one that claims nobody: which one it means, nobody
    // can say.
    if (name.kind == Correlated::Kind::kText && fits(settings_->subject_prefix, name.text) &&
        policy::can_be_a_name(name.text)) {
        return settings_->subject_prefix + name.text;
    }
    const std::string prefix = nameless_prefix(settings_->subject_prefix, settings_->source_name);
    // A key that the grammar forbids stands in by its hash: the same for the same row, always.
    return prefix + (fits(prefix, *pk) ? *pk : to_hex(hash128(*pk)));
}

std::string RowMap::object(const Tuple& row) const {
    ObjectBuilder fields;
    for (const Mapped& mapped : mapped_) {
        const Cell& cell = row[mapped.cell];
        if (cell.kind == Cell::Kind::kUnchanged) {
            fields.add_unchanged(mapped.field);
        } else if (mapped.hold) {
            const bool text = cell.kind == Cell::Kind::kText;
            const bool held = world::column_holds(text ? std::optional(cell.text) : std::nullopt);
            fields.add(mapped.field, held ? "true" : "false");
        } else if (cell.kind == Cell::Kind::kNull) {
            fields.add_null(mapped.field);
        } else {
            settings_->fields.add(fields, mapped.field, mapped.treatment, cell.text);
        }
    }
    return fields.take();
}

}  // namespace trueup::connectors::postgres
