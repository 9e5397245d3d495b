// What a failed call means for the connector, by SQLSTATE and, where one code says several things,
// by the server's words.
#pragma once

#include "connectors/postgres/settings.h"
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

/// Waits for the attempts of one thing.
class RetryTimer {
  public:
    RetryTimer(const Backoff& backoff, std::uint64_t seed) : backoff_(backoff), seed_(seed) {}

    void succeeded() { attempts_ = 0; }
    /// Counts a failure; the next attempt is due at the time returned.
    SteadyTime failed(SteadyTime now);

  private:
    Backoff backoff_;
    std::uint64_t seed_;
    unsigned attempts_ = 0;
};

}  // namespace trueup::connectors::postgres
