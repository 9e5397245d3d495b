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

/// Roles and their bindings, as YAML: for each namespace what the sources read there, with what the
/// executors do there to objects of their own account. What other accounts write is granted to the
/// same service account with `-writer` at its name. Rules that are off count, too: nobody wants to
/// ask for rights on the day when one is switched on. Empty: nothing there is in Kubernetes.
std::string rbac_of(const config::Config& config, const ServiceAccount& account);

}  // namespace trueup::apps
