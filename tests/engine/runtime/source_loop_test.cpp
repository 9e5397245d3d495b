// A shard that asked for a complete list too soon after the one before got none: in the loop that
// tests drove such a wish was thrown away, in the one of the product it was kept.
//
// Proves engine/runtime/source_loop.h.
#include "engine/runtime/source_loop.h"

#include "tests/engine/runtime/scripted_connector.h"
#include "tests/support/manual_clock.h"
#include "tests/support/memory_log.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace trueup::runtime::testing {
namespace {

using trueup::testing::ManualClock;
using trueup::testing::MemoryLog;

class SourceLoopTest : public ::testing::Test {
  protected:
    SourceLoopTest() {
        SourceLoopSettings settings;
        settings.task.source = "pods";
        settings.task.topic = Topic::kChangesPods;
        settings.relist_every = Millis{60'000};
        settings.heal_every = Millis{10'000};
        settings.on_news = [this](const std::string& sentence, bool wrong) {
            news.push_back((wrong ? "! " : "") + sentence);
        };
        loop = std::make_unique<SourceLoop>(settings, log, connector);
        step();
        step();
    }
    void step(bool hurry = false) { loop->step(clock.steady_now(), hurry, Millis{0}); }
    void pass(Millis by) {
        clock.advance(by);
        log.advance(by);
        step();
    }

    MemoryLog log;
    ManualClock clock;
    ScriptedConnector connector;
    std::unique_ptr<SourceLoop> loop;
    std::vector<std::string> news;
};

TEST_F(SourceLoopTest, AListThatIsAskedForTooSoonFollowsLater) {
    loop->want_epoch();
    step();
    EXPECT_EQ(connector.relists, 1);
    loop->want_epoch();
    pass(Millis{9'999});
    EXPECT_EQ(connector.relists, 1) << "too soon";
    pass(Millis{1});
    EXPECT_EQ(connector.relists, 2) << "and not forgotten";
    pass(Millis{20'000});
    EXPECT_EQ(connector.relists, 2) << "once";
}

TEST_F(SourceLoopTest, EverythingIsListedAgainFromTimeToTime) {
    pass(Millis{59'999});
    EXPECT_EQ(connector.relists, 0);
    pass(Millis{1});
    EXPECT_EQ(connector.relists, 1);
    pass(Millis{60'000});
    EXPECT_EQ(connector.relists, 2);
}

TEST_F(SourceLoopTest, ProgressIsProvenOftenWhileAFindingWaits) {
    EXPECT_EQ(connector.pace, SourceLoopSettings{}.pace_idle);
    step(true);
    EXPECT_EQ(connector.pace, SourceLoopSettings{}.pace_waiting);
    step(false);
    EXPECT_EQ(connector.pace, SourceLoopSettings{}.pace_idle);
}

TEST_F(SourceLoopTest, WaitsForItsSourceUntilSomethingIsDue) {
    loop->step(clock.steady_now(), false, Millis{3'600'000});
    EXPECT_EQ(connector.last_wait, Millis{60'000}) << "the next list";
    loop->want_epoch();
    step();
    loop->want_epoch();
    loop->step(clock.steady_now(), false, Millis{3'600'000});
    EXPECT_EQ(connector.last_wait, Millis{10'000}) << "the next one that a shard may ask for";
}

TEST_F(SourceLoopTest, WhatItAppendsEndsItsWaitByTheAnswer) {
    log.hold_appends();
    connector.say(pod("wrapper-a", "u1", 5));
    step();
    const int wakes = connector.wakes;
    loop->step(clock.steady_now(), false, Millis{30'000});
    EXPECT_EQ(connector.last_wait, Millis{30'000}) << "no need to look for it";
    log.release_appends();
    EXPECT_EQ(connector.wakes, wakes + 1);
}

TEST_F(SourceLoopTest, AListThatIsWantedEndsItsWait) {
    const int wakes = connector.wakes;
    loop->want_epoch();
    EXPECT_EQ(connector.wakes, wakes + 1);
}

TEST_F(SourceLoopTest, WhatItSaysIsNewsOnce) {
    connector.told.trouble = "the server does not answer";
    connector.told.remark = "the slot is nearly lost";
    step();
    step();
    connector.told.trouble = "";
    step();
    step();
    const std::vector<std::string> said{"! the server does not answer", "! the slot is nearly lost",
                                        "answers again"};
    EXPECT_EQ(news, said);
}

TEST_F(SourceLoopTest, ItsStatusIsThatOfTheLastStep) {
    connector.told.epochs = 7;
    connector.say(pod("wrapper-a", "u1", 5));
    step();
    step();
    const SourceStatus status = loop->status();
    EXPECT_TRUE(status.owned);
    EXPECT_EQ(status.health.epochs, 7U);
    EXPECT_EQ(status.published, 2U) << "its claim and the pod";
}

}  // namespace
}  // namespace trueup::runtime::testing
