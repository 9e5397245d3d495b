// Rows of the projection as a disk may give them back: refused, or equal to what is written of
// them. The first byte is the length of a subject's key; 0 has the rest read as the meta row.
#include "engine/core/row.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    std::string_view bytes = fuzz::text(data, size);
    const std::string_view key = fuzz::take(bytes, fuzz::take_byte(bytes));
    std::string written;
    if (key.empty()) {
        const std::optional<core::Meta> meta = core::decode_meta(bytes);
        if (!meta) return 0;
        core::encode_meta(*meta, written);
        TRUEUP_CHECK(core::decode_meta(written) == meta);
    } else {
        const std::optional<Subject> subject = core::decode_subject(key, bytes);
        if (!subject) return 0;
        core::encode_subject(*subject, written);
        TRUEUP_CHECK(core::decode_subject(key, written) == subject);
    }
    return 0;
}
