// The rights that a configuration takes in Kubernetes, as objects for `kubectl apply`: for `trueup
// policy show --rbac` and `policy new`. Asks nobody.
#pragma once

#include "apps/config/config.h"

#include <optional>
#include <string>
#include <string_view>

namespace trueup::apps {

/// Whom the processes run as.
struct ServiceAccount {
    std::string name_space = "trueup";
    std::string name = "trueup";
};

/// `trueup/trueup`: namespace and name. nullopt: it is no such text.
std::optional<ServiceAccount> parse_account(std::string_view text);

/// Roles and their bindings, as YAML: for each policy and namespace one with what its sources read,
/// and one with what the executors write, so that the second can wait until a rule acts. Where
/// executors have an account of their own, it gets that one, under the name of the first with
/// `-writer` behind it. Rules that are off count, too: nobody wants to ask for rights on the day
/// when one is switched on. Empty: nothing there is in Kubernetes.
std::string rbac_of(const config::Config& config, const ServiceAccount& account);

}  // namespace trueup::apps
