// The times of the week in which commands may be issued (design §4.9). They fail closed: what
// cannot be told is not in a window.
#pragma once

#include "engine/base/time.h"
#include "engine/model/settings.h"

#include <optional>
#include <span>

namespace trueup::core {

/// How long until a window opens: 0 inside one, and when there are no windows at all. nullopt: none
/// of them ever opens.
std::optional<Millis> opens_in(std::span<const Window> windows, BrokerTime now);

/// How long the window that `now` lies in stays open; a week without windows.
Millis closes_in(std::span<const Window> windows, BrokerTime now);

}  // namespace trueup::core
