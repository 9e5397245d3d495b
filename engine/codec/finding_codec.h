// Edges of findings on the wire: trueup.v1.Finding.
#pragma once

#include "engine/base/result.h"
#include "engine/model/finding_edge.h"

#include <string>
#include <string_view>

namespace trueup::codec {

std::string encode_finding(const FindingEdge& edge);

/// Refuses (kSkip) what is malformed, has no id or position, or is in an unknown state or has an
/// unknown reason.
Result<FindingEdge> decode_finding(std::string_view bytes);

}  // namespace trueup::codec
