// What a judgement may know beside the subject: how far each source has proven itself, and facts
// that many subjects share.
#pragma once

#include "engine/core/source_state.h"
#include "engine/model/subject.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace trueup::core {

/// Read-only; a view.
struct References {
    std::span<const SourceState> sources;
    BrokerTime broker_now{};                 ///< append time of the record being folded
    BrokerTime watched_since{};              ///< before it, how long anything lasted is not known
    std::span<const std::uint64_t> tallies;  ///< of the policy, over all subjects
    bool sweeping = false;  ///< an epoch or another policy is on its way: tallies are not final
    /// The reference of that name, seen by `source`; one that nobody spoke of has no facets. Valid
    /// until the judgement ends. When a reference changes, every subject is judged again.
    std::function<const Subject&(SourceId source, std::string_view name)> about;
};

}  // namespace trueup::core
