// The `Status` by which the API server says why a call failed, read in one place by all who call
// it. A plain value.
#pragma once

#include "engine/base/time.h"
#include "engine/world/json.h"

#include <optional>
#include <string>
#include <string_view>

namespace trueup::world {

/// A `Status` body: why a call failed, or that it did not.
struct KubeStatus {
    int code = 0;
    bool success = false;
    std::string reason;
    std::string message;
    std::string name;    ///< of the object that it is about; empty: of none
    std::string plural;  ///< of its resource
    Millis retry_after{0};

    /// The API server's own word that the object `wanted` of that resource is not there. A proxy,
    /// or a server that is starting or lost the resource, answers 404 too, and names no object; one
    /// whose namespace is missing may name that (S3).
    bool not_found(std::string_view wanted, std::string_view of) const {
        return reason == "NotFound" && name == wanted && plural == of;
    }
};

/// nullopt: it is no Status.
std::optional<KubeStatus> read_status(const Node& body);

}  // namespace trueup::world
