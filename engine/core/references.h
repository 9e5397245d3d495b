// What a judgement may know beside the subject: how far each source has proven itself, and facts
// that many subjects share.
#pragma once

#include "engine/core/source_state.h"
#include "engine/model/key.h"
#include "engine/model/subject.h"
#include "engine/model/subject_key.h"

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

/// What is no name, as nothing is none, may mean anybody.
inline bool may_be_named(std::string_view source, std::string_view name) {
    return policy::can_be_a_name(name) &&
           reference_prefix(source).size() + name.size() <= kMaxSubjectKey;
}

}  // namespace trueup::core
