// A request of an operator: what is taken is what was asked, signed or not.
#include "engine/codec/request_codec.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    fuzz::check_both_ways(fuzz::text(data, size), Next::kSkip, codec::decode_request,
                          codec::encode_request);
    return 0;
}
