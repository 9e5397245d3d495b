// Messages of a replication stream: what is read has nothing left out, so that the same message,
// byte for byte, can be written from it; but for bits that the protocol leaves open.
#include "connectors/postgres/pgoutput.h"

#include "tests/fuzz/fuzz.h"
#include "tests/support/pgoutput_bytes.h"

namespace trueup::fuzz {
namespace {

using namespace connectors::postgres;
using test_support::PgBytes;

/// Writes each kind of payload.
struct Writer {
    static test_support::PgTuple tuple(const Tuple& cells) {
        test_support::PgTuple values;
        for (const Cell& cell : cells) {
            switch (cell.kind) {
                case Cell::Kind::kNull:
                    values.push_back(test_support::pg_null());
                    break;
                case Cell::Kind::kUnchanged:
                    values.push_back(test_support::pg_unchanged());
                    break;
                case Cell::Kind::kText:
                    values.push_back(test_support::pg_text(std::string(cell.text)));
            }
        }
        return values;
    }
    static char letter(const OldTuple& old) {
        if (old.kind == OldTuple::Kind::kNone) return 0;
        return old.kind == OldTuple::Kind::kFull ? 'O' : 'K';
    }
    static std::uint64_t bits(std::int64_t number) { return static_cast<std::uint64_t>(number); }

    std::string operator()(const BeginMessage& m) const {
        return PgBytes('B')
            .number(m.final_lsn, 8)
            .number(bits(m.commit_micros), 8)
            .number(m.xid, 4)
            .take();
    }
    std::string operator()(const CommitMessage& m) const {
        PgBytes bytes('C');
        bytes.number(0, 1).number(m.commit_lsn, 8).number(m.end_lsn, 8);
        return bytes.number(bits(m.commit_micros), 8).take();
    }
    std::string operator()(const RelationMessage& m) const {
        PgBytes bytes('R');
        bytes.number(m.id, 4).text(m.schema).text(m.name).letter(m.identity);
        bytes.number(m.columns.size(), 2);
        for (const RelationMessage::Column& column : m.columns) {
            bytes.number(column.key ? 1 : 0, 1).text(column.name).number(column.type, 4);
            bytes.number(static_cast<std::uint32_t>(column.modifier), 4);
        }
        return bytes.take();
    }
    std::string operator()(const TypeMessage& m) const {
        return PgBytes('Y').number(m.id, 4).text(m.schema).text(m.name).take();
    }
    std::string operator()(const InsertMessage& m) const {
        return test_support::pg_insert(m.relation, tuple(m.row));
    }
    std::string operator()(const UpdateMessage& m) const {
        return test_support::pg_update(m.relation, letter(m.old), tuple(m.old.cells), tuple(m.row));
    }
    std::string operator()(const DeleteMessage& m) const {
        return test_support::pg_delete(m.relation, letter(m.old), tuple(m.old.cells));
    }
    std::string operator()(const TruncateMessage& m) const {
        PgBytes bytes('T');
        bytes.number(m.relations.size(), 4);
        bytes.number((m.cascade ? 1U : 0U) | (m.restart_identity ? 2U : 0U), 1);
        for (const std::uint32_t relation : m.relations) bytes.number(relation, 4);
        return bytes.take();
    }
    std::string operator()(const OriginMessage& m) const {
        return PgBytes('O').number(m.lsn, 8).text(m.name).take();
    }
    std::string operator()(const LogicalMessage& m) const {
        PgBytes bytes('M');
        bytes.number(m.transactional ? 1 : 0, 1).number(m.lsn, 8).text(m.prefix);
        return bytes.number(m.content.size(), 4).raw(m.content).take();
    }
};

std::string written(const StreamMessage& message) {
    if (const auto* keepalive = std::get_if<Keepalive>(&message)) {
        PgBytes bytes('k');
        bytes.number(keepalive->end, 8).number(Writer::bits(keepalive->clock_micros), 8);
        return bytes.number(keepalive->reply_now ? 1 : 0, 1).take();
    }
    const auto& data = std::get<WalData>(message);
    PgBytes bytes('w');
    bytes.number(data.start, 8).number(data.end, 8).number(Writer::bits(data.clock_micros), 8);
    return bytes.raw(std::visit(Writer(), data.payload)).take();
}

}  // namespace
}  // namespace trueup::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    const auto read = connectors::postgres::decode_stream_message(fuzz::text(data, size));
    if (!read) return fuzz::check_refusal(read.error(), Next::kRetry), 0;
    const std::string first = fuzz::written(*read);
    TRUEUP_CHECK(first.size() == size);
    const auto again = connectors::postgres::decode_stream_message(first);
    TRUEUP_CHECK(again.ok());
    TRUEUP_CHECK(fuzz::written(*again) == first);
    return 0;
}
