// Proves engine/base/result.h, check.h and time.h: three kinds of error are never mixed.
#include "engine/base/result.h"

#include "engine/base/guard.h"
#include "engine/base/time.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string_view>
#include <type_traits>

namespace trueup {
namespace {

Result<int> half(int n) {
    if (n % 2 != 0) return Error{Next::kSkip, Code::kInvalid, "odd"};
    return n / 2;
}

TEST(Result, IsAValueOrAnError) {
    const Result<int> good = half(4);
    ASSERT_TRUE(good.ok());
    EXPECT_EQ(*good, 2);

    const Result<int> bad = half(3);
    ASSERT_FALSE(bad.ok());
    EXPECT_EQ(bad.error().next, Next::kSkip);
    EXPECT_EQ(bad.error().code, Code::kInvalid);
    EXPECT_EQ(bad.error().what, "odd");
}

TEST(Result, GivesAwayWhatItHolds) {
    Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
    const std::unique_ptr<int> owned = std::move(result).value();
    EXPECT_EQ(*owned, 7);
}

TEST(Result, OfAnErrorTypeKeepsItsSidesApart) {
    const Status done = Done{};
    EXPECT_TRUE(done.ok());
    const Status failed = Error{};
    EXPECT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().next, Next::kStop) << "who forgets to say stops";
}

TEST(Code, EachHasANameOfItsOwn) {
    std::set<std::string_view> names;
    for (int code = 0; code <= static_cast<int>(Code::kConfiguration); ++code) {
        names.insert(name_of(static_cast<Code>(code)));
    }
    EXPECT_EQ(names.size(), static_cast<std::size_t>(Code::kConfiguration) + 1);
    EXPECT_EQ(name_of(Error{}.code), "internal") << "who forgets to say blames us";
}

TEST(ResultDeathTest, ReadingTheSideThatIsNotThereStopsTheProcess) {
    EXPECT_DEATH((void)half(3).value(), "invariant lost: ok\\(\\)");
    EXPECT_DEATH((void)half(4).error(), "invariant lost: !ok\\(\\)");
}

TEST(CheckDeathTest, NamesTheInvariant) {
    TRUEUP_CHECK(1 + 1 == 2);
    EXPECT_DEATH(TRUEUP_CHECK(1 + 1 == 3), "invariant lost: 1 \\+ 1 == 3");
}

TEST(Guard, HoldsUnlessATestNamesIt) { EXPECT_TRUE(TRUEUP_GUARD("no_such_guard")); }

TEST(Time, ClocksDoNotMix) {
    EXPECT_FALSE((std::is_convertible_v<BrokerTime, JournalTime>));
    EXPECT_FALSE((std::is_constructible_v<BrokerTime, SourceTime>));
    EXPECT_FALSE((std::is_constructible_v<SteadyTime, JournalTime>));
}

TEST(Time, MillisGoBothWays) {
    EXPECT_EQ(to_millis(from_millis<BrokerTime>(1'700'000'000'123)), 1'700'000'000'123);
    EXPECT_EQ(to_millis(JournalTime{}), 0);
    EXPECT_EQ(from_millis<JournalTime>(60'000) - JournalTime{}, Millis(60'000));
}

}  // namespace
}  // namespace trueup
