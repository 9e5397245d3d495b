// The control parts of a journal record: trueup.v1.Genesis and trueup.v1.Settings.
//
// Every field must be there: a default may differ between builds, and a replay must not. A reader
// that does not know a number (a topic, a mode) refuses the whole, with kStop.
#pragma once

#include "engine/base/result.h"
#include "engine/model/journal.h"
#include "engine/model/settings.h"

#include <string>
#include <string_view>

namespace trueup::codec {

std::string encode_genesis(const Genesis& genesis);
Result<Genesis> decode_genesis(std::string_view bytes);

std::string encode_settings(const Settings& settings);
Result<Settings> decode_settings(std::string_view bytes);

/// The same as JSON, in one line, as protobuf writes it, and back; for people's tools.
std::string settings_json(const Settings& settings);
Result<Settings> settings_of_json(std::string_view json);

}  // namespace trueup::codec
