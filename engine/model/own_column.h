// Which column alone says what a row's key is, for whoever makes a row.
#pragma once

#include "engine/model/key.h"

#include <string>

namespace trueup::policy {

/// The field that is the whole key wherever it is set: the one that there is, or the first of a
/// coalesce; empty: there is none.
std::string own_column(const Key& key);

}  // namespace trueup::policy
