// The envelope of a change: the reader by hand takes nothing that the generated code does not take,
// and reads the same in it.
#include "engine/codec/change_codec.h"
#include "engine/model/object.h"
#include "tests/fuzz/fuzz.h"
#include "trueup/v1/change.pb.h"

namespace trueup::fuzz {
namespace {

void check_same(const v1::Object& object, ObjectView view) {
    int at = 0;
    view.each([&](const Field& field) {
        TRUEUP_CHECK(at < object.fields_size());
        const v1::Field& other = object.fields(at++);
        TRUEUP_CHECK(other.name() == field.name);
        TRUEUP_CHECK(other.unchanged() == field.unchanged);
        TRUEUP_CHECK(other.has_value() == field.value.has_value());
        TRUEUP_CHECK(other.value() == field.value.value_or(std::string_view()));
    });
    TRUEUP_CHECK(at == object.fields_size());
}

void check_same(const v1::Change& m, const ChangeView& view) {
    TRUEUP_CHECK(static_cast<int>(m.kind()) == static_cast<int>(view.kind));
    TRUEUP_CHECK(m.source() == view.source);
    TRUEUP_CHECK((m.has_incarnation() ? m.incarnation() : -1) == view.incarnation.value());
    TRUEUP_CHECK(m.seq() == view.seq);
    TRUEUP_CHECK(m.epoch() == view.epoch);
    TRUEUP_CHECK(m.event_id() == view.event_id);
    TRUEUP_CHECK(m.object_id() == view.object_id);
    TRUEUP_CHECK(m.subject_key() == view.subject_key);
    TRUEUP_CHECK(m.version_hi() == view.version.hi);
    TRUEUP_CHECK(m.version_lo() == view.version.lo);
    TRUEUP_CHECK(m.source_time_ms() == to_millis(view.source_time));
    TRUEUP_CHECK(m.count() == view.count);
    TRUEUP_CHECK(m.complete_as_of_ms() == to_millis(view.complete_as_of));
    TRUEUP_CHECK(m.source_clock_ms() == to_millis(view.source_clock));
    TRUEUP_CHECK(m.nonce() == view.nonce);
    check_same(m.object(), ObjectView(view.object));
}

}  // namespace
}  // namespace trueup::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    const std::string_view bytes = fuzz::text(data, size);
    const Result<ChangeView> read = codec::decode_change(bytes);
    if (!read) return fuzz::check_refusal(read.error(), Next::kSkip), 0;
    v1::Change message;
    TRUEUP_CHECK(message.ParseFromArray(data, static_cast<int>(size)));
    fuzz::check_same(message, *read);
    const std::string written = codec::encode_change(*read);
    const Result<ChangeView> again = codec::decode_change(written);
    TRUEUP_CHECK(again.ok());
    fuzz::check_same(message, *again);
    TRUEUP_CHECK(codec::encode_change(*again) == written);
    return 0;
}
