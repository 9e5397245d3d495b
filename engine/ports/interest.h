// What a port waits for, for a thread that uses several at once: it waits in the `poll_beside` of
// one of them, which ends its wait for the others too.
#pragma once

#include "engine/base/time.h"

#include <poll.h>

#include <algorithm>
#include <vector>

namespace trueup::ports {

/// How long is waited for what cannot be waited for: it is looked at again.
inline constexpr Millis kLookAgain{1};

struct Interest {
    std::vector<pollfd> sockets;  ///< with their events; owned by the ports
    /// One of them has to be polled after so long, even if nothing comes.
    Millis at_most = Millis::max();

    /// How long a port waits that cannot wait for sockets.
    Millis without_sockets() const {
        return sockets.empty() ? at_most : std::min(at_most, kLookAgain);
    }
};

}  // namespace trueup::ports
