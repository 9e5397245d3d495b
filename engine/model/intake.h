// Which requests are taken. The fold and every executor ask this of the same records in the same
// order, so that they decide alike.
//
//   Q1  What only restricts is taken whatever its age, by any clock, and outside of any quota: said
//       again it stops what somebody lets go again, lost it does harm.
//   Q2  Everything else is taken once, within kTimely, and kMostOfOneCaller times in ten minutes.
//   Q3  What is remembered is bounded, and who asks too much has his own forgotten, nobody else's.
//
// `kept` is what was remembered so far, the oldest first: elements with `id`, `kind`, `at` (when it
// arrived) and `by`.
#pragma once

#include "engine/base/id.h"
#include "engine/base/time.h"
#include "engine/model/request.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trueup {

/// Within it a repeated request is known by its id. An older one that permits is late; an older one
/// that restricts does so again.
inline constexpr Millis kRemembered = 2 * kTimely;
inline constexpr std::size_t kMostOfOneCaller = 256;
inline constexpr std::size_t kMostRemembered = 1'024;
inline constexpr std::uint64_t kMostHolds = 10'000;  ///< of one policy in one partition
inline constexpr std::size_t kMostSubjectBytes = 253;

/// Nothing can come of it but that less is done.
constexpr bool only_restricts(RequestKind kind) {
    return kind == RequestKind::kPause || kind == RequestKind::kHold ||
           kind == RequestKind::kDismiss || kind == RequestKind::kActivation ||
           kind == RequestKind::kDisable;
}

/// Can a subject have this key? One that nobody has spoken of yet can be held, too.
inline bool names_subject(std::string_view key) {
    const std::size_t slash = key.find('/');
    return slash != std::string_view::npos && slash > 0 && slash + 1 < key.size() &&
           key.size() <= kMostSubjectBytes;
}

/// What is said to whoever asks too much, by the fold as over HTTP.
inline std::string too_many_sentence(const std::string& by) {
    return "'" + by + "' has asked " + std::to_string(kMostOfOneCaller) +
           " times within ten minutes; wait a few minutes and ask again; pause, hold, disable "
           "and dismiss are always accepted";
}
inline std::string too_many_holds_sentence() {
    return std::to_string(kMostHolds) +
           " subjects are on hold already; release some, or pause the rule instead";
}

/// Was it taken, or refused, before?
template <typename Kept>
bool came_before(const std::vector<Kept>& kept, const Request& request, BrokerTime arrived) {
    return std::any_of(kept.begin(), kept.end(), [&](const Kept& earlier) {
        const bool binding = !only_restricts(request.kind) || earlier.at >= arrived - kRemembered;
        return earlier.id == request.id && binding;
    });
}

/// Has its caller asked so much lately that this one must wait?
template <typename Kept>
bool too_many(const std::vector<Kept>& kept, const Request& request, BrokerTime arrived) {
    if (only_restricts(request.kind)) return false;
    const auto lately = std::count_if(kept.begin(), kept.end(), [&](const Kept& earlier) {
        return earlier.by == request.issued_by && !only_restricts(earlier.kind) &&
               earlier.at >= arrived - kRemembered;
    });
    return static_cast<std::size_t>(lately) >= kMostOfOneCaller;
}

/// Forgets what one more needs the place of: what is old, else the oldest of the caller who has the
/// most, and of his what only restricts first.
template <typename Kept>
void make_room(std::vector<Kept>& kept, BrokerTime arrived) {
    while (kept.size() >= kMostRemembered && kept.front().at < arrived - kRemembered) {
        kept.erase(kept.begin());
    }
    if (kept.size() < kMostRemembered) return;
    std::map<std::string_view, std::size_t> counts;
    for (const Kept& earlier : kept) ++counts[earlier.by];
    const auto most =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto of_most = [&](const Kept& earlier) { return earlier.by == most->first; };
    auto victim = std::find_if(kept.begin(), kept.end(), [&](const Kept& earlier) {
        return of_most(earlier) && only_restricts(earlier.kind);
    });
    if (victim == kept.end()) victim = std::find_if(kept.begin(), kept.end(), of_most);
    kept.erase(victim);
}

}  // namespace trueup
