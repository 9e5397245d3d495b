// Correlation expressions: what is read as one is, as SQL text, read as the same one, and evaluates
// to a text only where a column or a literal has one. The configuration is an operator's.
#include "connectors/postgres/correlation.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    using namespace trueup::connectors::postgres;
    const Result<Correlation> read = Correlation::parse(fuzz::text(data, size));
    if (!read) {
        TRUEUP_CHECK(!read.error().what.empty());
        return 0;
    }
    TRUEUP_CHECK(!read->columns().empty());
    const Result<Correlation> again = Correlation::parse(read->sql());
    TRUEUP_CHECK(again.ok());
    TRUEUP_CHECK(again->sql() == read->sql());
    TRUEUP_CHECK(again->columns() == read->columns());
    for (const auto kind : {Cell::Kind::kNull, Cell::Kind::kText, Cell::Kind::kUnchanged}) {
        const std::vector<Cell> cells(
            read->columns().size(),
            Cell{kind, kind == Cell::Kind::kText ? "x" : std::string_view()});
        const Correlated value = read->evaluate(cells);
        TRUEUP_CHECK(value == again->evaluate(cells));
        TRUEUP_CHECK(kind != Cell::Kind::kText || value.kind == Correlated::Kind::kText);
        TRUEUP_CHECK(value.kind == Correlated::Kind::kText || value.text.empty());
    }
    return 0;
}
