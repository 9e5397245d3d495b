// Proves engine/base/rfc3339.h.
#include "engine/base/rfc3339.h"

#include <gtest/gtest.h>

#include <limits>

namespace trueup {
namespace {

TEST(Rfc3339, SaysAMomentInUtcWithMilliseconds) {
    EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(rfc3339(951'782'400'007), "2000-02-29T00:00:00.007Z");
}

TEST(Rfc3339, StaysWithinFourDigitsOfAYear) {
    EXPECT_EQ(rfc3339(-1), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(rfc3339(std::numeric_limits<std::int64_t>::max()), "9999-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace trueup
