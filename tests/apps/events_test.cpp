// `comment=ticket 42` in the text log read like a comment and something else: what is not one word
// is quoted.
#include "apps/events.h"

#include "policies/shipped.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace trueup::apps {
namespace {

/// What that says in the text log.
std::string said_by(const std::function<void()>& log) {
    std::ostringstream said;
    const auto before = spdlog::default_logger();
    const auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(said);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("events", sink));
    spdlog::set_pattern("%v");
    log();
    spdlog::set_default_logger(before);
    return said.str();
}

/// The line of an event.
std::string line_of(const nlohmann::ordered_json& fields) {
    return said_by([&] { log_event("request", fields); });
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

/// As the shipped policy names it.
std::string found(const std::string& rule, bool opened) {
    FindingEdge edge;
    edge.rule = rule;
    edge.subject = "graph-instances/wrapper-7";
    edge.object_id = "a";
    edge.opened = opened;
    const auto events = policies::shipped_exports("graph-instances").events;
    return said_by([&] { log_finding(events, edge, nullptr, 0); });
}

TEST(Events, WhatIsFoundHasTheNameThatThePolicyGivesIt_G19) {
    EXPECT_EQ(found("orphaned_pod", true), "orphaned_pod_detected pod_name=wrapper-7 uid=a\n");
    EXPECT_EQ(found("orphaned_pod", false), "");
    EXPECT_EQ(found("missing_pod", true), "");
}

/// Behind the line of the command itself.
std::string done(Action::Kind kind, const std::vector<policy::Event>& events) {
    Command command;
    command.rule = "orphaned_pod";
    command.subject = "graph-instances/wrapper-7";
    command.draft.action.kind = kind;
    command.draft.target.object_id = "a";
    if (kind == Action::Kind::kDeletePod) {
        command.draft.target.name = "wrapper-7";
        command.draft.target.name_space = "jobs";
    }
    Outcome outcome;
    outcome.kind = OutcomeKind::kDone;
    const std::string said = said_by([&] { log_outcome(events, command, outcome, 1'500); });
    return said.substr(said.find('\n') + 1);
}

TEST(Events, WhatIsDoneHasTheNameThatThePolicyGivesIt_G19) {
    const auto shipped = policies::shipped_exports("graph-instances").events;
    EXPECT_EQ(done(Action::Kind::kDeletePod, shipped),
              "orphaned_pod_deleted pod_name=wrapper-7 namespace=jobs uid=a duration_ms=1500\n");
    EXPECT_EQ(
        done(Action::Kind::kUpdateRow, {{"row_closed", "orphaned_pod", policy::Event::On::kDone}}),
        "row_closed name=wrapper-7 uid=a duration_ms=1500\n");
    EXPECT_EQ(done(Action::Kind::kDeletePod, {}), "");
}

}  // namespace
}  // namespace trueup::apps
