// How the parts of the file become parts of a Config. Each function notes what is wrong in the
// section's problems and returns something usable all the same.
#pragma once

#include "apps/config/config.h"
#include "apps/config/section.h"

#include <string>
#include <string_view>
#include <vector>

namespace trueup::config {

/// `bus`: of Kafka or embedded, and its retention.
void read_bus(Section bus, const std::string& folder, Config& config);

/// `folder` is what relative paths are relative to.
std::vector<SourceConfig> read_sources(Section sources, const std::string& folder);

/// `executors: {delete_pod: {source: pods}}`, each a section or a list of them; the sources are in
/// `config` already.
void read_executors(Section executors, const std::string& folder, Config& config);

/// The name of a source of that topic, under `key`; empty where it is none, which is noted.
std::string read_source_name(Section& section, std::string_view key, const Config& config,
                             Topic topic);
/// The same of a name that was read already.
std::string check_source_name(Section& section, std::string_view key, std::string name,
                              const Config& config, Topic topic);

/// `kubeconfig` and `context`, or `in_cluster`.
void read_access(Section& section, const std::string& folder, ClusterLogin& login);
/// `conninfo`, `conninfo_file` or `conninfo_env`.
void read_login(Section& section, const std::string& folder, DatabaseLogin& login);

/// Reads the policies, holds them against bus, sources and executors, and has their sources publish
/// what they read. Those that are wrong are in `left_out`; returns how many of the problems are
/// theirs.
std::size_t read_policies(Section& root, const std::string& folder, Config& config,
                          Problems& problems);

/// They can have an object in common. Labels are not compared: two selectors that exclude each
/// other today need not do so tomorrow.
bool overlap(const SourceConfig& one, const SourceConfig& other);

/// Holds a policy against one before it in the file: names, what they read, and what both would act
/// on. `section` is the later one's.
void check_beside(Section& section, PolicyConfig& policy, PolicyConfig& other,
                  const Config& config);
/// `acknowledge: [shared_objects.NAME]` names a policy that there is.
void check_shared(Section& section, const PolicyConfig& policy,
                  const std::vector<std::string>& names);
inline constexpr std::string_view kSharedObjects = "shared_objects.";

/// What the names of fields begin with that are labels.
inline constexpr std::string_view kLabel = "label.";

/// Why a field of that name cannot be chosen; empty: it can.
using FieldFlaw = std::string (*)(std::string_view name);

/// `fields: {NAME: map|hash|drop}` and `acknowledge: [NAME]` beside it. What looks like a secret is
/// published as it is only if both say so. `flaw` may be nullptr: every name will do. `others`:
/// what else may be known.
Fields read_fields(Section& section, std::vector<std::string>& known, FieldFlaw flaw,
                   const std::vector<std::string>& others = {});

/// Notes those of the names listed under `key` that look like a secret and that `fields` does not
/// name; `prefix` is what they are published under.
void check_listed(Section& section, std::string_view key, const std::vector<std::string>& names,
                  std::string_view prefix, const Fields& fields);

/// Holds `fields` against `used`, the columns that a policy reads as they are, and puts the rest of
/// what it names into the source's columns.
void settle_columns(const SourceConfig& source, PostgresSource& rows,
                    const std::vector<std::string>& used, Problems& problems);

/// A path of the file: absolute, or put behind `folder`.
std::string read_path(Section& section, std::string_view key, std::string_view fallback,
                      const std::string& folder);

}  // namespace trueup::config
