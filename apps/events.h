// What happened, in the process's own log, for those who read it by machine (G19): one line with
// the name of the event and its fields. In the JSON format they are members beside `event`; in the
// text format they follow the name.
#pragma once

#include "engine/model/command.h"
#include "engine/model/exports.h"
#include "engine/model/finding_edge.h"
#include "engine/model/request.h"
#include "engine/model/subject.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::apps {

/// Chooses between the two formats; call it before anything is logged.
void use_json_events(bool json);

/// `fields` is an object.
void log_event(std::string_view event, const nlohmann::ordered_json& fields);

/// A payload that log_event made: its members, without the braces. Empty: it is a plain message.
std::string_view event_members(std::string_view payload);

/// The policy's events of what is found, when this edge is the first one of a finding. `subject`
/// may be nullptr.
void log_finding(const std::vector<policy::Event>& events, const FindingEdge& edge,
                 const Subject* subject, std::int64_t wall_millis);

/// `command_ended`; and the policy's events of what is done, when it was.
void log_outcome(const std::vector<policy::Event>& events, const Command& command,
                 const Outcome& outcome, std::int64_t wall_millis);

/// `request`: what somebody asked of the engine, and who.
void log_request(const Request& request, const std::string& policy);

}  // namespace trueup::apps
