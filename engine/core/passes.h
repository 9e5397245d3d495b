// A pass: the proof, again and again, that everything was looked at (design §5, G14).
//
// FoldRun (fold.cpp) has one for each `fold` call, and what it refers to outlives it. Not
// thread-safe; not for other users than the fold's parts.
#pragma once

#include "engine/core/meta.h"

namespace trueup::core {

class Enablings;

class Passes {
  public:
    Passes(Meta& meta, Enablings& enablings) : meta_(meta), enablings_(enablings) {}

    void tend_pass();
    /// Its sweep has come to the last subject.
    void end_pass();

  private:
    Meta& meta_;
    Enablings& enablings_;  ///< told what a pass showed
};

}  // namespace trueup::core
