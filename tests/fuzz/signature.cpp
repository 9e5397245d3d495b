// Signatures: what we sign is authentic, with one bit changed it is not, and bytes that come from
// elsewhere are only if they are what we would have signed. The first two bytes say which bit.
#include "engine/codec/signature.h"

#include "engine/codec/command_codec.h"
#include "tests/fuzz/fuzz.h"

namespace trueup::fuzz {
namespace {

const codec::KeyRing& keys() {
    static const codec::KeyRing ring(
        std::vector<codec::Key>{{"fuzz", "a secret of thirty-two bytes, all"}});
    return ring;
}

bool signed_by_us(std::string_view message) {
    for (std::size_t size = 0; size < message.size(); ++size) {
        std::string begun(message.substr(0, size));
        keys().sign(codec::kCommandSignature, begun);
        if (begun == message) return true;
    }
    return false;
}

}  // namespace
}  // namespace trueup::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    std::string_view bytes = fuzz::text(data, size);
    const std::size_t place = fuzz::take_byte(bytes) * 256 + fuzz::take_byte(bytes);
    if (fuzz::keys().authentic(codec::kCommandSignature, bytes)) {
        TRUEUP_CHECK(fuzz::signed_by_us(bytes));
    }
    const Result<Command> command = codec::decode_command(bytes);
    if (!command) return 0;
    std::string message = codec::encode_command(*command);
    fuzz::keys().sign(codec::kCommandSignature, message);
    TRUEUP_CHECK(fuzz::keys().authentic(codec::kCommandSignature, message));
    TRUEUP_CHECK(!fuzz::keys().authentic(codec::kRequestSignature, message));
    const std::size_t bit = place % (message.size() * 8);
    message[bit / 8] = static_cast<char>(message[bit / 8] ^ (1 << (bit % 8)));
    TRUEUP_CHECK(!fuzz::keys().authentic(codec::kCommandSignature, message));
    return 0;
}
