// The messages of pgoutput, each by its letter. Internal to the decoder (pgoutput.h).
#pragma once

#include "connectors/postgres/pgoutput.h"
#include "connectors/postgres/pgoutput_reader.h"

#include <optional>

namespace trueup::connectors::postgres {

/// Nullopt: there is no message of that letter.
std::optional<Payload> read_payload(char letter, MessageReader& reader);

}  // namespace trueup::connectors::postgres
