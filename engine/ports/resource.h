// Which objects of a Kubernetes API are meant. A plain value.
#pragma once

#include <string>

namespace trueup::ports {

/// One collection: `/api/v1` + `graph` + `pods`. An empty namespace means all of them, or that its
/// objects lie in none.
struct Resource {
    std::string api_path = "/api/v1";  ///< `/api/v1` or `/apis/<group>/<version>`
    std::string name_space;
    std::string plural = "pods";
    bool cluster_scoped = false;  ///< its objects lie in no namespace
};

/// Where they lie, as in "pods in namespace graph".
inline std::string place_text(const Resource& resource) {
    if (resource.cluster_scoped) return "the cluster";
    return resource.name_space.empty() ? "all namespaces" : "namespace " + resource.name_space;
}

}  // namespace trueup::ports
