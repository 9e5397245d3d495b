// From a row of text values to an object: its id, the subject that it claims, its encoded fields.
// Copied rows and streamed ones go through the same code, so that they cannot differ.
#pragma once

#include "connectors/postgres/settings.h"
#include "connectors/postgres/tuple.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::connectors::postgres {

/// What the configuration drops is not even asked for.
void leave_out_dropped(Settings& settings);

/// Where the needed columns lie in rows of one shape. Keeps a reference to the settings; const
/// calls are thread-safe.
class RowMap {
  public:
    /// `names` are the row's columns in order. The error names the first column that is missing.
    static Result<RowMap> make(const Settings& settings, const std::vector<std::string>& pk_columns,
                               const std::vector<std::string>& names);

    /// The columns that `make` will look for: published, key, correlated and veto ones; ascending.
    static std::vector<std::string> needed(const Settings& settings,
                                           const std::vector<std::string>& pk_columns);

    /// Number of cells that a row has.
    std::size_t width() const { return width_; }

    /// `<schema.table>/<pk text>`, a composite key joined by 0x1f; nullopt when a part of the key
    /// is null or was not sent. Rows given to these calls have `width()` cells.
    std::optional<std::string> object_id(const Tuple& row) const;

    /// What the correlation expression makes of the row.
    Correlated correlate(const Tuple& row) const;

    /// `<policy>/<name>`, or `!<source>/<pk text>` for a row that claims no name or one that cannot
    /// be a key (details 5, 15): too long, with a slash or a control character, or with white space
    /// at an end. nullopt when it is not known or `object_id` is not.
    std::optional<std::string> subject_key(const Tuple& row) const;

    /// The published columns as encoded fields (engine/model/object.h).
    std::string object(const Tuple& row) const;

  private:
    struct Mapped {
        std::string field;
        std::size_t cell = 0;
        ports::Treatment treatment = ports::Treatment::kMap;
        bool hold = false;
    };
    explicit RowMap(const Settings& settings) : settings_(&settings) {}
    std::optional<std::string> pk_text(const Tuple& row) const;

    const Settings* settings_;
    std::size_t width_ = 0;
    std::vector<std::size_t> pk_;
    std::vector<std::size_t> correlated_;  ///< in the order of Correlation::columns()
    std::vector<Mapped> mapped_;           ///< ascending by field
};

}  // namespace trueup::connectors::postgres
