// How new what the API server has shown is: by that a connector knows a server that was restored
// from a backup. A plain value.
#pragma once

#include <algorithm>
#include <cstdint>

namespace trueup::connectors::kubernetes {

/// The newest versions that we were shown. What the server shows later and is older tells that it
/// was restored from a backup. No part of a state: each is compared after its stream or list ended.
struct Shown {
    std::uint64_t position = 0;  ///< everything up to it was delivered; 0: nothing was
    std::uint64_t listed = 0;    ///< version of the last list that began to come
    std::uint64_t former = 0;    ///< to former incarnations, until a list was held against it

    /// The stream may lag behind what a list has shown already.
    std::uint64_t newest() const { return std::max(position, listed); }
    void restart() {
        former = std::max(former, newest());
        position = 0;
        listed = 0;
    }
};

}  // namespace trueup::connectors::kubernetes
