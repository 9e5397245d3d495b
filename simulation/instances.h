// What oracles take for granted about pods and rows. Internal to simulation/.
#pragma once

#include "simulation/history.h"

#include <string>

namespace trueup::simulation {

inline bool held(const sandbox::Pod& pod) {
    return pod.labels.count("trueup.io/hold") != 0 || pod.annotations.count("trueup.io/hold") != 0;
}

inline bool selected(const sandbox::Pod& pod) { return pod.labels.count("app") != 0; }

inline bool wants_pod(const History::RowView& row) {
    const std::string status = row.text("status");
    return status == "starting" || status == "running";
}

/// One version of a target, under which a write on it is remembered.
inline std::string sent_key(const std::string& target, const std::string& version) {
    return target + "@" + version;
}

}  // namespace trueup::simulation
