// What came of a record of the journal, in words. Plain values.
#pragma once

#include "engine/base/time.h"
#include "engine/core/fold.h"

#include <string>
#include <vector>

namespace trueup::stories {

/// What came of a record, in a line; and what a command does exactly, on its first emission:
/// ` set state=DEAD`. A blank in a value is a comma.
struct News {
    std::string line;
    std::string with;
};

/// `160s commanded orphaned_pod wrapper-7 a: reason`, and the commands after the edges.
std::vector<News> news_of(const core::FoldReport& report, BrokerTime at);

}  // namespace trueup::stories
