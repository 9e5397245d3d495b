// The servers of a configuration of one policy: connections to them, as whom the configuration
// says, and what connectors are told of them. For the files of the sources'
// types (source_work.h) and wiring_survey.cpp only.
#pragma once

#include "apps/config/config.h"
#include "connectors/kubernetes/settings.h"
#include "connectors/kubernetes/transport.h"
#include "connectors/postgres/correlation.h"
#include "connectors/postgres/settings.h"
#include "connectors/postgres/transport.h"
#include "engine/base/result.h"

#include <memory>

namespace trueup::apps {

/// The same error, of that source.
Error about(const config::SourceConfig& source, const Error& error);

Result<std::unique_ptr<connectors::HttpCluster>> open_cluster(const config::Config& config,
                                                              const config::SourceConfig& source);
/// To delete what that source has, as another account: nullptr where it is the source's own. It has
/// to be the same server, by the address that both kubeconfigs have.
Result<std::unique_ptr<connectors::HttpCluster>> open_cluster_writer(
    const config::Config& config, const config::SourceConfig& source);

Result<std::unique_ptr<connectors::postgres::LibpqDatabase>> open_database(
    const config::SourceConfig& source);
/// To write that source's rows, as another role: nullptr where it is the source's own.
Result<std::unique_ptr<connectors::postgres::LibpqDatabase>> open_database_writer(
    const config::Config& config, const config::SourceConfig& source);

/// Each configuration here is of one policy.
const config::PolicyConfig& policy_of(const config::Config& config);

/// Of a table, which plays a role: the configuration was read.
Result<connectors::postgres::Correlation> correlation_of(const config::Config& config,
                                                         const config::SourceConfig& source);

/// Both without the key of what is hashed: enough to look at what is published.
Result<connectors::postgres::Settings> table_settings(const config::Config& config,
                                                      const config::SourceConfig& source);
connectors::KubernetesSettings cluster_settings(const config::Config& config,
                                                const config::SourceConfig& source);

}  // namespace trueup::apps
