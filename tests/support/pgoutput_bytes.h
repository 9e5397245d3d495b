// Writes the messages of a logical replication stream, as a server would: the counterpart of
// connectors/postgres/pgoutput.h, for tests only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::test_support {

/// One column's value in a tuple.
struct PgValue {
    char kind = 'n';  ///< n null, t text, u unchanged
    std::string text = {};
};
inline PgValue pg_text(std::string text) { return {'t', std::move(text)}; }
inline PgValue pg_null() { return {'n'}; }
inline PgValue pg_unchanged() { return {'u'}; }
using PgTuple = std::vector<PgValue>;

struct PgColumn {
    std::string name;
    bool key = false;
    std::uint32_t type = 25;
};

/// Appends big-endian values.
class PgBytes {
  public:
    explicit PgBytes(char letter) { bytes_ += letter; }
    PgBytes& number(std::uint64_t value, int size) {
        for (int shift = (size - 1) * 8; shift >= 0; shift -= 8) {
            bytes_ += static_cast<char>((value >> static_cast<unsigned>(shift)) & 0xffU);
        }
        return *this;
    }
    PgBytes& letter(char c) {
        bytes_ += c;
        return *this;
    }
    PgBytes& text(std::string_view text) {
        bytes_ += text;
        bytes_ += '\0';
        return *this;
    }
    PgBytes& raw(std::string_view bytes) {
        bytes_ += bytes;
        return *this;
    }
    PgBytes& tuple(const PgTuple& tuple) {
        number(tuple.size(), 2);
        for (const PgValue& value : tuple) {
            letter(value.kind);
            if (value.kind == 't') number(value.text.size(), 4).raw(value.text);
        }
        return *this;
    }
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

inline std::string pg_begin(std::uint64_t final_lsn, std::uint64_t micros = 0) {
    return PgBytes('B').number(final_lsn, 8).number(micros, 8).number(7, 4).take();
}
inline std::string pg_commit(std::uint64_t lsn, std::uint64_t end) {
    return PgBytes('C').number(0, 1).number(lsn, 8).number(end, 8).number(0, 8).take();
}
inline std::string pg_relation(std::uint32_t id, std::string_view schema, std::string_view name,
                               char identity, const std::vector<PgColumn>& columns) {
    PgBytes bytes('R');
    bytes.number(id, 4).text(schema).text(name).letter(identity).number(columns.size(), 2);
    for (const PgColumn& column : columns) {
        bytes.number(column.key || identity == 'f' ? 1 : 0, 1).text(column.name);
        bytes.number(column.type, 4).number(0xffffffffU, 4);
    }
    return bytes.take();
}
inline std::string pg_type(std::uint32_t id, std::string_view schema, std::string_view name) {
    return PgBytes('Y').number(id, 4).text(schema).text(name).take();
}
inline std::string pg_insert(std::uint32_t relation, const PgTuple& row) {
    return PgBytes('I').number(relation, 4).letter('N').tuple(row).take();
}
/// `old_kind`: K or O; 0 for no old tuple.
inline std::string pg_update(std::uint32_t relation, char old_kind, const PgTuple& old,
                             const PgTuple& row) {
    PgBytes bytes('U');
    bytes.number(relation, 4);
    if (old_kind != 0) bytes.letter(old_kind).tuple(old);
    return bytes.letter('N').tuple(row).take();
}
inline std::string pg_delete(std::uint32_t relation, char old_kind, const PgTuple& old) {
    return PgBytes('D').number(relation, 4).letter(old_kind).tuple(old).take();
}
inline std::string pg_truncate(const std::vector<std::uint32_t>& relations) {
    PgBytes bytes('T');
    bytes.number(relations.size(), 4).number(0, 1);
    for (const std::uint32_t id : relations) bytes.number(id, 4);
    return bytes.take();
}
/// The `w` envelope.
inline std::string pg_wal(std::string_view payload, std::uint64_t lsn = 0) {
    return PgBytes('w').number(lsn, 8).number(lsn, 8).number(0, 8).raw(payload).take();
}
/// A `k` message.
inline std::string pg_keepalive(std::uint64_t end, bool reply_now = false) {
    return PgBytes('k').number(end, 8).number(0, 8).number(reply_now ? 1 : 0, 1).take();
}

}  // namespace trueup::test_support
