// An edge of a finding: what the relay reads back from its topic is what it wrote.
#include "engine/codec/finding_codec.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    fuzz::check_both_ways(fuzz::text(data, size), Next::kSkip, codec::decode_finding,
                          codec::encode_finding);
    return 0;
}
