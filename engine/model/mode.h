// How far a rule may go.
#pragma once

#include <cstdint>
#include <string_view>

namespace trueup {

enum class Mode : std::uint8_t {
    kUnspecified = 0,
    kObserve = 1,  ///< finds and explains, never acts; the default
    kEnforce = 2,  ///< acts
    kApprove = 3,  ///< acts on what an operator approved, finding by finding
    kOff = 4,      ///< is not judged at all
};

/// May a rule in that mode have anything done?
constexpr bool acts(Mode mode) { return mode == Mode::kEnforce || mode == Mode::kApprove; }

/// `observe`, `approve`, `enforce`, `off`.
constexpr std::string_view name_of(Mode mode) {
    switch (mode) {
        case Mode::kObserve:
            return "observe";
        case Mode::kEnforce:
            return "enforce";
        case Mode::kApprove:
            return "approve";
        case Mode::kOff:
            return "off";
        case Mode::kUnspecified:
            break;
    }
    return "unspecified";
}

}  // namespace trueup
