// The types of sources that a configuration may have: how the section of each is read, and what is
// said of it. What a process does with them is in apps/source_work.h.
//
// Constants; thread-safe.
#pragma once

#include "apps/config/section.h"
#include "apps/config/source_config.h"

#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::config {

struct SourceType {
    std::string_view key;  ///< of the section, as `kubernetes`
    /// Notes what is wrong in the section's problems, and makes something usable all the same.
    /// `folder` is what relative paths are relative to.
    void (*read)(Section section, const std::string& folder, SourceConfig& source);
    nlohmann::ordered_json (*json)(
        const SourceConfig& source);                  ///< as the section, without secrets
    std::string (*text)(const SourceConfig& source);  ///< for people, behind the source's name
};
extern const SourceType kKubernetesType;
extern const SourceType kPostgresType;

/// In the order in which `SourceConfig::world` has them.
inline const std::array<const SourceType*, std::variant_size_v<decltype(SourceConfig::world)>>
    kSourceTypes{&kKubernetesType, &kPostgresType};

inline const SourceType& type_of(const SourceConfig& source) {
    return *kSourceTypes[source.world.index()];
}

// For the types.
/// The key of the file, and what may be shown of its value.
std::pair<std::string, std::string> conninfo_entry(const DatabaseLogin& login);
/// `one, two (hash)`: the names that are published, and how.
std::string names_text(const std::vector<std::string>& names, const Fields& fields);
void add_fields(nlohmann::ordered_json& json, const Fields& fields,
                const std::vector<std::string>& known);

}  // namespace trueup::config
