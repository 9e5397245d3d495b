// What the files of this folder mean, encoded (engine/codec/policy_codec.h). Made at build time.
#pragma once

#include <string_view>
#include <vector>

namespace trueup::policies {

const std::vector<std::string_view>& shipped_bytes();

}  // namespace trueup::policies
