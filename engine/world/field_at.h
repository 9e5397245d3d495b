// What an object of Kubernetes says at a path, read in one place by those who list and watch and by
// those who look once more before they write.
#pragma once

#include "engine/model/field_path.h"
#include "engine/world/json.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace trueup::world {

struct FieldAt {
    enum class Kind : std::uint8_t {
        kNotThere,    ///< some name on the way is not there, or null
        kText,        ///< a text, a number or a boolean, as JSON writes it
        kUnreadable,  ///< nobody can say: an object or a list stands there, or something else than
                      ///< the path wants on the way, two elements of the list are meant, or the
                      ///< text is too long or has a NUL, which no column can keep
    };
    /// In bytes. More is no word to compare with, and would be kept with every version.
    static constexpr std::size_t kMostText = 4096;

    Kind kind = Kind::kNotThere;
    std::string text;  ///< of kText
};

/// O(what is on the way).
FieldAt field_at(const Node& object, const policy::FieldPath& path);

}  // namespace trueup::world
