// A whole replication stream, message after message (two bytes of length before each): whatever it
// says, in whatever order, each fact that is stated can be published, and a fact about a row is
// stated only inside a transaction.
#include "connectors/postgres/stream.h"
#include "tests/fuzz/fact.h"
#include "tests/fuzz/fuzz.h"

namespace trueup::fuzz {
namespace {

using namespace connectors::postgres;

Settings settings() {
    return {.table = {"public", "instances"},
            .slot = "trueup",
            .publication = "trueup",
            .columns = {"pod_name", "status", "url_slug"},
            .correlate = *Correlation::parse("coalesce(pod_name, 'wrapper-' || url_slug)"),
            .source_name = "rows",
            .veto_column = "keep"};
}

/// The server sends UTF-8, for the connection asked for it (transport.cpp); nothing else is stated.
bool is_text(std::string_view bytes) {
    for (const char c : bytes) {
        if (static_cast<unsigned char>(c) >= 0x80) return false;
    }
    return true;
}

void check_facts(const std::vector<Fact>& facts, bool in_transaction) {
    for (const Fact& fact : facts) {
        if (fact.kind != Fact::Kind::kUpsert && fact.kind != Fact::Kind::kRemove) continue;
        TRUEUP_CHECK(in_transaction);
        TRUEUP_CHECK(fact.version.lo > 0);
        check_publishable(fact);
    }
}

}  // namespace
}  // namespace trueup::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    using namespace trueup::connectors::postgres;
    static const Settings settings = fuzz::settings();
    Stream stream(settings);
    stream.reconnect({"id"});
    std::string_view bytes = fuzz::text(data, size);
    while (!bytes.empty()) {
        const std::size_t length = fuzz::take_byte(bytes) * 256;
        const std::string_view message = fuzz::take(bytes, length + fuzz::take_byte(bytes));
        const Result<Payload> payload = decode_payload(message);
        if (!payload || !fuzz::is_text(message)) continue;
        const bool in_transaction = stream.in_transaction();
        std::vector<Fact> facts;
        const Result<StreamNote> note = stream.take(*payload, facts);
        if (!note) {
            TRUEUP_CHECK(!note.error().what.empty());
            stream.reconnect({"id"});
            continue;
        }
        fuzz::check_facts(facts, in_transaction);
    }
    return 0;
}
