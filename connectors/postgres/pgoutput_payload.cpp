#include "connectors/postgres/pgoutput_payload.h"

#include <cstddef>
#include <cstdint>

namespace trueup::connectors::postgres {

namespace {

BeginMessage read_begin(MessageReader& reader) {
    BeginMessage begin;
    begin.final_lsn = reader.u64();
    begin.commit_micros = reader.micros();
    begin.xid = reader.u32();
    return begin;
}

CommitMessage read_commit(MessageReader& reader) {
    CommitMessage commit;
    reader.number(1);  // flags, unused
    commit.commit_lsn = reader.u64();
    commit.end_lsn = reader.u64();
    commit.commit_micros = reader.micros();
    return commit;
}

RelationMessage read_relation(MessageReader& reader) {
    RelationMessage relation;
    relation.id = reader.u32();
    relation.schema = reader.text();
    relation.name = reader.text();
    relation.identity = reader.letter();
    const std::size_t count = reader.u16();
    for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
        RelationMessage::Column column;
        column.key = (reader.number(1) & 1U) != 0;
        column.name = reader.text();
        column.type = reader.u32();
        column.modifier = static_cast<std::int32_t>(reader.u32());
        relation.columns.push_back(column);
    }
    return relation;
}

TypeMessage read_type(MessageReader& reader) {
    TypeMessage type;
    type.id = reader.u32();
    type.schema = reader.text();
    type.name = reader.text();
    return type;
}

InsertMessage read_insert(MessageReader& reader) {
    InsertMessage insert;
    insert.relation = reader.u32();
    if (reader.letter() != 'N') reader.fail();
    insert.row = read_tuple(reader);
    return insert;
}

UpdateMessage read_update(MessageReader& reader) {
    UpdateMessage update;
    update.relation = reader.u32();
    char letter = reader.letter();
    if (letter == 'K' || letter == 'O') {
        update.old = read_old(reader, letter);
        letter = reader.letter();
    }
    if (letter != 'N') reader.fail();
    update.row = read_tuple(reader);
    return update;
}

DeleteMessage read_delete(MessageReader& reader) {
    DeleteMessage erased;
    erased.relation = reader.u32();
    const char letter = reader.letter();
    if (letter != 'K' && letter != 'O') reader.fail();
    erased.old = read_old(reader, letter);
    return erased;
}

TruncateMessage read_truncate(MessageReader& reader) {
    TruncateMessage truncate;
    const std::size_t count = reader.u32();
    const std::uint64_t options = reader.number(1);
    truncate.cascade = (options & 1U) != 0;
    truncate.restart_identity = (options & 2U) != 0;
    for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
        truncate.relations.push_back(reader.u32());
    }
    return truncate;
}

OriginMessage read_origin(MessageReader& reader) {
    OriginMessage origin;
    origin.lsn = reader.u64();
    origin.name = reader.text();
    return origin;
}

LogicalMessage read_logical(MessageReader& reader) {
    LogicalMessage message;
    message.transactional = (reader.number(1) & 1U) != 0;
    message.lsn = reader.u64();
    message.prefix = reader.text();
    message.content = reader.bytes(reader.u32());
    return message;
}

}  // namespace

std::optional<Payload> read_payload(char letter, MessageReader& reader) {
    switch (letter) {
        case 'B':
            return read_begin(reader);
        case 'C':
            return read_commit(reader);
        case 'R':
            return read_relation(reader);
        case 'Y':
            return read_type(reader);
        case 'I':
            return read_insert(reader);
        case 'U':
            return read_update(reader);
        case 'D':
            return read_delete(reader);
        case 'T':
            return read_truncate(reader);
        case 'O':
            return read_origin(reader);
        case 'M':
            return read_logical(reader);
        default:
            return std::nullopt;
    }
}

}  // namespace trueup::connectors::postgres
