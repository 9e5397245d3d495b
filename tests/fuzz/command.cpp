// A command: what an executor takes is the whole of what was written.
#include "engine/codec/command_codec.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    fuzz::check_both_ways(fuzz::text(data, size), Next::kSkip, codec::decode_command,
                          codec::encode_command);
    return 0;
}
