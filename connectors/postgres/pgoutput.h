// The messages of a logical replication stream: the envelopes `w` and `k` of the streaming protocol
// and, inside `w`, the messages of the plugin pgoutput (protocol version 1).
//
// A decoder only: bytes in, values out, no state. Every read is checked against the end of the
// message, a message must be used up to its last byte, and bytes that do not fit are an Error,
// never undefined behaviour. Views point into the bytes that were given. Thread-safe.
#pragma once

#include "connectors/postgres/tuple.h"
#include "engine/base/result.h"
#include "engine/ports/sql.h"

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace trueup::connectors::postgres {

struct BeginMessage {
    ports::Lsn final_lsn = 0;  ///< where the commit record starts
    std::int64_t commit_micros = 0;
    std::uint32_t xid = 0;
};
struct CommitMessage {
    ports::Lsn commit_lsn = 0;
    ports::Lsn end_lsn = 0;
    std::int64_t commit_micros = 0;
};
struct RelationMessage {
    struct Column {
        bool key = false;
        std::string_view name = {};
        std::uint32_t type = 0;
        std::int32_t modifier = -1;
    };
    std::uint32_t id = 0;
    std::string_view schema = {};
    std::string_view name = {};
    char identity = 'd';  ///< d default, n nothing, f full, i index
    std::vector<Column> columns = {};
};
struct TypeMessage {
    std::uint32_t id = 0;
    std::string_view schema = {};
    std::string_view name = {};
};
struct InsertMessage {
    std::uint32_t relation = 0;
    Tuple row = {};
};
struct UpdateMessage {
    std::uint32_t relation = 0;
    OldTuple old = {};
    Tuple row = {};
};
struct DeleteMessage {
    std::uint32_t relation = 0;
    OldTuple old = {};
};
struct TruncateMessage {
    bool cascade = false;
    bool restart_identity = false;
    std::vector<std::uint32_t> relations = {};
};
struct OriginMessage {
    ports::Lsn lsn = 0;
    std::string_view name = {};
};
struct LogicalMessage {
    bool transactional = false;
    ports::Lsn lsn = 0;
    std::string_view prefix = {};
    std::string_view content = {};
};
using Payload =
    std::variant<BeginMessage, CommitMessage, RelationMessage, TypeMessage, InsertMessage,
                 UpdateMessage, DeleteMessage, TruncateMessage, OriginMessage, LogicalMessage>;

/// `w`.
struct WalData {
    ports::Lsn start = 0;
    ports::Lsn end = 0;
    std::int64_t clock_micros = 0;
    Payload payload;
};
/// `k`.
struct Keepalive {
    ports::Lsn end = 0;
    std::int64_t clock_micros = 0;
    bool reply_now = false;
};
using StreamMessage = std::variant<WalData, Keepalive>;

/// Decodes one CopyData payload.
Result<StreamMessage> decode_stream_message(std::string_view bytes);
/// Decodes what a `w` envelope carries.
Result<Payload> decode_payload(std::string_view bytes);

}  // namespace trueup::connectors::postgres
