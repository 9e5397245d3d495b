// The file of tokens: refused with the line, or of tokens that let in whoever has one whole, and
// nobody who has a part of it. The first line is what somebody sends.
#include "api/tokens.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    std::string_view bytes = fuzz::text(data, size);
    const std::string sent(fuzz::take(bytes, bytes.find('\n')));
    const Result<api::Tokens> tokens = api::Tokens::parse(bytes);
    if (!tokens) {
        fuzz::check_refusal(tokens.error(), Next::kStop);
        TRUEUP_CHECK(tokens.error().what.starts_with("tokens:"));
        return 0;
    }
    api::Caller caller;
    TRUEUP_CHECK(tokens->find("", 0, caller) == api::Tokens::Found::kUnknown);
    TRUEUP_CHECK(tokens->find("Bearer ", 0, caller) == api::Tokens::Found::kUnknown);
    if (tokens->find(sent, 0, caller) != api::Tokens::Found::kGood) return 0;
    TRUEUP_CHECK(sent.starts_with("Bearer ") && sent.size() >= 7 + 16);
    TRUEUP_CHECK(bytes.find(sent.substr(7)) != std::string_view::npos);
    TRUEUP_CHECK(!caller.name.empty());
    return 0;
}
