// What several commands of operate.h ask an engine in the same words. Internal to its sources.
#pragma once

#include "apps/client.h"
#include "apps/operate.h"

#include <string>

namespace trueup::apps {

/// The body of a request of that kind about what the options name.
EngineClient::Json request_of(const OperateOptions& options, const std::string& kind);
/// The findings that the options name, as many as they limit.
Result<EngineClient::Json> list_findings(const EngineClient& engine, const OperateOptions& options);
/// There may be findings that the options leave out.
bool has_filters(const OperateOptions& options);
/// A request about the one finding that the handle of the options means.
int ask_about(const OperateOptions& options, const std::string& kind);

}  // namespace trueup::apps
