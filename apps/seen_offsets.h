// As of when an operator looked at a policy: one journal offset for each shard.
#pragma once

#include "apps/client.h"
#include "engine/base/id.h"

#include <string>
#include <vector>

namespace trueup::apps {

/// The offsets that this look is as of, by shard; -1: another engine runs it.
std::vector<Offset> seen_now(const EngineClient::Json& policy);

/// `242.-.77`
std::string text_of(const std::vector<Offset>& seen);

/// The offsets of `242.-.77`, by shard; `-`: that shard is not meant, -1. The error says what to
/// write.
Result<std::vector<Offset>> parse_seen(const std::string& text);

}  // namespace trueup::apps
