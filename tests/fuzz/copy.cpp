// Rows as COPY sends them: what is read is written, and read again as the same.
#include "connectors/postgres/statements.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>

namespace {

/// As a server writes it.
std::string copy_line(const trueup::ports::SqlRow& row) {
    std::string line;
    for (const auto& field : row) {
        if (!line.empty() || &field != &row.front()) line += '\t';
        if (!field) line += "\\N";
        for (const char c : field.value_or("")) {
            if (c == '\t' || c == '\n' || c == '\\') line += '\\';
            line += c == '\t' ? 't' : c == '\n' ? 'n' : c;
        }
    }
    return line + '\n';
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    const std::string_view text = fuzz::text(data, size);
    const auto row = connectors::postgres::parse_copy_line(text);
    if (!row) return 0;
    const auto tabs = std::count(text.begin(), text.end(), '\t');
    TRUEUP_CHECK(row->size() == static_cast<std::size_t>(tabs) + 1);
    TRUEUP_CHECK(connectors::postgres::parse_copy_line(copy_line(*row)) == row);
    return 0;
}
