#include "policies/shipped.h"

#include "engine/base/check.h"
#include "engine/codec/policy_codec.h"
#include "policies/shipped_bytes.h"

#include <algorithm>
#include <map>
#include <utility>

namespace trueup::policies {

namespace {

using Shipped = std::map<std::string, Shared<policy::Policy>, std::less<>>;

const Shipped& all() {
    static const Shipped kAll = [] {
        Shipped read;
        for (const std::string_view bytes : shipped_bytes()) {
            Result<policy::Policy> policy = codec::decode_policy(bytes);
            TRUEUP_CHECK(policy.ok());  // the build made them
            std::string name = policy->name;
            read.emplace(std::move(name), Shared<policy::Policy>(std::move(*policy)));
        }
        return read;
    }();
    return kAll;
}

}  // namespace

const std::vector<std::string>& shipped_names() {
    static const std::vector<std::string> kNames = [] {
        std::vector<std::string> names;
        for (const auto& [name, policy] : all()) names.push_back(name);
        return names;
    }();
    return kNames;
}

Shared<policy::Policy> shipped(std::string_view name) {
    const auto found = all().find(name);
    return found == all().end() ? Shared<policy::Policy>() : found->second;
}

policy::Exports shipped_exports(std::string_view name) {
    const auto found = all_shipped_exports().find(name);
    return found == all_shipped_exports().end() ? policy::Exports() : found->second;
}

Topic topic_of(policy::Kind kind) {
    switch (kind) {
        case policy::Kind::kPod:
            return Topic::kChangesPods;
        case policy::Kind::kObject:
            return Topic::kChangesResources;
        case policy::Kind::kRow:
            return Topic::kChangesRows;
        case policy::Kind::kEc2:
            return Topic::kChangesEc2;
    }
    return Topic::kUnspecified;
}

Settings usual_settings(std::string_view name, Mode mode) {
    Shared<policy::Policy> text = shipped(name);
    TRUEUP_CHECK(static_cast<bool>(text));
    return usual_settings(std::move(text), mode);
}

Settings usual_settings(Shared<policy::Policy> text, Mode mode) {
    Settings settings;
    settings.text = std::move(text);
    const policy::Policy& policy = *settings.text;
    settings.policy = policy.name;
    for (const policy::Role& role : policy.roles) {
        if (role.optional) continue;
        const Role number = role_number(policy, role.name);
        settings.sources.push_back({role.name, topic_of(role.kind), number, {}});
    }
    for (const policy::Rule& rule : policy.rules) {
        settings.rules.push_back(
            {rule.name, rule.off ? Mode::kOff : mode, rule.grace, rule.create_window, Budget{}});
    }
    settings.stale_after = policy.stale_after;
    return settings;
}

RuleSettings& rule_settings(Settings& settings, std::string_view rule) {
    const auto found = std::find_if(settings.rules.begin(), settings.rules.end(),
                                    [&](const RuleSettings& r) { return r.rule == rule; });
    TRUEUP_CHECK(found != settings.rules.end());
    return *found;
}

Role role_number(const policy::Policy& policy, std::string_view name) {
    for (std::size_t i = 0; i < policy.roles.size(); ++i) {
        if (policy.roles[i].name == name) return static_cast<Role>(i);
    }
    return kNoRole;
}

}  // namespace trueup::policies
