// The noun of one object of a resource, for sentences. Pure.
#pragma once

#include <string>

namespace trueup::apps {

/// `pod` of `pods`, `policy` of `policies`, `box` of `boxes`.
inline std::string one_of(std::string plural) {
    const bool long_ending = plural.ends_with("sses") || plural.ends_with("xes");
    if (plural.ends_with("ies")) return plural.substr(0, plural.size() - 3) + 'y';
    if (plural.size() > 1 && plural.back() == 's') {
        plural.resize(plural.size() - (long_ending ? 2 : 1));
    }
    return plural;
}

}  // namespace trueup::apps
