// Proves engine/codec/cloud_events.h: public records are CloudEvents 1.0 in binary mode (design
// §3).
#include "engine/codec/cloud_events.h"

#include "tests/engine/codec/samples.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace trueup::codec {
namespace {

using Map = std::map<std::string, std::string>;

Map as_map(const Headers& headers) {
    Map map;
    headers.each([&](std::string_view name, std::string_view value) {
        EXPECT_TRUE(map.emplace(name, value).second) << name << " comes once";
    });
    return map;
}

TEST(CloudEvents, AFindingNamesItsEdgeAndItsJournal) {
    EXPECT_EQ(as_map(headers_for(samples::finding(), FindingHeaders::kCloudEvents)),
              (Map{{"ce_specversion", "1.0"},
                   {"ce_id", "00000000000000010000000000000002.300.1"},
                   {"ce_source", "/journals/00000000000000030000000000000004/shards/5"},
                   {"ce_type", "trueup.finding.v1"},
                   {"ce_subject", "graph-instance/wrapper-7f3a"},
                   {"ce_time", "2023-11-14T22:13:22.000Z"},
                   {"content-type", "application/protobuf"}}));
}

TEST(CloudEvents, AFindingMayHaveNothingButWhatTellsEdgesApart) {
    EXPECT_EQ(as_map(headers_for(samples::finding(), FindingHeaders::kId)),
              (Map{{"ce_id", "00000000000000010000000000000002.300.1"},
                   {"content-type", "application/protobuf"}}));
}

TEST(CloudEvents, ACommandThatIsEmittedAgainIsTheSameEvent) {
    Command again = samples::command();
    again.emission += 1;
    EXPECT_EQ(headers_for(again), headers_for(samples::command()));
    EXPECT_EQ(as_map(headers_for(again)), (Map{{"ce_specversion", "1.0"},
                                               {"ce_id", "0123456789abcdeffedcba9876543210"},
                                               {"ce_source", "/policies/graph-instance"},
                                               {"ce_type", "trueup.command.v1"},
                                               {"ce_subject", "graph-instance/wrapper-7f3a"},
                                               {"ce_time", "2023-11-14T22:13:22.000Z"},
                                               {"content-type", "application/protobuf"}}));
}

TEST(CloudEvents, OutcomesOfOneCommandAreDifferentEvents) {
    const Outcome failed = samples::outcome();
    Outcome done = failed;
    done.kind = OutcomeKind::kDone;
    Map first = as_map(headers_for(failed));
    Map second = as_map(headers_for(done, from_millis<BrokerTime>(1'700'000'002'001)));
    EXPECT_EQ(first["ce_type"], "trueup.outcome.v1");
    EXPECT_EQ(first["ce_source"], "/executors/executor-1");
    EXPECT_NE(first["ce_id"], second["ce_id"]);
    EXPECT_TRUE(first["ce_id"].starts_with("0123456789abcdeffedcba9876543210."));
    EXPECT_FALSE(first.contains("ce_time")) << "left out where nobody knows it";
    EXPECT_EQ(second["ce_time"], "2023-11-14T22:13:22.001Z");
}

}  // namespace
}  // namespace trueup::codec
