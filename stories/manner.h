// How a story is told: as it stands, or in another way that must come to the same. A plain value.
#pragma once

#include "engine/core/evaluate.h"
#include "engine/model/verdict.h"

namespace trueup::stories {

/// How a story is told; what comes of it must be the same.
struct Manner {
    bool twice = false;  ///< each record is appended once more, as if its answer was lost
    /// Who says something at the same time does so in reverse, one by one. Where a finding is for
    /// less than a second may differ then.
    bool reversed = false;
    Verdict (*judge)(const core::Judgement& on) = nullptr;  ///< instead of the product's
};

}  // namespace trueup::stories
