// Writes the fields of one object, as object.h reads them. Not thread-safe.
#pragma once

#include "engine/model/object.h"

#include <string>
#include <string_view>
#include <utility>

namespace trueup {

/// Writes encoded fields. Add them in ascending order of name, so that equal objects are equal
/// bytes.
class ObjectBuilder {
  public:
    ObjectBuilder& add(std::string_view name, std::string_view value);
    ObjectBuilder& add_null(std::string_view name);
    ObjectBuilder& add_unchanged(std::string_view name);
    ObjectBuilder& add(const Field& field);
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

}  // namespace trueup
