// Records as JSON and back. One line of a world file is one JSON array.
#pragma once

#include "sandbox/records.h"

#include <optional>
#include <string>
#include <string_view>

namespace trueup::sandbox {

std::string encode_records(const std::vector<Record>& records);
/// nullopt: not what encode_records writes.
std::optional<std::vector<Record>> decode_records(std::string_view line);

}  // namespace trueup::sandbox
