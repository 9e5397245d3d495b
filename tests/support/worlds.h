// What stories about a policy may speak of: its sources, and a word for the objects of each.
#pragma once

#include "engine/model/settings.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::testing {

/// `instance NAME …`, `instance-gone NAME`.
struct Noun {
    std::string word;
    std::string source;      ///< empty: the story says which, `in=eu`
    bool reference = false;  ///< other subjects need it; it claims no name
};

struct World {
    Settings settings;
    std::vector<Noun> nouns;  ///< none: pods and rows, which have words of their own
    std::int32_t shards = 1;  ///< of which the story tells one
};

/// Settings whose policy is of that name, and says something that this build does not know.
Settings of_another_build(Settings settings, const std::string& policy);

/// Every rule enforces, as it is usually set; of graph-instances three of them. `graph-instances
/// with services` has sources of services and ingresses, too. nullopt: there is no such policy.
std::optional<World> world_of(std::string_view policy);

}  // namespace trueup::testing
