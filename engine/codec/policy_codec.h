// trueup.v1.Policy: what a policy means, as settings in the journal carry it and the projection
// keeps it. Equal policies are equal bytes.
//
// A reader that does not know a number of an enumeration refuses the whole, with kStop; whether the
// names in it mean anything is for whoever compiles it.
#pragma once

#include "engine/base/result.h"
#include "engine/model/rule.h"

#include <string>
#include <string_view>

namespace trueup::codec {

std::string encode_policy(const policy::Policy& policy);
Result<policy::Policy> decode_policy(std::string_view bytes);

/// The same as JSON, in one line, as protobuf writes it; for people's tools.
std::string policy_json(const policy::Policy& policy);

}  // namespace trueup::codec
