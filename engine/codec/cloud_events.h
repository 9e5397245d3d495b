// The headers that make a public record a CloudEvents 1.0 event in binary mode: `ce_specversion`,
// `ce_id`, `ce_source`, `ce_type`, `ce_subject`, `ce_time` and `content-type`. The value stays what
// the codec wrote.
//
// (ce_source, ce_id) is the same whenever the same event is published again, so that a consumer may
// drop what it has seen.
//
// Findings have all of them only on request (docs/adr/0045): they are many, and their values say
// the same.
#pragma once

#include "engine/base/time.h"
#include "engine/model/command.h"
#include "engine/model/finding_edge.h"
#include "engine/model/headers.h"

#include <cstdint>
#include <optional>
#include <string>

namespace trueup::codec {

/// `trueup.finding.v1`; one event per edge.
Headers headers_for(const FindingEdge& edge, FindingHeaders which);
/// `trueup.command.v1`; a command that is emitted again is the same event.
Headers headers_for(const Command& command);
/// `trueup.outcome.v1`. `time` is the executor's broker time; without it there is no `ce_time`.
Headers headers_for(const Outcome& outcome, std::optional<BrokerTime> time = std::nullopt);

}  // namespace trueup::codec
