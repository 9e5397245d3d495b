// A policy of the configuration: its text, which sources play its roles, and how far its rules may
// go.
#pragma once

#include "apps/config/source_config.h"
#include "engine/base/hash.h"
#include "engine/base/shared.h"
#include "engine/base/time.h"
#include "engine/model/exports.h"
#include "engine/model/field_path.h"
#include "engine/model/rule.h"
#include "engine/model/settings.h"
#include "engine/model/verb.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trueup::config {

struct PolicyConfig {
    std::string name;
    std::string file;             ///< where its text was read; empty: this binary carries it
    Shared<policy::Policy> text;  ///< in which roles have the keys that `keys` says
    policy::Exports exports;      ///< names for dashboards and log readers
    /// The sources of each that has one, in the order of the configuration.
    std::map<std::string, std::vector<std::string>, std::less<>> roles;
    /// What it reads of their objects by path, by source: another policy may read the same source
    /// otherwise.
    std::map<std::string, std::vector<policy::FieldPath>, std::less<>> paths;
    std::vector<RuleSettings> rules;        ///< one for each rule of the text, in its order
    std::vector<Window> windows;            ///< none: always
    std::vector<std::string> warnings;      ///< of the text, as policy_file.h has them
    std::vector<std::string> known;         ///< brakes that were loosened knowingly (`acknowledge`)
    std::vector<std::string> acknowledged;  ///< all of `acknowledge`, as it is written
    std::vector<Hash128> enabled;  ///< what rules may mean and act: `trueup policy check --hash`
    Millis reconcile_every{300'000};
    Millis max_clock_skew{60'000};
    Millis stale_after{45'000};
    Millis command_ttl{60'000};
    std::uint32_t max_drop_percent = 50;

    /// Empty: none plays it.
    const std::vector<std::string>& sources_of(std::string_view role) const;
    /// nullptr: the source plays none.
    const policy::Role* role_of(std::string_view source) const;
    std::vector<policy::FieldPath> paths_of(std::string_view source) const;
};

/// What a rule does to the objects of one role.
struct Writes {
    std::string role;
    std::vector<std::string> columns;                   ///< of what is there, that it may set
    std::vector<std::string> inserts = {};              ///< of a row that it makes
    std::vector<const policy::Use*> uses = {};          ///< that executors carry out, each once
    std::vector<const policy::Template*> creates = {};  ///< objects that it makes

    bool removes() const {
        return std::any_of(uses.begin(), uses.end(),
                           [](const policy::Use* use) { return policy::removes(use->verb); });
    }
    /// Does it set fields of an object of Kubernetes?
    bool patches() const {
        return std::any_of(uses.begin(), uses.end(), [](const policy::Use* use) {
            return policy::sets(use->verb) && policy::in_kubernetes(use->of);
        });
    }
};
/// By role, in the order of the steps; points into the policy.
std::vector<Writes> writes_of(const policy::Policy& policy, std::string_view rule);

/// The label that is the key of the objects which that source has for the policy; empty: their name
/// is.
std::string key_label_of(const PolicyConfig& policy, const SourceConfig& source);

}  // namespace trueup::config
