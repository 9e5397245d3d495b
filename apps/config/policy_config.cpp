#include "apps/config/policy_config.h"

#include "apps/config/policy_settings.h"
#include "apps/config/reading.h"
#include "apps/config/words.h"

namespace trueup::config {

const std::vector<std::string>& PolicyConfig::sources_of(std::string_view role) const {
    static const std::vector<std::string> kNobody;
    const auto found = roles.find(role);
    return found == roles.end() ? kNobody : found->second;
}

const policy::Role* PolicyConfig::role_of(std::string_view source) const {
    for (const auto& [role, players] : roles) {
        if (contains(players, source)) return policy::find_role(*text, role);
    }
    return nullptr;
}

std::vector<policy::FieldPath> PolicyConfig::paths_of(std::string_view source) const {
    const auto found = paths.find(source);
    return found == paths.end() ? std::vector<policy::FieldPath>() : found->second;
}

std::string key_label_of(const PolicyConfig& policy, const SourceConfig& source) {
    const KubernetesSource* objects = source.kubernetes();
    if (objects == nullptr) return {};
    const policy::Role* role = policy.role_of(source.name);
    const bool by_label = role != nullptr && role->key.text.starts_with(kLabel);
    return by_label ? role->key.text.substr(kLabel.size()) : objects->key_label;
}

}  // namespace trueup::config
