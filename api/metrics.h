// The metrics page, in Prometheus' text format. Two classes: what is derived from the journal (a
// replay shows the same) and what belongs to this process. What is of one policy has its name as
// the label `policy`.
#pragma once

#include "api/snapshot.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace trueup::api {

/// Why the HTTP side gave a connection up, or did not do what was asked.
enum class Refused : std::uint8_t {
    kUnauthorized,  ///< a token that is wrong, or does not suffice
    kMalformed,     ///< what is not HTTP, or ambiguous
    kTooLarge,      ///< a header or a body
    kDeadline,      ///< too slow to send, or to read
    kFull,          ///< a stranger gave way to a newer connection
    kBusy,          ///< too much was asked at once
};
inline constexpr std::size_t kRefusals = 6;

/// What the HTTP side has done.
struct HttpView {
    std::array<std::uint64_t, 5> answered{};  ///< by class: 1xx first
    std::array<std::uint64_t, kRefusals> refused{};
    std::uint64_t connections = 0;  ///< open now
};

/// One snapshot for each policy.
std::string metrics_text(const std::vector<Snapshot>& policies, const HttpView& http = {});

}  // namespace trueup::api
