// What a process waits for beside its threads: signals, and news of its own.
#include "apps/stop_signal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace trueup::apps {
namespace {

constexpr Millis kLong{60'000};
constexpr Millis kNone{0};

// The feed looked ten times a second whether anything had happened.
TEST(StopSignal, NewsEndTheWaitThatBeginsAfterThem) {
    StopSignal stop;
    stop.wake();
    EXPECT_FALSE(stop.wait_for_news(kLong)) << "it ended, and nobody asked to stop";
    stop.wake();
    stop.wake();
    EXPECT_FALSE(stop.wait_for_news(kLong));
    EXPECT_FALSE(stop.wait_for_news(kNone)) << "two at once are told once";
    stop.wake();
    EXPECT_FALSE(stop.wait_for_news(kLong)) << "and the next one ends the next wait";
}

TEST(StopSignal, APauseIsNotEndedByNewsAndLosesNone) {
    StopSignal stop;
    stop.wake();
    EXPECT_FALSE(stop.wait(Millis{1}));
    EXPECT_FALSE(stop.wait_for_news(kLong));
}

TEST(StopSignal, ASignalIsAStopInEitherWaitAndStaysOne) {
    StopSignal stop;
    ASSERT_EQ(::kill(::getpid(), SIGTERM), 0);
    EXPECT_TRUE(stop.wait_for_news(kLong));
    EXPECT_TRUE(stop.wait_for_news(kNone));
    EXPECT_TRUE(stop.wait(kNone));
    EXPECT_FALSE(stop.again(kNone)) << "that one was told of";
    ASSERT_EQ(::kill(::getpid(), SIGINT), 0);
    EXPECT_TRUE(stop.again(kLong)) << "a second one hurries";
}

}  // namespace
}  // namespace trueup::apps
