// Where in an object of Kubernetes a field stands: names with dots between them, as `spec.plan`.
// `[NAME=VALUE]` behind a name picks the one element of that list of which NAME is VALUE, as
// `status.conditions[type=Ready].status`. `label.KEY` and `annotation.KEY` are the label and the
// annotation of that key, dots and slashes and all. Nothing else: what takes more is for whoever
// fills the object.
#pragma once

#include "engine/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace trueup::policy {

/// Plain values; const access is thread-safe.
struct FieldPath {
    struct Step {
        std::string name;
        std::string by;     ///< the field that picks an element; empty: it is no list
        std::string value;  ///< that it has
        bool operator==(const Step&) const = default;
    };
    std::string name;  ///< under which it is published
    std::vector<Step> steps;

    /// The error says what is wrong with the text and what to write. O(length).
    static Result<FieldPath> parse(std::string_view name, std::string_view text);
    bool operator==(const FieldPath&) const = default;

    /// May a patch set it? Not an element of a list, which a merge patch cannot, nor what says
    /// which object it is.
    bool writable() const;
    /// Is one of them the other one's place, or within it?
    bool overlaps(const FieldPath& other) const;
};

}  // namespace trueup::policy
