// Label selectors: never more objects than are there, and each part of a conjunction only takes
// away. The first byte is the length of a label's value.
#include "engine/ports/selector.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    std::string_view bytes = fuzz::text(data, size);
    const std::string value(fuzz::take(bytes, fuzz::take_byte(bytes)));
    const auto selector = ports::Selector::parse(bytes);
    if (!selector) return 0;
    const ports::Labels labels{{"app", value}};
    const auto narrower = ports::Selector::parse(std::string(bytes) + ",app");
    if (narrower) TRUEUP_CHECK(selector->matches(labels) || !narrower->matches(labels));
    TRUEUP_CHECK(!selector->empty() || selector->matches(labels));
    return 0;
}
