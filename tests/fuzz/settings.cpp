// The control parts of a journal record. The first byte says which one. What can be read is
// compiled, or refused with a sentence.
#include "engine/codec/settings_codec.h"
#include "engine/core/fold.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    std::string_view bytes = fuzz::text(data, size);
    if (fuzz::take_byte(bytes) % 2 == 0) {
        fuzz::check_both_ways(bytes, Next::kStop, codec::decode_settings, codec::encode_settings);
        const auto settings = codec::decode_settings(bytes);
        if (settings) (void)core::flaw_of(*settings, settings->logic, 1);
    } else {
        fuzz::check_both_ways(bytes, Next::kStop, codec::decode_genesis, codec::encode_genesis);
    }
    return 0;
}
