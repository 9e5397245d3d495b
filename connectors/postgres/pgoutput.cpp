#include "connectors/postgres/pgoutput.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace trueup::connectors::postgres {

namespace {

/// Takes big-endian values off a message. A read past the end yields zeroes and is remembered, so
/// that a decoder may read on and ask once.
class Reader {
  public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    std::uint64_t number(std::size_t size) {
        const std::string_view taken = bytes(size);
        std::uint64_t value = 0;
        for (const char byte : taken) value = value << 8U | static_cast<unsigned char>(byte);
        return value;
    }
    char letter() { return static_cast<char>(number(1)); }
    std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
    std::uint64_t u64() { return number(8); }
    std::int64_t micros() { return static_cast<std::int64_t>(number(8)); }

    std::string_view bytes(std::size_t size) {
        if (size > rest_.size()) {
            failed_ = true;
            rest_ = {};
            return {};
        }
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    std::string_view text() {
        const std::size_t end = rest_.find('\0');
        if (end == std::string_view::npos) {
            failed_ = true;
            rest_ = {};
            return {};
        }
        const std::string_view taken = bytes(end);
        bytes(1);
        return taken;
    }

    void fail() { failed_ = true; }
    bool failed() const { return failed_; }
    bool complete() const { return !failed_ && rest_.empty(); }
    std::size_t left() const { return rest_.size(); }
    std::string_view rest() const { return rest_; }

  private:
    std::string_view rest_;
    bool failed_ = false;
};

Cell read_cell(Reader& reader) {
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

Tuple read_tuple(Reader& reader) {
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

BeginMessage read_begin(Reader& reader) {
    BeginMessage begin;
    begin.final_lsn = reader.u64();
    begin.commit_micros = reader.micros();
    begin.xid = reader.u32();
    return begin;
}

CommitMessage read_commit(Reader& reader) {
    CommitMessage commit;
    reader.number(1);  // flags, unused
    commit.commit_lsn = reader.u64();
    commit.end_lsn = reader.u64();
    commit.commit_micros = reader.micros();
    return commit;
}

RelationMessage read_relation(Reader& reader) {
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

TypeMessage read_type(Reader& reader) {
    TypeMessage type;
    type.id = reader.u32();
    type.schema = reader.text();
    type.name = reader.text();
    return type;
}

InsertMessage read_insert(Reader& reader) {
    InsertMessage insert;
    insert.relation = reader.u32();
    if (reader.letter() != 'N') reader.fail();
    insert.row = read_tuple(reader);
    return insert;
}

/// The old tuple that `letter` announces.
OldTuple read_old(Reader& reader, char letter) {
    OldTuple old;
    old.kind = letter == 'O' ? OldTuple::Kind::kFull : OldTuple::Kind::kKey;
    old.cells = read_tuple(reader);
    return old;
}

UpdateMessage read_update(Reader& reader) {
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

DeleteMessage read_delete(Reader& reader) {
    DeleteMessage erased;
    erased.relation = reader.u32();
    const char letter = reader.letter();
    if (letter != 'K' && letter != 'O') reader.fail();
    erased.old = read_old(reader, letter);
    return erased;
}

TruncateMessage read_truncate(Reader& reader) {
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

OriginMessage read_origin(Reader& reader) {
    OriginMessage origin;
    origin.lsn = reader.u64();
    origin.name = reader.text();
    return origin;
}

LogicalMessage read_logical(Reader& reader) {
    LogicalMessage message;
    message.transactional = (reader.number(1) & 1U) != 0;
    message.lsn = reader.u64();
    message.prefix = reader.text();
    message.content = reader.bytes(reader.u32());
    return message;
}

Error bad_bytes(char letter, std::size_t size) {
    const bool printable = letter >= ' ' && letter <= '~';
    return {Next::kRetry, Code::kCorrupt,
            "replication message '" + std::string(1, printable ? letter : '?') + "' of " +
                std::to_string(size) + " bytes does not decode"};
}

/// Nullopt: there is no message of that letter.
std::optional<Payload> read_payload(char letter, Reader& reader) {
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

}  // namespace

Result<Payload> decode_payload(std::string_view bytes) {
    Reader reader(bytes);
    const char letter = reader.letter();
    std::optional<Payload> payload = read_payload(letter, reader);
    // Bytes that are left over are of a protocol that we did not ask for: what else of it differs?
    if (!payload || !reader.complete()) return bad_bytes(letter, bytes.size());
    return *std::move(payload);
}

Result<StreamMessage> decode_stream_message(std::string_view bytes) {
    Reader reader(bytes);
    const char letter = reader.letter();
    if (letter == 'k') {
        Keepalive keepalive;
        keepalive.end = reader.u64();
        keepalive.clock_micros = reader.micros();
        keepalive.reply_now = reader.number(1) != 0;
        if (!reader.complete()) return bad_bytes(letter, bytes.size());
        return StreamMessage(keepalive);
    }
    if (letter != 'w') return bad_bytes(letter, bytes.size());
    WalData data;
    data.start = reader.u64();
    data.end = reader.u64();
    data.clock_micros = reader.micros();
    if (reader.failed()) return bad_bytes(letter, bytes.size());
    Result<Payload> payload = decode_payload(reader.rest());
    if (!payload) return payload.error();
    data.payload = std::move(*payload);
    return StreamMessage(std::move(data));
}

}  // namespace trueup::connectors::postgres
