// One subject as the fold has it now, for people who ask. Reads only: whoever looks, and when, must
// not change what a replay of the journal comes to. (What is cached changes, which is no state.)
#pragma once

#include "engine/core/fold.h"
#include "engine/model/trace.h"

#include <optional>
#include <string_view>
#include <vector>

namespace trueup::core {

struct SubjectLook {
    Subject subject;
    /// By the index of the subject's finding: what its rule would order if nothing held it. None
    /// where its evidence is not complete, or a command is under way.
    std::vector<std::optional<CommandDraft>> proposals;
    Offset offset = kNoOffset;   ///< of the journal record that was folded last
    std::vector<RuleTrace> why;  ///< of each rule of the policy in force (core/why.h)
};

/// nullopt: there is no such subject. A sweep that has not come to it yet is not taken into
/// account.
std::optional<SubjectLook> look_at(State& state, std::string_view key);

}  // namespace trueup::core
