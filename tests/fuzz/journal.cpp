// A record of the journal: read as the generated code reads it, the same into a view that was used
// before, and the same once more after it was built anew from its pieces.
#include "engine/codec/journal_codec.h"
#include "tests/fuzz/fuzz.h"
#include "trueup/v1/journal.pb.h"

namespace trueup::fuzz {
namespace {

constexpr BrokerTime kAt = from_millis<BrokerTime>(1'700'000'000'000);

void check_same(const v1::JournalRecord& record, const JournalView& view) {
    TRUEUP_CHECK(record.has_genesis() == view.genesis.has_value());
    TRUEUP_CHECK(record.has_settings() == view.settings.has_value());
    TRUEUP_CHECK(record.has_folded_offset() == view.folded.has_value());
    TRUEUP_CHECK(record.has_folded_digest() == view.folded.has_value());
    if (view.folded) {
        TRUEUP_CHECK(record.folded_offset() == view.folded->offset.value());
        TRUEUP_CHECK(record.folded_digest() == view.folded->digest);
    }
    TRUEUP_CHECK((record.has_settings_after() ? record.settings_after() : -1) ==
                 view.settings_after.value());
    TRUEUP_CHECK(static_cast<std::size_t>(record.items_size()) == view.items.size());
    for (int i = 0; i < record.items_size(); ++i) {
        const v1::Item& item = record.items(i);
        const ItemView& read = view.items[static_cast<std::size_t>(i)];
        TRUEUP_CHECK(static_cast<int>(item.topic()) == static_cast<int>(read.topic));
        TRUEUP_CHECK(item.prev_offset() == read.prev_offset.value());
        TRUEUP_CHECK(item.offset() == read.offset.value());
        TRUEUP_CHECK(item.append_time_ms() == to_millis(read.append_time));
        TRUEUP_CHECK(item.payload() == read.bytes);
        TRUEUP_CHECK(item.authentic() == read.authentic);
    }
}

void check_same(const JournalView& a, const JournalView& b) {
    TRUEUP_CHECK(a.genesis == b.genesis);
    TRUEUP_CHECK(a.settings == b.settings);
    TRUEUP_CHECK(a.folded == b.folded);
    TRUEUP_CHECK(a.settings_after == b.settings_after || !a.settings);
    TRUEUP_CHECK(a.items.size() == b.items.size());
    for (std::size_t i = 0; i < a.items.size(); ++i) {
        TRUEUP_CHECK(a.items[i].topic == b.items[i].topic);
        TRUEUP_CHECK(a.items[i].prev_offset == b.items[i].prev_offset);
        TRUEUP_CHECK(a.items[i].offset == b.items[i].offset);
        TRUEUP_CHECK(a.items[i].append_time == b.items[i].append_time);
        TRUEUP_CHECK(a.items[i].authentic == b.items[i].authentic);
        TRUEUP_CHECK(a.items[i].bytes == b.items[i].bytes);
        TRUEUP_CHECK(a.items[i].body.index() == b.items[i].body.index());
        if (const auto* undecodable = std::get_if<Undecodable>(&a.items[i].body)) {
            TRUEUP_CHECK(!undecodable->reason.empty());
        }
    }
}

std::string built_from(const JournalView& view) {
    codec::JournalRecordBuilder builder;
    if (view.genesis) builder.set_genesis(*view.genesis);
    if (view.settings) builder.set_settings(*view.settings, view.settings_after);
    if (view.folded) builder.set_folded(*view.folded);
    for (const ItemView& item : view.items) {
        builder.add_item(item.topic, item.prev_offset, item.offset, item.append_time, item.bytes,
                         item.authentic);
    }
    return builder.take();
}

}  // namespace
}  // namespace trueup::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    const std::string_view bytes = fuzz::text(data, size);
    JournalView fresh;
    const Status read = codec::decode_journal(bytes, Offset(7), fuzz::kAt, fresh);
    if (!read) return fuzz::check_refusal(read.error(), Next::kStop), 0;
    v1::JournalRecord record;
    TRUEUP_CHECK(record.ParseFromArray(data, static_cast<int>(size)));
    fuzz::check_same(record, fresh);
    static JournalView used;
    TRUEUP_CHECK(codec::decode_journal(bytes, Offset(7), fuzz::kAt, used).ok());
    fuzz::check_same(fresh, used);
    const std::string built = fuzz::built_from(fresh);
    TRUEUP_CHECK(codec::decode_journal(built, Offset(7), fuzz::kAt, used).ok());
    fuzz::check_same(fresh, used);
    used = {};  // its views are of bytes that end here
    return 0;
}
