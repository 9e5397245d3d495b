// An outcome: what the fold takes is what an executor wrote.
#include "engine/codec/outcome_codec.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    fuzz::check_both_ways(fuzz::text(data, size), Next::kSkip, codec::decode_outcome,
                          codec::encode_outcome);
    return 0;
}
