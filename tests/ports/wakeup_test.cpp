// Proves engine/ports/wakeup.h.
#include "engine/ports/wakeup.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace trueup::ports {
namespace {

constexpr Millis kForEver = std::chrono::hours(1);

TEST(Wakeup, ASignalThatCameBeforeTheWaitEndsIt) {
    Wakeup wakeup;
    const std::uint64_t seen = wakeup.seen();
    wakeup.signal();
    EXPECT_TRUE(wakeup.wait(seen, kForEver));
    EXPECT_EQ(wakeup.seen(), seen + 1);
}

TEST(Wakeup, ASignalEndsAWaitThatIsUnderWay) {
    Wakeup wakeup;
    const std::uint64_t seen = wakeup.seen();
    std::thread waiter([&] { EXPECT_TRUE(wakeup.wait(seen, kForEver)); });
    wakeup.signal();
    waiter.join();
}

TEST(Wakeup, ItEndsTheWaitsOfAll) {
    Wakeup wakeup;
    const std::uint64_t seen = wakeup.seen();
    std::thread one([&] { EXPECT_TRUE(wakeup.wait(seen, kForEver)); });
    std::thread another([&] { EXPECT_TRUE(wakeup.wait(seen, kForEver)); });
    wakeup.signal();
    one.join();
    another.join();
}

TEST(Wakeup, WithoutASignalTheTimeIsOver) {
    Wakeup wakeup;
    wakeup.signal();
    EXPECT_FALSE(wakeup.wait(wakeup.seen(), Millis(0)));
}

TEST(Wakeup, AListenerHearsOfEachSignalAndFindsItCounted) {
    Wakeup wakeup;
    std::uint64_t heard = 0;
    auto listener = wakeup.listen([&] { heard = wakeup.seen(); });
    wakeup.signal();
    EXPECT_EQ(heard, 1U);
    wakeup.signal();
    EXPECT_EQ(heard, 2U);
    listener.reset();
    wakeup.signal();
    EXPECT_EQ(heard, 2U) << "not once it is gone";
}

}  // namespace
}  // namespace trueup::ports
