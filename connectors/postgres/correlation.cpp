#include "connectors/postgres/correlation.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace trueup::connectors::postgres {

namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxIdentifier = 63;  // PostgreSQL cuts longer ones

// Words that SQL would not read as a column where they stand bare.
constexpr std::array<std::string_view, 22> kNotColumns = {
    "all",  "and", "any", "array", "as", "case",   "cast",  "distinct", "else", "end",  "false",
    "from", "in",  "not", "null",  "or", "select", "table", "then",     "true", "user", "when"};

bool starts_identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool continues_identifier(char c) {
    return starts_identifier(c) || (c >= '0' && c <= '9') || c == '$';
}

std::string lower(std::string_view text) {
    std::string folded(text);
    for (char& c : folded) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return folded;
}

std::string quoted(std::string_view literal) {
    std::string out = "'";
    for (const char c : literal) {
        out += c;
        if (c == '\'') out += c;
    }
    return out + '\'';
}

}  // namespace

/// Recursive descent; `error_` is set at the first thing that does not fit.
class CorrelationParser {
  public:
    explicit CorrelationParser(std::string_view text) : text_(text) {}

    Result<Correlation> parse() {
        if (text_.size() > kMaxText) fail("is longer than 4096 bytes");
        const std::size_t root = expression(0);
        skip_blanks();
        if (!error_ && at_ != text_.size()) fail("expected || or the end");
        // A constant would put every row on one subject.
        if (!error_ && made_.columns_.empty()) {
            fail("names no column, so all rows would claim one name");
        }
        if (error_) return *error_;
        made_.root_ = root;
        number_columns();
        return std::move(made_);
    }

  private:
    using Op = Correlation::Op;

    std::size_t expression(std::size_t depth) {
        std::vector<std::size_t> operands{operand(depth)};
        while (!error_ && take("||")) operands.push_back(operand(depth));
        if (operands.size() == 1) return operands.front();
        return add({Op::kConcat, {}, 0, std::move(operands)});
    }

    std::size_t operand(std::size_t depth) {
        skip_blanks();
        if (depth > kMaxDepth) return fail("is nested too deeply");
        if (at_ == text_.size()) return fail("expected a column, a 'literal' or coalesce(...)");
        const char c = text_[at_];
        if (c == '\'') return literal();
        if (c == '"') return quoted_column();
        if (c == '(') {
            ++at_;
            const std::size_t inner = expression(depth + 1);
            if (!error_ && !take(")")) fail("expected )");
            return inner;
        }
        if (const auto name = as_printed()) return column(*name, at_);
        if (starts_identifier(c)) return word(depth);
        return fail("expected a column, a 'literal' or coalesce(...)");
    }

    std::size_t word(std::size_t depth) {
        const std::size_t start = at_;
        while (at_ < text_.size() && continues_identifier(text_[at_])) ++at_;
        const std::string name = lower(text_.substr(start, at_ - start));
        if (name == "coalesce") return coalesce(depth);
        const std::size_t after = at_;
        skip_blanks();
        const char next = at_ < text_.size() ? text_[at_] : ' ';
        at_ = start;
        if (next == '(') return fail("coalesce is the only function allowed here");
        if (next == '\'') return fail("a literal has no prefix and no type");
        if (std::find(kNotColumns.begin(), kNotColumns.end(), name) != kNotColumns.end()) {
            return fail("'" + name +
                        "' is an SQL keyword, and only columns, 'literals', || and coalesce(...) "
                        "are allowed; a column of that name needs quotes");
        }
        at_ = after;
        return column(name, start);
    }

    std::size_t coalesce(std::size_t depth) {
        if (!take("(")) return fail("expected ( after coalesce");
        std::vector<std::size_t> operands{expression(depth + 1)};
        while (!error_ && take(",")) operands.push_back(expression(depth + 1));
        if (!error_ && !take(")")) fail("expected , or )");
        return add({Op::kCoalesce, {}, 0, std::move(operands)});
    }

    std::size_t literal() {
        const std::optional<std::string> text = between('\'');
        if (!text) return fail("this literal does not end");
        return add({Op::kLiteral, *text, 0, {}});
    }

    std::size_t quoted_column() {
        const std::size_t start = at_;
        const std::optional<std::string> name = between('"');
        if (!name) return fail("this name does not end");
        return column(*name, start);
    }

    /// A column as `sql()` writes it, taken off the text.
    std::optional<std::string> as_printed() {
        std::string_view rest = text_.substr(at_);
        std::optional<std::string> name = world::take_unless_blank(rest);
        if (!name || name->find('\0') != std::string::npos) return std::nullopt;
        at_ = text_.size() - rest.size();
        return name;
    }

    std::size_t column(const std::string& name, std::size_t start) {
        if (name.empty() || name.size() > kMaxIdentifier) {
            at_ = start;
            return fail("a column's name has 1 to 63 bytes");
        }
        made_.columns_.push_back(name);
        return add({Op::kColumn, name, 0, {}});
    }

    /// The text between two quotes, doubled ones inside made single; leaves `at_` alone on failure.
    std::optional<std::string> between(char quote) {
        std::string text;
        for (std::size_t i = at_ + 1; i < text_.size() && text_[i] != '\0'; ++i) {
            if (text_[i] == quote) {
                if (i + 1 >= text_.size() || text_[i + 1] != quote) {
                    at_ = i + 1;
                    return text;
                }
                ++i;
            }
            text += text_[i];
        }
        return std::nullopt;
    }

    void number_columns() {
        std::sort(made_.columns_.begin(), made_.columns_.end());
        made_.columns_.erase(std::unique(made_.columns_.begin(), made_.columns_.end()),
                             made_.columns_.end());
        for (Correlation::Node& node : made_.nodes_) {
            if (node.op != Op::kColumn) continue;
            const auto found =
                std::lower_bound(made_.columns_.begin(), made_.columns_.end(), node.text);
            node.column = static_cast<std::size_t>(found - made_.columns_.begin());
        }
    }

    std::size_t add(Correlation::Node node) {
        made_.nodes_.push_back(std::move(node));
        return made_.nodes_.size() - 1;
    }

    bool take(std::string_view token) {
        skip_blanks();
        if (text_.substr(at_, token.size()) != token) return false;
        at_ += token.size();
        return true;
    }

    void skip_blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' ||
                                      text_[at_] == '\n' || text_[at_] == '\r')) {
            ++at_;
        }
    }

    // The first error counts: what follows it is only what the parser made of it. The index that it
    // returns is looked at by no one.
    std::size_t fail(const std::string& what) {
        if (!error_) {
            error_ =
                Error{Next::kStop, Code::kConfiguration,
                      "correlation expression, position " + std::to_string(at_ + 1) + ": " + what};
        }
        return 0;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::optional<Error> error_;
    Correlation made_;
};

Result<Correlation> Correlation::parse(std::string_view text) {
    Result<Correlation> read = CorrelationParser(text).parse();
    if (!read) return read;
    // As SQL text it is longer and deeper, and must be read as the same one.
    const Result<Correlation> again = CorrelationParser(read->sql()).parse();
    if (!again) {
        return Error{Next::kStop, Code::kConfiguration, "as SQL text: " + again.error().what};
    }
    return read;
}

namespace {

/// Each name in quotes, so that it is read as it is. The error says what has no meaning here.
Result<std::string> text_of(const policy::Key& key) {
    using Op = policy::Key::Op;
    const auto refuse = [](const std::string& what) {
        return Error{Next::kStop, Code::kConfiguration,
                     what +
                         ", which a table does not have; write columns, 'literals', || and "
                         "coalesce(...)"};
    };
    if (key.op == Op::kLower) return refuse("it uses lower(...)");
    if (key.op == Op::kAfter) return refuse("it uses after(...)");
    if (key.op == Op::kLiteral) return quoted(key.text);
    if (key.op == Op::kField) {
        if (policy::is_label(key.text)) return refuse("it is made of " + key.text);
        return quote_identifier(key.text);
    }
    const bool concat = key.op == Op::kConcat;
    std::string text = concat ? "(" : "coalesce(";
    for (const policy::Key& part : key.parts) {
        if (&part != key.parts.data()) text += concat ? " || " : ", ";
        Result<std::string> inner = text_of(part);
        if (!inner) return inner;
        text += *inner;
    }
    return text + ')';
}

}  // namespace

Result<Correlation> Correlation::of(const policy::Key& key) {
    const Result<std::string> text = text_of(key);
    if (!text) return text.error();
    return parse(*text);
}

Correlated Correlation::evaluate(const std::vector<Cell>& cells) const {
    TRUEUP_CHECK(cells.size() == columns_.size());
    return evaluate(root_, cells);
}

Correlated Correlation::evaluate(std::size_t index, const std::vector<Cell>& cells) const {
    using Kind = Correlated::Kind;
    const Node& node = nodes_[index];
    switch (node.op) {
        case Op::kLiteral:
            return {Kind::kText, node.text};
        case Op::kColumn: {
            const Cell& cell = cells[node.column];
            if (cell.kind == Cell::Kind::kUnchanged) return {Kind::kUnknown};
            if (cell.kind == Cell::Kind::kNull) return {Kind::kNull};
            // Blank is no name, here and in the SQL that `print` makes for the server.
            if (world::trimmed(cell.text).empty()) return {Kind::kNull};
            return {Kind::kText, std::string(cell.text)};
        }
        case Op::kCoalesce:
            for (const std::size_t operand : node.operands) {
                Correlated value = evaluate(operand, cells);
                if (value.kind != Kind::kNull) return value;
            }
            return {Kind::kNull};
        case Op::kConcat:
            break;
    }
    // A null operand settles the result even where another one is unknown.
    Correlated all{Kind::kText};
    for (const std::size_t operand : node.operands) {
        const Correlated value = evaluate(operand, cells);
        if (value.kind == Kind::kNull) return {Kind::kNull};
        if (value.kind == Kind::kUnknown) all = {Kind::kUnknown};
        if (all.kind == Kind::kText) all.text += value.text;
    }
    return all;
}

std::string Correlation::indexed() const {
    const Node& root = nodes_[root_];
    return root.op == Op::kColumn ? quote_identifier(root.text) : '(' + sql() + ')';
}

std::string Correlation::print(std::size_t index) const {
    const Node& node = nodes_[index];
    if (node.op == Op::kColumn) return world::unless_blank_sql(node.text);
    if (node.op == Op::kLiteral) return quoted(node.text);
    const bool concat = node.op == Op::kConcat;
    std::string out = concat ? "(" : "coalesce(";
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
        if (i > 0) out += concat ? " || " : ", ";
        out += print(node.operands[i]);
    }
    return out + ")";
}

policy::Key Correlation::key(std::size_t number) const {
    const Node& node = nodes_[number];
    policy::Key key;
    key.text = node.text;
    switch (node.op) {
        case Op::kColumn:
            key.op = policy::Key::Op::kField;
            break;
        case Op::kLiteral:
            key.op = policy::Key::Op::kLiteral;
            break;
        case Op::kConcat:
            key.op = policy::Key::Op::kConcat;
            break;
        case Op::kCoalesce:
            key.op = policy::Key::Op::kCoalesce;
            break;
    }
    for (const std::size_t operand : node.operands) key.parts.push_back(this->key(operand));
    return key;
}

}  // namespace trueup::connectors::postgres
