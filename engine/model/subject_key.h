// How the subject of an object is spelled: `<policy>/<name>`, or `!<source>/<name>` for what is
// looked up by its name (a reference). An object without a key stands under `!<source>/<id>`, where
// nobody looks; beside references, whose names stand there, behind another slash, which is in no
// name.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trueup {

inline constexpr std::size_t kMaxSubjectKey = 253;  ///< bytes

/// What stands before the name of what is looked up in that source.
inline std::string reference_prefix(std::string_view source) {
    return '!' + std::string(source) + '/';
}

/// What stands before the id of an object without a key; those that have one begin with `prefix`.
inline std::string nameless_prefix(std::string_view prefix, std::string_view source) {
    std::string nameless = reference_prefix(source);
    if (nameless == prefix) nameless += '/';
    return nameless;
}

}  // namespace trueup
