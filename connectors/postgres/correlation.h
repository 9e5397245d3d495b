// The correlation expression: which name a row claims, e.g. coalesce(pod_name, 'wrapper-' || slug).
//
// Grammar, with SQL's meaning for each part (a null operand makes `||` null; coalesce takes the
// first value that is not null), and one difference: a column of nothing but white space is null.
// A row that names its pod '' names none.
//
//   expression = operand { "||" operand }
//   operand    = column | 'literal' | coalesce(expression, ...) | ( expression )
//   column     = identifier (folded to lower case) | "quoted identifier"
//              | as `sql()` writes it (engine/world/row_text.h)
//
// `sql()` says the same to the server; the connector compares both results for each copied row, so
// that a type whose text differs there (char(n), boolean) is found at once.
//
// A value type; const calls are thread-safe.
#pragma once

#include "connectors/postgres/tuple.h"
#include "engine/base/result.h"
#include "engine/model/key.h"
#include "engine/world/row_text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::connectors::postgres {

/// kUnknown: a needed column was not sent.
struct Correlated {
    enum class Kind : std::uint8_t { kNull, kText, kUnknown };
    Kind kind = Kind::kNull;
    std::string text = {};
    bool operator==(const Correlated&) const = default;
};

class Correlation {
  public:
    /// The error names the position (from 1) and what was expected there.
    static Result<Correlation> parse(std::string_view text);

    /// The same of a policy's key; the error says what of it has no meaning over columns.
    static Result<Correlation> of(const policy::Key& key);

    /// `cells` in the order of `columns()`.
    Correlated evaluate(const std::vector<Cell>& cells) const;

    /// The expression as SQL text, which `parse` reads as the same one.
    std::string sql() const { return print(root_); }

    /// What an index must be over to tell two rows of a key apart, as in CREATE INDEX: the column
    /// that is the key, quoted, or `(expression)`.
    std::string indexed() const;

    /// The same as a policy's key.
    policy::Key key() const { return key(root_); }

    /// The columns that it reads, ascending, each once; at least one.
    const std::vector<std::string>& columns() const { return columns_; }

  private:
    friend class CorrelationParser;
    enum class Op : std::uint8_t { kColumn, kLiteral, kConcat, kCoalesce };
    struct Node {
        Op op = Op::kLiteral;
        std::string text = {};                   ///< literal, or the column's name
        std::size_t column = 0;                  ///< index into columns_
        std::vector<std::size_t> operands = {};  ///< indices into nodes_
    };
    Correlation() = default;
    Correlated evaluate(std::size_t node, const std::vector<Cell>& cells) const;
    std::string print(std::size_t node) const;
    policy::Key key(std::size_t node) const;

    std::vector<Node> nodes_;
    std::size_t root_ = 0;
    std::vector<std::string> columns_;
};

using world::quote_identifier;

}  // namespace trueup::connectors::postgres
