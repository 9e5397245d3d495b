// Proves engine/base/few.h.
#include "engine/base/few.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace trueup {
namespace {

TEST(Few, KeepsAllInTheirOrderWhetherTheyAreFewOrNot) {
    for (std::size_t count = 0; count <= 9; ++count) {
        std::vector<int> all(count);
        std::iota(all.begin(), all.end(), 1);
        const Few<int, 3> few{std::span<const int>(all)};
        EXPECT_EQ(few.size(), count);
        EXPECT_EQ(few.empty(), count == 0);
        EXPECT_EQ(std::vector<int>(few.begin(), few.end()), all);
        if (count > 0) {
            EXPECT_EQ(few.front(), 1);
        }
    }
}

TEST(Few, ACopyIsAnother) {
    Few<int, 2> few;
    few.push_back(1);
    Few<int, 2> other = few;
    for (const int each : {2, 3, 4}) other.push_back(each);
    EXPECT_EQ(few.size(), 1U);
    EXPECT_EQ(std::vector<int>(other.begin(), other.end()), (std::vector<int>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace trueup
