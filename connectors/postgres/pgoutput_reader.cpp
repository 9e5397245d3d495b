#include "connectors/postgres/pgoutput_reader.h"

namespace trueup::connectors::postgres {

namespace {

Cell read_cell(MessageReader& reader) {
    switch (reader.letter()) {
        case 'n':
            return {Cell::Kind::kNull};
        case 'u':
            return {Cell::Kind::kUnchanged};
        case 't':
            return {Cell::Kind::kText, reader.bytes(reader.u32())};
        default:  // Binary values ('b') come only to those who asked for them.
            reader.fail();
            return {};
    }
}

}  // namespace

Tuple read_tuple(MessageReader& reader) {
    const std::size_t count = reader.u16();
    Tuple cells;
    if (count > reader.left()) {  // A column takes a byte at least: do not reserve for a lie.
        reader.fail();
        return cells;
    }
    cells.reserve(count);
    for (std::size_t i = 0; i < count && !reader.failed(); ++i) cells.push_back(read_cell(reader));
    return cells;
}

OldTuple read_old(MessageReader& reader, char letter) {
    OldTuple old;
    old.kind = letter == 'O' ? OldTuple::Kind::kFull : OldTuple::Kind::kKey;
    old.cells = read_tuple(reader);
    return old;
}

}  // namespace trueup::connectors::postgres
