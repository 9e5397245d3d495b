// Stories: read, or refused with the file, the line and a reason.
#include "tests/support/scenario.h"

#include "tests/fuzz/fuzz.h"

#include <sstream>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace trueup;
    std::istringstream text{std::string(fuzz::text(data, size))};
    try {
        const testing::Scenario story = testing::Scenario::read(text, "a.scn");
        TRUEUP_CHECK(!story.blocks.empty());
        Millis last{0};
        for (const testing::Block& block : story.blocks) {
            for (const testing::Statement& statement : block.statements) {
                TRUEUP_CHECK(!statement.verb.empty());
                TRUEUP_CHECK(statement.at >= last);
                last = statement.at;
            }
        }
    } catch (const testing::ScenarioError& error) {
        TRUEUP_CHECK(std::string_view(error.what()).starts_with("a.scn:"));
    }
    return 0;
}
