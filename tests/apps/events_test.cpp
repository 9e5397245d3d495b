// `comment=ticket 42` in the text log read like a comment and something else: what is not one word
// is quoted.
#include "apps/events.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <sstream>

namespace trueup::apps {
namespace {

/// The line of an event in the text log.
std::string line_of(const nlohmann::ordered_json& fields) {
    std::ostringstream said;
    const auto before = spdlog::default_logger();
    const auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(said);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("events", sink));
    spdlog::set_pattern("%v");
    log_event("request", fields);
    spdlog::set_default_logger(before);
    return said.str();
}

TEST(Events, AFieldOfTheTextLogIsOneWordOrQuoted) {
    EXPECT_EQ(line_of({{"by", "local"}, {"comment", "ticket 42"}}),
              "request by=local comment=\"ticket 42\"\n");
    EXPECT_EQ(line_of({{"comment", "a=b"}}), "request comment=\"a=b\"\n");
    EXPECT_EQ(line_of({{"comment", "say \"no\""}}), "request comment=\"say \\\"no\\\"\"\n");
    EXPECT_EQ(line_of({{"comment", ""}}), "request comment=\"\"\n");
    EXPECT_EQ(line_of({{"comment", "two\nlines"}}), "request comment=\"two\\nlines\"\n");
    EXPECT_EQ(line_of({{"exit_code", 0}}), "request exit_code=0\n");
}

}  // namespace
}  // namespace trueup::apps
