// What a failed call means for the connector, by SQLSTATE and, where one code says several things,
// by the server's words.
#pragma once

#include "engine/ports/database.h"

#include <cstdint>

namespace trueup::connectors::postgres {

enum class Failure : std::uint8_t {
    kTransient,        ///< connection, restart, time-out, load: try again, nothing is lost
    kSlotBusy,         ///< somebody else reads the slot, or we still seem to
    kSlotGone,         ///< the slot is missing or lost its WAL: changes may be missing
    kPublicationGone,  ///< the publication is not there as of the slot's position
    kRefused,          ///< rights, names, settings: an operator has to act
};

Failure classify_failure(const ports::DatabaseEvent& event);

}  // namespace trueup::connectors::postgres
