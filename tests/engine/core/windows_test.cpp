// Proves engine/core/windows.h (design §4.9): windows of the week in UTC, which fail closed.
#include "engine/core/windows.h"

#include "tests/support/graph_script.h"

#include <gtest/gtest.h>

#include <vector>

namespace trueup::core {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

/// Monday, 5 January 1970, and so much later.
BrokerTime monday(Millis later) { return BrokerTime(hours(4 * 24) + later); }

const std::vector<Window> kOffice{{0x1f, 8 * 60, 18 * 60}};  // Mon-Fri 08:00-18:00

TEST(Windows, WithoutAnyItIsAlwaysOpen) {
    EXPECT_EQ(opens_in({}, monday(Millis(0))), Millis(0));
    EXPECT_EQ(closes_in({}, monday(Millis(0))), hours(7 * 24));
}

TEST(Windows, OpenFromTheFirstMinuteUpToTheLast) {
    EXPECT_EQ(opens_in(kOffice, monday(hours(8))), Millis(0));
    EXPECT_EQ(opens_in(kOffice, monday(hours(8) - Millis(1))), Millis(1));
    EXPECT_EQ(opens_in(kOffice, monday(hours(18) - Millis(1))), Millis(0));
    EXPECT_EQ(opens_in(kOffice, monday(hours(18))), hours(14));
    EXPECT_EQ(closes_in(kOffice, monday(hours(17))), hours(1));
}

TEST(Windows, FromFridayEveningItIsMondayMorning) {
    EXPECT_EQ(opens_in(kOffice, monday(hours(4 * 24 + 18))), hours(62));
}

TEST(Windows, OneOverMidnightIsTwoThatFollowEachOther) {
    const std::vector<Window> night{{0x01, 22 * 60, 24 * 60}, {0x02, 0, 6 * 60}};
    EXPECT_EQ(closes_in(night, monday(hours(23))), hours(7));
    const std::vector<Window> sunday{{0x40, 22 * 60, 24 * 60}, {0x01, 0, 60}};
    EXPECT_EQ(closes_in(sunday, monday(hours(6 * 24 + 23))), hours(2)) << "over the week's end";
}

TEST(Windows, OnesThatNeverOpenAreClosed) {
    EXPECT_EQ(opens_in(std::vector<Window>{{0, 0, 60}}, monday(hours(1))), std::nullopt);
    EXPECT_EQ(opens_in(std::vector<Window>{{0x7f, 60, 60}}, monday(hours(1))), std::nullopt);
}

TEST(Windows, EveryMinuteOfTheWeekIsOpenForever) {
    const std::vector<Window> always{{0x7f, 0, 24 * 60}};
    EXPECT_GE(closes_in(always, monday(minutes(77))), hours(7 * 24));
}

TEST(Windows, ACommandExpiresWithTheWindowThatItWasIssuedIn) {
    using namespace trueup::testing;
    Settings settings = graph_settings();
    // The story begins on a Tuesday at 22:13:20; the command is due at 22:16:00.
    settings.windows = {{0x7f, 22 * 60, 22 * 60 + 17}};
    settings.rules[0].grace = 60s;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(125s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(200s);
    ASSERT_FALSE(s.commands().empty());
    EXPECT_EQ(s.commands()[0].issued, broker(185s));
    EXPECT_EQ(s.commands()[0].not_after, broker(220s)) << "22:17:00";
}

}  // namespace
}  // namespace trueup::core
