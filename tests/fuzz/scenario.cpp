// Stories: read, or refused with the file, the line and a reason.
#include "stories/story.h"
#include "tests/fuzz/fuzz.h"

#include <sstream>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    std::istringstream text{std::string(fuzz::text(data, size))};
    const Result<stories::Story> story = stories::Story::read(text, "a.scn");
    if (!story) {
        TRUEUP_CHECK(std::string_view(story.error().what).starts_with("a.scn:"));
        return 0;
    }
    TRUEUP_CHECK(!story->blocks.empty());
    Millis last{0};
    for (const stories::Block& block : story->blocks) {
        for (const stories::Statement& statement : block.statements) {
            TRUEUP_CHECK(!statement.verb.empty());
            TRUEUP_CHECK(statement.at >= last);
            last = statement.at;
        }
    }
    return 0;
}
