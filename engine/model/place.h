// Where in an object of Kubernetes a field of its role stands, told in one place for those who
// check what is set there, who plan it, and who hold it against what was done.
#pragma once

#include "engine/model/rule.h"

#include <string>

namespace trueup::policy {

/// Its path (field_path.h). What is declared by none is a label or an annotation, which is its own.
/// Valid as long as both arguments.
inline const std::string& place_of(const Role& role, const std::string& field) {
    const Field* declared = find_field(role, field);
    return declared != nullptr && !declared->path.empty() ? declared->path : field;
}

}  // namespace trueup::policy
