#include "connectors/postgres/pgoutput.h"

#include "connectors/postgres/pgoutput_payload.h"
#include "connectors/postgres/pgoutput_reader.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace trueup::connectors::postgres {

namespace {

Error bad_bytes(char letter, std::size_t size) {
    const bool printable = letter >= ' ' && letter <= '~';
    return {Next::kRetry, Code::kCorrupt,
            "replication message '" + std::string(1, printable ? letter : '?') + "' of " +
                std::to_string(size) + " bytes does not decode"};
}

}  // namespace

Result<Payload> decode_payload(std::string_view bytes) {
    MessageReader reader(bytes);
    const char letter = reader.letter();
    std::optional<Payload> payload = read_payload(letter, reader);
    // Bytes that are left over are of a protocol that we did not ask for: what else of it differs?
    if (!payload || !reader.complete()) return bad_bytes(letter, bytes.size());
    return *std::move(payload);
}

Result<StreamMessage> decode_stream_message(std::string_view bytes) {
    MessageReader reader(bytes);
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
