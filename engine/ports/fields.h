// What of a source's fields is published (design §4.15): as it is, as a keyed hash, or not at all.
// One policy for every connector. Fields go by the names under which they are published
// (engine/model/object.h): a column's own, `label.<key>`, `node`.
//
// Rules, executors and keys read some fields as they are; who writes the policy leaves those alone
// (apps/config/fields.cpp does).
#pragma once

#include "engine/model/object_builder.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace trueup::ports {

enum class Treatment : std::uint8_t {
    kMap,   ///< published as it is
    kHash,  ///< in its place a hash: equal texts have equal ones, null stays null
    kDrop,  ///< never published
};

/// As the configuration calls it: `map`, `hash`, `drop`.
std::string_view name_of(Treatment treatment);

/// Names that usually hold a password, a key, a token or the like.
bool looks_secret(std::string_view name);

/// Const calls are thread-safe.
struct FieldPolicy {
    std::map<std::string, Treatment, std::less<>> named;
    /// Keyed, so that without the key nobody can try texts out. Empty: what is to be hashed is
    /// dropped.
    std::function<std::string(std::string_view)> hash;

    /// As it is named; else a name that looks like a secret is hashed, and any other one mapped.
    Treatment of(std::string_view field) const;
    /// Adds what may be published of the text. O(text).
    void add(ObjectBuilder& fields, std::string_view field, Treatment treatment,
             std::string_view text) const;
};

}  // namespace trueup::ports
