#include "apps/config/release_limits.h"

#include "apps/config/reading.h"
#include "connectors/postgres/correlation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace trueup::config {

namespace {

using policy::Kind;

/// Of objects, beside labels.
bool is_published(std::string_view field) {
    constexpr std::array<std::string_view, 8> kAll{"created",   "deleting", "in_scope", "name",
                                                   "namespace", "node",     "phase",    "uid"};
    return field.starts_with(kLabel) || std::find(kAll.begin(), kAll.end(), field) != kAll.end();
}

}  // namespace

std::string lack(const policy::Role& role) {
    if (role.kind == Kind::kEc2) return "EC2 instances";
    if (!role.scope.empty()) return "sources that say which " + role.scope + " they are of";
    return {};
}

std::string flaw_of_key(const policy::Role& role) {
    if (!policy::in_kubernetes(role.kind)) {
        const auto made = connectors::postgres::Correlation::of(role.key);
        return made ? "" : ": " + made.error().what;
    }
    const bool plain = role.key.op == policy::Key::Op::kField &&
                       (role.key.text == "name" || role.key.text.starts_with(kLabel));
    if (plain) return {};
    return ", and this release knows objects of Kubernetes by their name or by one label; write "
           "name or label.KEY";
}

const policy::Field* by_path(const policy::Role& role, const std::string& field) {
    const policy::Field* declared = policy::find_field(role, field);
    const bool stands = declared != nullptr && policy::in_kubernetes(role.kind);
    return stands && !declared->path.empty() ? declared : nullptr;
}

std::string lack(const policy::Role& role, const std::string& field) {
    // It would be taken for the veto.
    if (field == "hold" && role.kind == Kind::kRow) return "a column of the name hold";
    if (!policy::in_kubernetes(role.kind)) return {};
    const policy::Field* declared = policy::find_field(role, field);
    // What every object has is said in a way of its own, which a declaration takes away.
    constexpr std::array<std::string_view, 5> kBuiltIn{"created", "deleting", "in_scope",
                                                       "namespace", "uid"};
    const bool built_in = std::find(kBuiltIn.begin(), kBuiltIn.end(), field) != kBuiltIn.end();
    if (declared != nullptr && built_in) {
        return fmt::format(
            "a field {} besides the one that every object has (leave it out of "
            "fields)",
            field);
    }
    // A veto, what an object is found by, and labels are of no other place.
    const policy::Field* placed = by_path(role, field);
    if (placed != nullptr && (field == "hold" || field == "name" || field.starts_with(kLabel))) {
        return fmt::format("{} as the field {} (call it otherwise)", placed->path, field);
    }
    if (placed != nullptr || is_published(field)) return {};
    return fmt::format("the field {} of objects", field);
}

std::vector<std::string> beyond_release(const policy::Policy& policy, const core::Plan& plan) {
    std::vector<std::string> all;
    for (const policy::Role& role : policy.roles) {
        const std::string what = lack(role);
        if (!what.empty()) {
            all.push_back(fmt::format("role {} needs {}, and this release has no source of such",
                                      role.name, what));
            continue;
        }
        const std::string key = flaw_of_key(role);
        if (key.empty()) continue;
        all.push_back(
            fmt::format("the key of {} is {}{}", role.name, policy::key_text(role.key), key));
    }
    for (std::size_t i = 0; i < plan.roles.size(); ++i) {
        const policy::Role& role = policy.roles[i];
        if (!lack(role).empty()) continue;
        for (const core::PlanField& field : plan.roles[i].fields) {
            if (field.from != core::PlanField::From::kSent) continue;
            const std::string what = lack(role, field.name);
            if (what.empty()) continue;
            all.push_back(fmt::format("role {} reads {}, and no source of this release says that",
                                      role.name, what));
        }
    }
    return all;
}

}  // namespace trueup::config
